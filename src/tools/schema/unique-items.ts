/**
 * Equality of JSON values by key, so that `uniqueItems` and `enum` look each value up instead of
 * comparing all pairs.
 */

import type { JsonValue } from '../../core/json/json-value.ts';
import { spend } from './steps.ts';

const CHARS_PER_STEP = 64;

/**
 * One text per JSON value, the same for equal values: members sorted, `-0` as `0`. Not RFC 8785:
 * for comparing only.
 */
export function equalityKey(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(equalityKey).join(',')}]`;
  const members = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}:${equalityKey(item)}`,
  );
  return `{${members.sort().join(',')}}`;
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

interface JsonSet {
  has(value: JsonValue): boolean;
  add(value: JsonValue): void;
}

/** A primitive stands for itself: a `Set` tells 1, "1" and true apart and takes 0 and -0 as one. */
function jsonSet(): JsonSet {
  const primitives = new Set<JsonValue>();
  const keys = new Set<string>();
  const keyOf = (value: JsonValue): string => {
    const key = equalityKey(value);
    spend(key.length / CHARS_PER_STEP);
    return key;
  };
  const isPrimitive = (value: JsonValue): boolean => typeof value !== 'object' || value === null;
  return {
    has: (value) =>
      isPrimitive(value) ? primitives.has(value) : keys.size > 0 && keys.has(keyOf(value)),
    add: (value) => {
      if (isPrimitive(value)) primitives.add(value);
      else keys.add(keyOf(value));
    },
  };
}

/** Whether no two items are equal, in time linear in the size of the list. */
export function areUnique(items: readonly JsonValue[]): boolean {
  const seen = jsonSet();
  spend(items.length);
  return items.every((item) => {
    if (seen.has(item)) return false;
    seen.add(item);
    return true;
  });
}

/** A test for membership whose cost does not grow with the number of members. */
export function memberOf(members: readonly JsonValue[]): (value: JsonValue) => boolean {
  const set = jsonSet();
  for (const member of members) set.add(member);
  return (value) => set.has(value);
}
