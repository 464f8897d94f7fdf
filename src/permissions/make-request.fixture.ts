/** Requests as the core makes them. */

import { makeCall, type PartialCall } from '../../conformance/test-kit.ts';
import type { PermissionRequest, ProposedRequest } from './permission.ts';

/**
 * A frozen request of a complete call. Without a proposal it is the `tool.call` that every call
 * proposes first.
 */
export function makeRequest(
  partial: PartialCall = {},
  proposed: ProposedRequest = { kind: 'tool.call' },
): PermissionRequest {
  const call = makeCall(partial);
  // A custom kind's fields are JSON, and a call is none: the compiler cannot join the two, the core
  // does the same.
  return Object.freeze({
    ...proposed,
    toolName: call.toolName,
    callId: call.callId,
    call,
  }) as PermissionRequest;
}
