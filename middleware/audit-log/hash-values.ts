/** How the values of a call are hashed for its receipt. */

import { canonicalHasher, type HashKey, type HashValue, type JsonValue } from '../../src/index.ts';

/** Hashes values without the members that `redact` names, at every depth. Never throws for a JSON value. */
export function hashValues(redact: readonly string[], key: HashKey | null): HashValue {
  const dropped = new Set(redact);
  const hashed = canonicalHasher(key === null ? {} : { key });
  return (value) => {
    const kept = dropped.size === 0 ? value : without(value, dropped);
    try {
      return hashed(kept);
    } catch {
      // Half a surrogate pair has no bytes. Its escaped text has, and what has run must have a hash.
      return hashed(JSON.stringify(kept));
    }
  };
}

function without(value: JsonValue, dropped: ReadonlySet<string>): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => without(item, dropped));
  const kept = Object.entries(value).filter(([name]) => !dropped.has(name));
  return Object.fromEntries(kept.map(([name, item]) => [name, without(item, dropped)]));
}

/** `Array.isArray` does not take readonly lists for lists. */
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
