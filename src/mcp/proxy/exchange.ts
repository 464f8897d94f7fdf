/** One call of a client. In the newer protocol several requests may belong to it. */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { AbortSource, OwnAbort } from '../../core/time/abort.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { ServerAnswer } from './call-result.ts';
import { pendingRequests } from '../../system/pending-requests.ts';
import { abortError } from '../outgoing.ts';
import type { RequestId } from '../wire.ts';

export interface Exchange {
  callId: string;
  /** What the client calls. */
  readonly name: string;
  /**
   * The parameters of the call, without `_meta`, `inputResponses` and `requestState` of single
   * rounds.
   */
  readonly params: JsonObject;
  /**
   * Revision 2026-07-28 or later: every request carries protocol and capabilities, and questions
   * are results.
   */
  readonly isModern: boolean;
  /** What the client can do. */
  readonly capabilities: JsonObject;
  /** Takes the call back. */
  readonly abort: OwnAbort;
  /** `_meta` of the round that is under way. */
  meta: JsonObject;
  /** The request that waits for an answer; `null` while the client is expected to come back. */
  request: RequestId | null;
  /** The client cancelled the call or is gone, and gets no answer. */
  isDropped: boolean;
  /**
   * A person was asked about the call, and the server's list was not read since. Read it again
   * before sending: not every server announces that its tools changed.
   */
  wasAsked: boolean;
  /** What the server answered. */
  answer: ServerAnswer | null;
  /** A JSON-RPC error of the server, and the error thrown for it by the executor. */
  refusal: { readonly error: JsonObject; readonly thrown: Error } | null;
  /** Set while the server runs the call: passes its progress to the layers. */
  report: ToolContext['report'] | null;
  /** Told when the client has come back. */
  onReturn: (() => void) | null;
}

/** The calls that are under way on one connection. */
export interface Exchanges {
  open(exchange: Exchange): void;
  close(exchange: Exchange): void;
  byCall(callId: string): Exchange | undefined;
  byRequest(id: RequestId): Exchange | undefined;
  byToken(token: unknown): Exchange | undefined;
  readonly all: Iterable<Exchange>;
}

export function createExchanges(): Exchanges {
  const open = pendingRequests<Exchange>();
  const find = (test: (exchange: Exchange) => boolean): Exchange | undefined =>
    open.all().find(test);
  return {
    open: (exchange) => open.add(exchange.callId, exchange),
    close: (exchange) => void open.take(exchange.callId),
    byCall: (callId) => open.get(callId),
    byRequest: (id) => find(({ request }) => request === id),
    byToken: (token) => find(({ meta }) => meta.progressToken === token),
    get all() {
      return open.all();
    },
  };
}

/** Resolves when the client waits for an answer: at once, or when it has come back. */
export function clientIsThere(exchange: Exchange, abort: AbortSource): Promise<void> {
  if (exchange.request !== null) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const unfollow = abort.follow(() => {
      exchange.onReturn = null;
      reject(abortError(abort));
    });
    if (abort.isAborted()) return;
    exchange.onReturn = () => {
      unfollow();
      exchange.onReturn = null;
      resolve();
    };
  });
}
