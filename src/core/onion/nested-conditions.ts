/**
 * Terms that calls made from inside a tool inherit, also where the tool was handed nothing of the
 * call it serves.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Conditions } from './pass.ts';
import { joined } from './conditions.ts';

const running = new AsyncLocalStorage<Conditions>();
/**
 * Every await costs more inside a storage, and asking it costs something too: it is left alone
 * until somebody guards.
 */
let inUse = false;

/** Runs an executor so that every call it makes, at once or later, is held to these terms. */
export function runUnder<T>(terms: Conditions, execute: () => T): T {
  inUse = true;
  return running.run(inherited(terms), execute);
}

/** What a new call is held to: what it was given, and what the tool is held to that makes it. */
export function termsFor(given: Conditions | null): Conditions | null {
  const outer = inUse ? running.getStore() : undefined;
  if (outer === undefined) return given;
  if (given === null) return outer;
  return Object.freeze({ ...given, checks: joined(outer.checks, given.checks) });
}

/** Guards hold for calls made inside; an approval was given for one call only. */
export const inherited = ({ checks, policy }: Conditions): Conditions =>
  Object.freeze({ checks, policy, approved: null, supplied: null, hash: null });
