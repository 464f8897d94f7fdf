/** A message as the proxy looks at it: read once, and asked many things. */

import type { JsonObject } from '../../core/json/json-value.ts';
import { kindOf, methodOf, modernVersionOf, objectAt, type RequestId } from '../wire.ts';
import type { Frame } from './link.ts';

interface Read {
  readonly frame: Frame;
  /** Empty for a response. */
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  /** The revision it says it speaks; `null` in the revisions that agree on one in a handshake. */
  readonly modernVersion: string | null;
}

/** A message that wants one answer. */
export interface IncomingRequest extends Read {
  readonly kind: 'request';
  readonly id: RequestId;
}

/** One message, with what the hooks and the forwarding ask of it. */
export type Incoming =
  | IncomingRequest
  | (Read & { readonly kind: 'notification'; readonly id: null })
  | (Read & { readonly kind: 'response'; readonly id: RequestId });

/** `null` for what is no message of JSON-RPC 2.0. */
export function readIncoming(frame: Frame): Incoming | null {
  const { message } = frame;
  const kind = kindOf(message);
  if (kind === null) return null;
  const params = objectAt(message, 'params');
  // Requests and responses have an id: that is how the kind is told.
  return {
    kind,
    id: kind === 'notification' ? null : message.id,
    frame,
    method: methodOf(message),
    params,
    meta: objectAt(params, '_meta'),
    modernVersion: modernVersionOf(message),
  } as Incoming;
}
