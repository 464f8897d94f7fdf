// What operators do, whatever their operands are. Compiled code has quick ways for numbers and
// strings, and comes here for the rest.

import { StarlarkError } from './errors.ts';
import {
  addInts,
  asInt32,
  combineBits,
  divideInts,
  finiteFloat,
  type Int,
  moduloInts,
  multiplyInts,
  shiftInt,
  shortInt,
  subtractInts,
  truncate,
} from './ints.ts';
import { percentFormat } from './library/format.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from './thread.ts';
import { Dict, Float, List, Range, Tuple, type Value } from './values.ts';
import { truth, typeName } from './kinds.ts';
import { equals } from './compare.ts';
import { keyOf } from './keys.ts';

/** Operators with two operands, comparisons, `and` and `or` apart. */
export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '//'
  | '%'
  | '&'
  | '|'
  | '^'
  | '<<'
  | '>>'
  | 'in'
  | 'not in';

/** `x operator y`. Results are accounted before they are made. */
export function binary(thread: Thread, operator: BinaryOperator, x: Value, y: Value): Value {
  if (operator === 'in') return contains(thread, x, y);
  if (operator === 'not in') return !contains(thread, x, y);
  if (isInt(x) && isInt(y)) return intOperation(thread, operator, x, y);
  const result =
    operator === '<<' || operator === '>>'
      ? shiftOther(thread, operator, x, y)
      : otherOperation(thread, operator, x, y);
  if (result === undefined)
    throw new StarlarkError(`unknown binary op: ${typeName(x)} ${operator} ${typeName(y)}`);
  return result;
}

function otherOperation(
  thread: Thread,
  operator: BinaryOperator,
  x: Value,
  y: Value,
): Value | undefined {
  if (isNumber(x) && isNumber(y)) return floatOperation(operator, x, y);
  if (operator === '/' && isInt(x)) finiteFloat(x);
  if (operator === '+') return concatenate(thread, x, y);
  if (operator === '*' && isInt(y)) return repeat(thread, x, y);
  if (operator === '*') return isInt(x) ? repeat(thread, y, x) : undefined;
  if (operator === '%' && typeof x === 'string') return percentFormat(thread, x, y);
  return undefined;
}

function intOperation(
  thread: Thread,
  operator: Exclude<BinaryOperator, 'in' | 'not in'>,
  x: Int,
  y: Int,
): Value {
  switch (operator) {
    case '+':
      return addInts(thread, x, y);
    case '-':
      return subtractInts(thread, x, y);
    case '*':
      return multiplyInts(thread, x, y);
    case '/':
      return divideFloats(finiteFloat(x), finiteFloat(y));
    case '//':
      return divideInts(thread, x, y);
    case '%':
      return moduloInts(thread, x, y);
    case '<<':
    case '>>':
      return shiftInt(thread, operator, x, y);
    case '&':
    case '|':
    case '^':
      return combineBits(thread, operator, x, y);
  }
}

/** Only the count can be wrong here, and then it is named. */
function shiftOther(thread: Thread, operator: '<<' | '>>', x: Value, y: Value): Value | undefined {
  return isInt(x) ? shiftInt(thread, operator, x, y) : undefined;
}

function floatOperation(
  operator: BinaryOperator,
  x: Int | Float,
  y: Int | Float,
): Float | undefined {
  if (operator === '%' && y === 0) throw new StarlarkError('floating-point modulo by zero');
  const a = x instanceof Float ? x.value : finiteFloat(x);
  const b = y instanceof Float ? y.value : finiteFloat(y);
  switch (operator) {
    case '+':
      return new Float(a + b);
    case '-':
      return new Float(a - b);
    case '*':
      return new Float(a * b);
    case '/':
      return divideFloats(a, b);
    case '//':
      if (b === 0) throw new StarlarkError('floored division by zero');
      return new Float(Math.floor(a / b));
    case '%':
      if (b === 0) throw new StarlarkError('floating-point modulo by zero');
      return new Float(moduloFloats(a, b));
    case '&':
    case '|':
    case '^':
    case '<<':
    case '>>':
    case 'in':
    case 'not in':
      return undefined;
  }
}

function divideFloats(x: number, y: number): Float {
  if (y === 0) throw new StarlarkError('floating-point division by zero');
  return new Float(x / y);
}

function moduloFloats(x: number, y: number): number {
  const rest = x % y;
  return x < 0 !== y < 0 && rest !== 0 ? rest + y : rest;
}

function concatenate(thread: Thread, x: Value, y: Value): Value | undefined {
  if (typeof x === 'string' && typeof y === 'string') {
    thread.account(x.length + y.length);
    return x + y;
  }
  if (x instanceof List && y instanceof List) return new List(joined(thread, x.items, y.items));
  if (x instanceof Tuple && y instanceof Tuple) return new Tuple(joined(thread, x.items, y.items));
  return undefined;
}

function joined(thread: Thread, x: readonly Value[], y: readonly Value[]): Value[] {
  thread.account(OBJECT_BYTES + (x.length + y.length) * SLOT_BYTES);
  return x.concat(y);
}

/** Beyond this many elements a repetition is refused whatever the budget. */
const MAX_REPEAT = 2 ** 30;

function repeat(thread: Thread, value: Value, count: Int): Value | undefined {
  if (typeof value === 'string') {
    const times = repeatCount(value.length, count);
    thread.account(value.length * times);
    return value.repeat(times);
  }
  if (value instanceof List) return new List(repeatItems(thread, value.items, count));
  if (value instanceof Tuple) return new Tuple(repeatItems(thread, value.items, count));
  return undefined;
}

function repeatItems(thread: Thread, items: readonly Value[], count: Int): Value[] {
  const times = repeatCount(items.length, count);
  thread.account(OBJECT_BYTES + items.length * times * SLOT_BYTES);
  const repeated: Value[] = [];
  for (let round = 0; round < times; round++) for (const item of items) repeated.push(item);
  return repeated;
}

function repeatCount(length: number, count: Int): number {
  if (length === 0) return 0;
  let times: number;
  try {
    times = asInt32(count);
  } catch {
    throw new StarlarkError(`repeat count ${shortInt(count)} too large`);
  }
  if (length * times >= MAX_REPEAT)
    throw new StarlarkError(`excessive repeat (${length} * ${times} elements)`);
  return Math.max(0, times);
}

/** `+x`, `-x`, `~x` and `not x`. */
export function unary(thread: Thread, operator: string, x: Value): Value {
  if (operator === 'not') return !truth(x);
  if (isInt(x)) {
    if (operator === '-') return subtractInts(thread, 0, x);
    return operator === '+' ? x : subtractInts(thread, -1, x);
  }
  if (x instanceof Float && operator !== '~') return operator === '-' ? new Float(-x.value) : x;
  throw new StarlarkError(`unknown unary op: ${operator} ${typeName(x)}`);
}

function isInt(value: Value): value is Int {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isNumber(value: Value): value is Int | Float {
  return isInt(value) || value instanceof Float;
}

function contains(thread: Thread, x: Value, y: Value): boolean {
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
