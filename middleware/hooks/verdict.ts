/** What a hook said, read so that nothing it could not have meant lets a call go on. */

import type { JsonObject, JsonValue } from '../../src/index.ts';

export type Verdict =
  | { readonly action: 'allow' }
  | { readonly action: 'block'; readonly reason: string }
  | { readonly action: 'modify'; readonly payload: JsonObject };

const ALLOW: Verdict = Object.freeze({ action: 'allow' });
const NO_REASON = 'no reason was given';
const MAX_REASON = 2_000;

/** `null` for everything that is no verdict: nothing at all, a number, an action nobody knows, a payload that is no object. */
export function readVerdict(said: JsonValue): Verdict | null {
  if (!isMap(said)) return null;
  const { action, ...rest } = said;
  if (action === 'allow') return ALLOW;
  if (action === 'block') return { action, reason: reasonFrom(rest.reason) };
  if (action !== 'modify') return null;
  // Without a payload of its own the dict is the payload.
  const payload = Object.hasOwn(rest, 'payload') ? rest.payload : rest;
  return payload !== undefined && isMap(payload) ? { action, payload } : null;
}

/** Whoever blocks blocks, with or without words. */
const reasonFrom = (reason: JsonValue | undefined): string =>
  typeof reason === 'string' && reason.trim() !== '' ? reason.slice(0, MAX_REASON) : NO_REASON;

export const isMap = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Truth as the language of the scripts has it. */
export function isTrue(value: JsonValue): boolean {
  if (value === null || value === false || value === 0 || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
