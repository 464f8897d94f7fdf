// int(): texts in any base, numbers and bools.

import { StarlarkError } from '../errors.ts';
import { normalise } from '../ints.ts';
import type { Thread } from '../thread.ts';
import type { BuiltinCall, Value } from '../values.ts';
import { named } from './arguments.ts';
import { numberToInt, within } from './numbers.ts';

const intArguments = named('int', [
  { name: 'x', kind: 'any' },
  { name: 'base', kind: 'any', optional: true },
]);

/**
 * `int(x, base)`: a base only for texts; without one a text is decimal, with base 0 its prefix says
 * it.
 */
export const int: BuiltinCall = (thread, args, kwargs) => {
  const [value, base] = intArguments(args, kwargs);
  if (typeof value === 'string')
    return parseInteger(thread, value, base === undefined ? 10 : checkedBase(base));
  if (base !== undefined)
    throw new StarlarkError("int: can't convert non-string with explicit base");
  return typeof value === 'boolean' ? Number(value) : within('int', () => numberToInt(value));
};

function checkedBase(value: Value): number {
  const base = typeof value === 'number' ? value : -1;
  if (base !== 0 && (base < 2 || base > 36))
    throw new StarlarkError('int: base must be an integer >= 2 && <= 36');
  return base;
}

const PREFIXES: ReadonlyMap<string, number> = new Map([
  ['b', 2],
  ['o', 8],
  ['x', 16],
]);

function parseInteger(thread: Thread, text: string, givenBase: number): number | bigint {
  const sign = text.startsWith('-') ? -1n : 1n;
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  // A prefix is one only when something follows it: "0x" is two digits, in base 36.
  const prefixBase =
    unsigned.length > 2 && unsigned.startsWith('0')
      ? PREFIXES.get(unsigned.charAt(1).toLowerCase())
      : undefined;
  if (
    prefixBase === undefined &&
    givenBase === 0 &&
    unsigned.length > 1 &&
    unsigned.startsWith('0')
  ) {
    if (/^0+$/.test(unsigned)) return 0;
    refuse(text, givenBase);
  }
  if (prefixBase !== undefined && givenBase !== 0 && prefixBase !== givenBase)
    refuse(text, givenBase);
  const base = givenBase === 0 ? (prefixBase ?? 10) : givenBase;
  const digits = prefixBase === undefined ? unsigned : unsigned.slice(2);
  if (!areDigits(digits, base)) refuse(text, base);
  return normalise(sign * digitsValue(thread, digits, base));
}

function refuse(text: string, base: number): never {
  throw new StarlarkError(`int: invalid literal with base ${base}: ${text}`);
}

function areDigits(text: string, base: number): boolean {
  if (!/^[0-9a-zA-Z]+$/.test(text)) return false;
  for (let index = 0; index < text.length; index++)
    if (Number.parseInt(text.charAt(index), 36) >= base) return false;
  return true;
}

/** A decimal number that is known to have digits alone, and perhaps a minus. */
export function parseDecimal(thread: Thread, text: string): number | bigint {
  const small = Number(text);
  if (Number.isSafeInteger(small)) return small + 0;
  const value = digitsValue(thread, text.replace('-', ''), 10);
  return normalise(text.startsWith('-') ? -value : value);
}

/** So many digits of any base are a safe number. */
const CHUNK = 10;

/** Halves until they are short: the work grows with the multiplication, not with its square. */
function digitsValue(thread: Thread, digits: string, base: number): bigint {
  if (digits.length <= CHUNK) return BigInt(Number.parseInt(digits, base));
  thread.account(digits.length);
  thread.step(Math.ceil(digits.length / 8));
  const low = digits.length >> 1;
  const high = digitsValue(thread, digits.slice(0, -low), base);
  return high * BigInt(base) ** BigInt(low) + digitsValue(thread, digits.slice(-low), base);
}
