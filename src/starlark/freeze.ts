// Makes a module's values immutable when the module is complete.

import { Builtin, Dict, List, StarlarkFunction, Tuple, type Value } from './values.ts';

/**
 * Freezes values and all that they hold. Does not recurse: values can be nested deeper than the
 * JavaScript stack.
 */
export function freeze(values: Iterable<Value>): void {
  const open = [...values];
  const seen = new Set<Value>();
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    push(open, held(value));
  }
}

/** What a value holds that can change; nothing when it is frozen already. */
function held(
  value: Exclude<Value, string | number | bigint | boolean | null>,
): Iterable<Value | undefined> {
  if (value instanceof List || value instanceof Dict) {
    if (value.frozen) return [];
    value.frozen = true;
    return value instanceof List ? value.items : value.map.values();
  }
  if (value instanceof Tuple) return value.items;
  if (value instanceof StarlarkFunction)
    return [...value.defaults, ...value.cells.map((cell) => cell.value)];
  if (value instanceof Builtin) return [value.receiver];
  return [];
}

function push(open: Value[], values: Iterable<Value | undefined>): void {
  for (const value of values) if (value !== undefined) open.push(value);
}
