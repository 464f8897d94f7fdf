// Equality and order, exact between int and float, bounded in depth.

import { StarlarkError } from './errors.ts';
import type { Thread } from './thread.ts';
import { Dict, Float, List, Range, Tuple, type Value } from './values.ts';
import { typeName } from './kinds.ts';

/** How deep containers are compared. */
const MAX_DEPTH = 10;

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** Whether two values are equal. Throws when they are nested too deeply to tell. */
export function equals(thread: Thread, x: Value, y: Value): boolean {
  if (typeof x === 'string' || typeof x === 'boolean' || x === null) return x === y;
  return compareDepth(thread, '==', x, y, MAX_DEPTH);
}

/** `x operator y`. Throws for values that have no order. */
export function compare(thread: Thread, operator: ComparisonOperator, x: Value, y: Value): boolean {
  return compareDepth(thread, operator, x, y, MAX_DEPTH);
}

function compareDepth(
  thread: Thread,
  operator: ComparisonOperator,
  x: Value,
  y: Value,
  depth: number,
): boolean {
  if (depth < 1) throw new StarlarkError('comparison exceeded maximum recursion depth');
  if (isNumber(x) && isNumber(y)) return holds(operator, compareNumbers(x, y));
  if (typeof x === 'string' && typeof y === 'string')
    return holds(operator, Number(x > y) - Number(x < y));
  if (typeof x === 'boolean' && typeof y === 'boolean')
    return holds(operator, Number(x) - Number(y));
  if (x instanceof List && y instanceof List)
    return compareItems(thread, operator, x.items, y.items, depth);
  if (x instanceof Tuple && y instanceof Tuple)
    return compareItems(thread, operator, x.items, y.items, depth);
  if (operator !== '==' && operator !== '!=')
    throw new StarlarkError(`${typeName(x)} ${operator} ${typeName(y)} not implemented`);
  return equalUnordered(thread, x, y, depth) === (operator === '==');
}

function equalUnordered(thread: Thread, x: Value, y: Value, depth: number): boolean {
  if (x instanceof Dict && y instanceof Dict) return equalDicts(thread, x, y, depth);
  if (x instanceof Range && y instanceof Range) return equalRanges(x, y);
  return x === y;
}

function equalDicts(thread: Thread, x: Dict, y: Dict, depth: number): boolean {
  if (x.size !== y.size) return false;
  for (const [key, value] of x.map) {
    thread.step();
    const other = y.map.get(key);
    if (other === undefined || !compareDepth(thread, '==', value, other, depth - 1)) return false;
  }
  return true;
}

/** Two ranges are equal when they are the same sequence. */
function equalRanges(x: Range, y: Range): boolean {
  if (x.length !== y.length) return false;
  if (x.length === 0) return true;
  return x.start === y.start && (x.length === 1 || x.step === y.step);
}

function compareItems(
  thread: Thread,
  operator: ComparisonOperator,
  x: readonly Value[],
  y: readonly Value[],
  depth: number,
): boolean {
  if (x.length !== y.length && (operator === '==' || operator === '!=')) return operator === '!=';
  const shared = Math.min(x.length, y.length);
  for (let index = 0; index < shared; index++) {
    thread.step();
    // Below `shared` both arrays have the index.
    const [a, b] = [x[index] as Value, y[index] as Value];
    if (compareDepth(thread, '==', a, b, depth - 1)) continue;
    if (operator === '==' || operator === '!=') return operator === '!=';
    return compareDepth(thread, operator, a, b, depth - 1);
  }
  return holds(operator, x.length - y.length);
}

function isNumber(value: Value): value is number | bigint | Float {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Float;
}

/**
 * The order of two numbers. JavaScript compares a bigint with a number by their exact values, which
 * is what is wanted; a number stands for an int or, unboxed, for a float.
 */
function compareNumbers(x: number | bigint | Float, y: number | bigint | Float): number {
  const a = x instanceof Float ? x.value : x;
  const b = y instanceof Float ? y.value : y;
  if (a < b) return -1;
  if (a > b) return 1;
  // NaN equals itself and is above everything else, so that sorting and keys are deterministic.
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

function holds(operator: ComparisonOperator, order: number): boolean {
  switch (operator) {
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}
