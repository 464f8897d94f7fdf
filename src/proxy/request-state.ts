/** What a client carries between the rounds of one call. It is in the client's hands, so it is signed, bound and good for one use. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { hashCanonical } from '../core/hash-canonical.ts';
import { isObject, type JsonObject } from '../core/json.ts';

const PREFIX = 'allium1.';

export interface RequestStates<T> {
  /** A state for this call, until then. */
  issue(params: JsonObject, expiresAt: number, held: T): string;
  /** What was held for a state, once; or why there is nothing. */
  redeem(
    state: unknown,
    params: JsonObject,
    now: number,
  ): { readonly held: T } | { readonly problem: string };
  /** Forgets a state that nobody will come back with. */
  revoke(state: string): void;
}

/** More calls that wait for their client than one could have: beyond it the oldest are given up. */
const MAX_HELD = 10_000;

/** The key lives as long as the process: what is held does, too. */
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
      // Whoever comes back with something else has had the one use of it.
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

/** Of a call, whatever it is sent again with. */
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
  // Nobody else could have signed it, so it is what was written.
  const content: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  if (
    !isObject(content) ||
    typeof content.nonce !== 'string' ||
    typeof content.expiresAt !== 'number'
  )
    return null;
  return { nonce: content.nonce, expiresAt: content.expiresAt };
}
