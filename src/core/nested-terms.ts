/** Terms that calls made from inside a tool inherit, also where the tool was handed nothing of the call it serves. */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallTerms } from './terms.ts';

const running = new AsyncLocalStorage<CallTerms>();
/** Every await costs more inside a storage, and asking it costs something too: it is left alone until somebody guards. */
let inUse = false;

/** Runs an executor so that every call it makes, at once or later, is held to these terms. */
export function runUnder<T>(terms: CallTerms, execute: () => T): T {
  inUse = true;
  return running.run(inherited(terms), execute);
}

/** What a new call is held to: what it was given, and what the tool is held to that makes it. */
export function termsFor(given: CallTerms | null): CallTerms | null {
  const outer = inUse ? running.getStore() : undefined;
  if (outer === undefined) return given;
  if (given === null) return outer;
  const added = outer.guards.filter((guard) => !given.guards.includes(guard));
  return added.length === 0 ? given : Object.freeze({ ...given, guards: Object.freeze([...added, ...given.guards]) });
}

/** Guards hold for calls made inside; an approval was given for one call only. */
export const inherited = ({ guards, policy }: CallTerms): CallTerms => Object.freeze({ guards, policy, approved: null, hash: null });
