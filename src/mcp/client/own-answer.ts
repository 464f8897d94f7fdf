/**
 * Answers of ours in the place of answers that cannot come any more: who waits for one must not
 * wait for ever.
 */

import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/client';
import { isObject } from '../../core/json/json.ts';

/** Known by identity: nothing that came over a wire can be one of them. */
const MARKS = { streamEnded: Object.freeze({}), unreadable: Object.freeze({}) } as const;

export type OwnAnswer = keyof typeof MARKS;

export const ownAnswer = (id: RequestId, why: OwnAnswer): JSONRPCErrorResponse => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_000, message: why, data: MARKS[why] },
});

/** Whether an error is what the SDK makes of such an answer. */
export const isOwnAnswer = (thrown: unknown, why: OwnAnswer): boolean =>
  isObject(thrown) && thrown.data === MARKS[why];
