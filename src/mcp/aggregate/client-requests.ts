/**
 * What the client asked and has no answer to yet. Each request is answered once, or cancelled and
 * then never.
 */

import { oneLine } from '../../core/contract/errors.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { pendingRequests } from '../../system/pending-requests.ts';
import type { Frame } from '../proxy/link.ts';
import {
  CODES,
  errorMessage,
  paramsOf,
  type RequestId,
  resultMessage,
  type WireMessage,
} from '../wire.ts';
import { type Edit, editFrame } from './edit-frame.ts';
import { awayText, complete, isReady, type Session } from './session.ts';
import type { Upstream } from './upstream.ts';

type Asking = Parameters<Upstream['request']>;

export interface ClientRequest {
  readonly frame: Frame;
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  /** Answered or cancelled. */
  isOver(): boolean;
  result(fields: JsonObject): void;
  error(code: number, message: string, data?: JsonObject): void;
  /** Gives on what a server answered, but for the id. */
  pass(answer: Frame): void;
  /** Asks one server. Cancelling the request cancels this too. */
  ask(upstream: Upstream, ...asking: Asking): void;
  onCancel(listener: () => void): void;
}

export interface ClientRequests {
  /** `null` where the id is in use: two answers to one id could not be told apart. */
  open(frame: Frame): ClientRequest | null;
  /** Handles `notifications/cancelled` of the client. */
  cancel(notification: WireMessage): void;
}

interface Part {
  readonly upstream: Upstream;
  readonly id: number;
}

export function clientRequests(session: Session): ClientRequests {
  const open = pendingRequests<{ cancel(reason: string | null): void }>();
  return {
    open(frame) {
      // Only requests come here, and those have an id and a method.
      const { id, method } = frame.message as { readonly id: RequestId; readonly method: string };
      if (open.get(id) !== undefined) return null;
      const parts = new Set<Part>();
      const listeners: (() => void)[] = [];
      const end = (): boolean => open.get(id) === own && open.take(id) === own;
      const own = {
        cancel(reason: string | null): void {
          end();
          for (const { upstream, id: number } of parts) upstream.cancel(number, reason);
          for (const listener of listeners) listener();
          session.watch.changed();
        },
      };
      open.add(id, own);
      const answer = (made: Frame): void => {
        if (end()) session.toClient(made);
      };
      return {
        frame,
        id,
        method,
        params: paramsOf(frame.message),
        isOver: () => open.get(id) !== own,
        result: (fields) => answer({ message: resultMessage(id, complete(session, fields)) }),
        error: (code, message, data) => answer({ message: errorWith(id, code, message, data) }),
        pass: (got) => answer(editFrame(got, [{ path: ['id'], value: id }])),
        ask: (upstream, ...asking) => track(parts, upstream, asking),
        onCancel: (listener) => void listeners.push(listener),
      };
    },
    cancel(notification) {
      const { requestId, reason } = paramsOf(notification);
      open.get(requestId)?.cancel(typeof reason === 'string' ? reason : null);
    },
  };
}

function track(
  parts: Set<Part>,
  upstream: Upstream,
  [frame, edits, onAnswer, onNumber]: Asking,
): void {
  let part: Part | null = null;
  upstream.request(
    frame,
    edits,
    (answer) => {
      if (part !== null) parts.delete(part);
      onAnswer(answer);
    },
    (id) => {
      part = { upstream, id };
      parts.add(part);
      onNumber?.(id);
    },
  );
}

function errorWith(
  id: RequestId,
  code: number,
  message: string,
  data: JsonObject | undefined,
): WireMessage {
  const made = errorMessage(id, code, message);
  return data === undefined ? made : { ...made, error: { code, message, data } };
}

/**
 * Hands a request to one server, once it is there, and its answer back. Where it is not, the client
 * is told which one: `executed` says whether the server can have acted on it. `onResult` sees the
 * answer before it is given on.
 */
export function forward(
  request: ClientRequest,
  upstream: Upstream,
  edits: readonly Edit[],
  onResult?: (answer: Frame) => void,
): void {
  const go = (): void => {
    if (request.isOver()) return;
    if (!isReady(upstream))
      return request.error(CODES.internal, awayText(upstream), {
        server: upstream.name,
        executed: 'no',
      });
    request.ask(upstream, request.frame, edits, (answer) => {
      if (answer === null)
        return request.error(CODES.internal, goneText(upstream), {
          server: upstream.name,
          executed: 'unknown',
        });
      onResult?.(answer);
      request.pass(answer);
    });
  };
  // At once where that is possible: what the client sends in order arrives in order.
  if (isReady(upstream)) go();
  else void upstream.available().then(go);
}

function goneText(upstream: Upstream): string {
  const standing = upstream.standing();
  const why = 'why' in standing ? `: ${oneLine(standing.why)}` : '';
  return `server "${oneLine(upstream.name)}" is gone${why}. Whether it did what was asked is not known`;
}
