// `x in y`.

import { equals } from './compare.ts';
import { StarlarkError } from './errors.ts';
import { truncate } from './ints.ts';
import { keyOf } from './keys.ts';
import type { Thread } from './thread.ts';
import { Dict, Float, List, Range, Tuple, typeName, type Value } from './values.ts';

export function contains(thread: Thread, x: Value, y: Value): boolean {
  if (y instanceof Dict) return dictContains(y, x);
  if (y instanceof List || y instanceof Tuple)
    return y.items.some((item) => countedEquals(thread, item, x));
  if (typeof y === 'string') {
    if (typeof x !== 'string')
      throw new StarlarkError(`'in <string>' requires string as left operand, not ${typeName(x)}`);
    return y.includes(x);
  }
  if (y instanceof Range) return rangeContains(y, x);
  throw new StarlarkError(`unknown binary op: ${typeName(x)} in ${typeName(y)}`);
}

/** What cannot be a key is in no dict. */
function dictContains(dict: Dict, key: Value): boolean {
  try {
    return dict.map.has(keyOf(key));
  } catch {
    return false;
  }
}

function countedEquals(thread: Thread, x: Value, y: Value): boolean {
  thread.step();
  return equals(thread, x, y);
}

function rangeContains({ start, step, length }: Range, x: Value): boolean {
  const index = typeof x === 'bigint' ? -1 : (rangeNumber(x) - start) / step;
  return Number.isInteger(index) && index >= 0 && index < length;
}

/** A float counts as the int that it is cut to. */
function rangeNumber(x: Value): number {
  if (typeof x === 'number') return x;
  if (x instanceof Float && Number.isFinite(x.value)) return Number(truncate(x.value));
  throw new StarlarkError(`'in <range>' requires integer as left operand, not ${typeName(x)}`);
}
