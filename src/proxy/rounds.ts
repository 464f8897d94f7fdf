/** Questions that go to a client as results: it comes back with the answers, in another request for the same call. */

import type { Clock } from '../core/clock.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import type { Exchange } from './exchange.ts';
import { requestStates } from './request-state.ts';
import { paramsOf, type RequestId, type WireMessage } from './wire.ts';

export interface Rounds {
  /** Answers the open request with questions, and resolves with what the client comes back with. */
  ask(exchange: Exchange, questions: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /** Whether a request is another round of a call; `problem` where it only claims to be. */
  resumed(
    message: WireMessage,
  ): { readonly problem: string } | { readonly exchange: Exchange } | null;
}

interface Held {
  readonly exchange: Exchange;
  readonly resolve: (answers: JsonObject) => void;
}

/** A call whose client does not come back in `returnMs` is cancelled: nothing runs for somebody who has gone. */
export function createRounds(
  { clock, returnMs }: { readonly clock: Clock; readonly returnMs: number },
  respond: (id: RequestId, result: JsonObject) => void,
): Rounds {
  const states = requestStates<Held>(({ exchange }) =>
    exchange.abort.abort(new Error('the client did not come back with this call')),
  );

  return {
    ask(exchange, questions, signal) {
      const { request } = exchange;
      if (request === null) return Promise.reject(new Error('the client is away'));
      return new Promise((resolve, reject) => {
        const { abort } = exchange;
        const giveUp = clock.after(returnMs, () =>
          abort.abort(new Error('the client did not come back in time')),
        );
        const unfollow = abort.follow(giveUp);
        // The state stays good: a client whose question was answered elsewhere still has to come back for the result.
        const stop = (): void =>
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
        const returned = (answers: JsonObject): void => {
          giveUp();
          unfollow();
          signal.removeEventListener('abort', stop);
          resolve(answers);
        };
        const state = states.issue(exchange.params, clock.now() + returnMs, {
          exchange,
          resolve: returned,
        });
        signal.addEventListener('abort', stop, { once: true });
        exchange.request = null;
        const asked = Object.keys(questions).length === 0 ? {} : { inputRequests: questions };
        respond(request, { resultType: 'input_required', ...asked, requestState: state });
      });
    },
    resumed(message) {
      const params = paramsOf(message);
      const { requestState, inputResponses } = params;
      if (requestState === undefined && inputResponses === undefined) return null;
      const found = states.redeem(requestState, params, clock.now());
      if ('problem' in found) return found;
      const { exchange, resolve } = found.held;
      exchange.request = message.id as RequestId; // It is a request.
      exchange.meta = isObject(params._meta) ? params._meta : {};
      resolve(isObject(inputResponses) ? inputResponses : {});
      exchange.onReturn?.();
      return { exchange };
    },
  };
}
