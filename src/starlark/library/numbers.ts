// Numbers as built-ins need them: bounds of a part, and errors with their place said before.

import { StarlarkError } from '../errors.ts';
import { asInt32, truncate } from '../ints.ts';
import { Float, type Value } from '../values.ts';
import { typeName } from '../kinds.ts';

/** An int from an int or a float. The message has no prefix: its callers have different ones. */
export function numberToInt(value: Value): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (!(value instanceof Float))
    throw new StarlarkError(`cannot convert ${typeName(value)} to int`);
  if (Number.isNaN(value.value)) throw new StarlarkError('cannot convert float NaN to integer');
  if (!Number.isFinite(value.value))
    throw new StarlarkError('cannot convert float infinity to integer');
  return truncate(value.value);
}

/**
 * A position or count as a number; beyond what is safe any number of that size does, because no
 * value is so long.
 */
export function clamped(value: number | bigint): number {
  return Number(value);
}

/**
 * The bounds of a part of something `length` long: negative ones count from the end, all are
 * brought into it. The start may be above the end.
 */
export function indices(
  length: number,
  start: Value | undefined,
  end: Value | undefined,
): readonly [start: number, end: number] {
  return [bound('start', start ?? null, length, 0), bound('end', end ?? null, length, length)];
}

function bound(label: 'start' | 'end', value: Value, length: number, absent: number): number {
  if (value === null) return absent;
  const index = indexOf32(label, value);
  return Math.min(Math.max(index < 0 ? index + length : index, 0), length);
}

function indexOf32(label: string, value: Value): number {
  try {
    return asInt32(value);
  } catch (error) {
    throw prefixed(`invalid ${label} index`, error);
  }
}

/**
 * An error with its place said before it, as "find: invalid start index: …" is made. Other errors
 * stay what they are.
 */
export function prefixed(prefix: string, error: unknown): unknown {
  if (!(error instanceof StarlarkError) || error.kind !== 'eval') return error;
  return new StarlarkError(`${prefix}: ${error.message}`);
}

/** Runs a part of a built-in whose errors carry its name. */
export function within<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw prefixed(name, error);
  }
}
