/**
 * Questions that go to a client as results: it comes back with the answers, in another request for
 * the same call.
 */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { Clock } from '../../core/time/clock.ts';
import { isObject } from '../../core/json/json.ts';
import type { Exchange } from './exchange.ts';
import type { RequestId } from '../wire.ts';
import type { IncomingRequest } from './link.ts';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { hashCanonical } from '../../core/json/hash-canonical.ts';

export interface Rounds {
  /** Answers the open request with questions, and resolves with what the client comes back with. */
  ask(exchange: Exchange, questions: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /** Whether a request is another round of a call; `problem` where it only claims to be. */
  resumed(
    request: IncomingRequest,
  ): { readonly problem: string } | { readonly exchange: Exchange } | null;
}

interface Held {
  readonly exchange: Exchange;
  readonly resolve: (answers: JsonObject) => void;
}

/** A call whose client does not come back in `returnMs` is cancelled, and does not run. */
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
        // The state stays good: a client whose question was answered elsewhere still has to come
        // back for the result.
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
    resumed({ id, params, meta }) {
      const { requestState, inputResponses } = params;
      if (requestState === undefined && inputResponses === undefined) return null;
      const found = states.redeem(requestState, params, clock.now());
      if ('problem' in found) return found;
      const { exchange, resolve } = found.held;
      exchange.request = id;
      exchange.meta = meta;
      resolve(isObject(inputResponses) ? inputResponses : {});
      exchange.onReturn?.();
      return { exchange };
    },
  };
}

const PREFIX = 'allium1.';

interface RequestStates<T> {
  /** A state for this call, until then. */
  issue(params: JsonObject, expiresAt: number, held: T): string;
  /** The value held for a state, once; or why there is none. */
  redeem(
    state: unknown,
    params: JsonObject,
    now: number,
  ): { readonly held: T } | { readonly problem: string };
  /** Forgets a state that the client will not send. */
  revoke(state: string): void;
}

/** The most calls that wait for their client; beyond it the oldest is given up. */
const MAX_HELD = 10_000;

/** The signing key is made for this process, as the held values live only here. */
export function requestStates<T>(onGivenUp: (held: T) => void): RequestStates<T> {
  const key = randomBytes(32);
  const held = new Map<string, { readonly digest: string; readonly value: T }>();
  const sign = (body: string): string => createHmac('sha256', key).update(body).digest('base64url');
  return {
    issue(params, expiresAt, value) {
      const nonce = randomBytes(16).toString('base64url');
      const [oldest] = held.size >= MAX_HELD ? held : [];
      if (oldest !== undefined) {
        held.delete(oldest[0]);
        onGivenUp(oldest[1].value);
      }
      held.set(nonce, { digest: digestOf(params), value });
      const body = Buffer.from(JSON.stringify({ nonce, expiresAt })).toString('base64url');
      return `${PREFIX}${body}.${sign(body)}`;
    },
    redeem(state, params, now) {
      const read = readState(state, sign);
      if (read === null) return { problem: 'the state is not one that was given out here' };
      const found = held.get(read.nonce);
      if (found === undefined) return { problem: 'the state was used before, or is too old' };
      // A state is good for one use, also if the request that brings it does not fit.
      held.delete(read.nonce);
      const problem =
        now >= read.expiresAt
          ? 'the state is too old'
          : 'the call is not the one that the state was given out for';
      if (now < read.expiresAt && found.digest === digestOf(params)) return { held: found.value };
      onGivenUp(found.value);
      return { problem };
    },
    revoke(state) {
      const read = readState(state, sign);
      if (read !== null) held.delete(read.nonce);
    },
  };
}

/** Name and arguments of a call; the other members differ from round to round. */
const digestOf = ({ name, arguments: args }: JsonObject): string =>
  hashCanonical({ name: name ?? null, arguments: args ?? {} });

function readState(
  state: unknown,
  sign: (body: string) => string,
): { nonce: string; expiresAt: number } | null {
  if (typeof state !== 'string' || state.length > 1024 || !state.startsWith(PREFIX)) return null;
  const [body = '', signature = '', ...rest] = state.slice(PREFIX.length).split('.');
  const given = Buffer.from(signature);
  const wanted = Buffer.from(sign(body));
  if (rest.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return null;
  // The signature fits, so the content was written by `issue`.
  const content: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  if (
    !isObject(content) ||
    typeof content.nonce !== 'string' ||
    typeof content.expiresAt !== 'number'
  )
    return null;
  return { nonce: content.nonce, expiresAt: content.expiresAt };
}
