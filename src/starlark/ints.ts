// Integers of any size: numbers while they are safe, bigints beyond.

import { StarlarkError } from './errors.ts';
import type { Thread } from './thread.ts';
import type { Value } from './values.ts';
import { typeName } from './kinds.ts';

export type Int = number | bigint;

/** A bigint as an int: a number when it is safe. */
export function normalise(value: bigint): Int {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/** A finite float as an int, cut towards zero. */
export function truncate(value: number): Int {
  const whole = Math.trunc(value);
  return Number.isSafeInteger(whole) ? whole + 0 : BigInt(whole);
}

const SMALL = 1n << 1024n;
const SMALL_BYTES = 128;

/**
 * At least the bytes of an int; the exact size of a bigint takes time to find out, so small ones
 * count as one size.
 */
function bytesOf(value: Int): number {
  if (typeof value === 'number') return 8;
  if (value < SMALL && value > -SMALL) return SMALL_BYTES;
  return Math.ceil(value.toString(16).length / 2);
}

/**
 * Accounts a result before it is made; large ones take steps too, as products and digits take more
 * time than they are long.
 */
function accountInt(thread: Thread, bytes: number): void {
  thread.account(bytes);
  if (bytes > 2 * SMALL_BYTES) thread.step(Math.ceil((bytes / 8) ** 1.5));
}

/** An int's digits, accounted before they are written. */
export function intText(thread: Thread, value: Int): string {
  if (typeof value === 'bigint') accountInt(thread, bytesOf(value) * 2.5);
  return String(value);
}

function accountSum(thread: Thread, x: Int, y: Int): void {
  accountInt(thread, Math.max(bytesOf(x), bytesOf(y)));
}

export function addInts(thread: Thread, x: Int, y: Int): Int {
  accountSum(thread, x, y);
  return normalise(BigInt(x) + BigInt(y));
}

export function subtractInts(thread: Thread, x: Int, y: Int): Int {
  accountSum(thread, x, y);
  return normalise(BigInt(x) - BigInt(y));
}

export function multiplyInts(thread: Thread, x: Int, y: Int): Int {
  accountInt(thread, bytesOf(x) + bytesOf(y));
  return normalise(BigInt(x) * BigInt(y));
}

/** Division that rounds down. */
export function divideInts(thread: Thread, x: Int, y: Int): Int {
  if (y === 0) throw new StarlarkError('floored division by zero');
  // Safe integers never divide to a quotient that rounds up to the next whole number; adding 0
  // makes -0 a 0.
  if (typeof x === 'number' && typeof y === 'number') return Math.floor(x / y) + 0;
  accountSum(thread, x, y);
  const [a, b] = [BigInt(x), BigInt(y)];
  const quotient = a / b;
  return normalise(a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient);
}

/** The remainder of that division: it has the divisor's sign. */
export function moduloInts(thread: Thread, x: Int, y: Int): Int {
  if (y === 0) throw new StarlarkError('integer modulo by zero');
  if (typeof x === 'number' && typeof y === 'number') {
    const rest = x % y;
    return rest !== 0 && x < 0 !== y < 0 ? rest + y : rest + 0;
  }
  accountSum(thread, x, y);
  const [a, b] = [BigInt(x), BigInt(y)];
  const rest = a % b;
  return normalise(rest !== 0n && a < 0n !== b < 0n ? rest + b : rest);
}

const isInt32 = (x: Int): boolean => typeof x === 'number' && (x | 0) === x;

export function combineBits(thread: Thread, operator: '&' | '|' | '^', x: Int, y: Int): Int {
  if (isInt32(x) && isInt32(y)) {
    const [a, b] = [Number(x), Number(y)];
    if (operator === '&') return a & b;
    return operator === '|' ? a | b : a ^ b;
  }
  accountSum(thread, x, y);
  const [a, b] = [BigInt(x), BigInt(y)];
  if (operator === '&') return normalise(a & b);
  return normalise(operator === '|' ? a | b : a ^ b);
}

const MAX_SHIFT = 512;

export function shiftInt(thread: Thread, operator: '<<' | '>>', x: Int, count: Value): Int {
  const by = asInt32(count);
  if (by < 0) throw new StarlarkError(`negative shift count: ${by}`);
  if (operator === '<<' && by >= MAX_SHIFT) throw new StarlarkError(`shift count too large: ${by}`);
  accountInt(thread, bytesOf(x) + (operator === '<<' ? by / 8 : 0));
  return normalise(operator === '<<' ? BigInt(x) << BigInt(by) : BigInt(x) >> BigInt(by));
}

/** An int that fits 32 bits, which indices and counts must. */
export function asInt32(value: Value): number {
  if (typeof value === 'number' && (value | 0) === value) return value;
  if (typeof value === 'number' || typeof value === 'bigint')
    throw new StarlarkError(`${shortInt(value)} out of range`);
  throw new StarlarkError(`got ${typeName(value)}, want int`);
}

/** Messages name an int in full while it is not absurd: writing a huge one takes long. */
export function shortInt(value: Int): string {
  return typeof value === 'number' || (value < SMALL && value > -SMALL) ? String(value) : 'int';
}

/** The float nearest to an int. */
export function finiteFloat(value: Int): number {
  const float = Number(value);
  if (!Number.isFinite(float)) throw new StarlarkError('int too large to convert to float');
  return float;
}
