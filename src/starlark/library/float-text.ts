// Floats as text and back, in the shapes that Go's strconv gives them.

/** The conversions of `%` that make a float's text. */
type FloatVerb = 'e' | 'E' | 'f' | 'F' | 'g' | 'G';

/**
 * The text of `str(x)` and of `%g`: as few digits as tell it apart, and always a point, an exponent
 * or a name.
 */
export function floatText(value: number): string {
  const special = specialText(value);
  if (special !== undefined) return special;
  const text = shortestText(value);
  return text.includes('.') || text.includes('e') ? text : `${text}.0`;
}

/** The text of one `%` conversion. `%F` answers itself: the reference knows no such shape. */
export function formatFloat(value: number, verb: FloatVerb): string {
  const special = specialText(value);
  if (special !== undefined) return special;
  switch (verb) {
    case 'g':
      return floatText(value);
    case 'G':
      return floatText(value).toUpperCase();
    case 'e':
      return sixDigitExponent(value);
    case 'E':
      return sixDigitExponent(value).toUpperCase();
    case 'f':
      return sixDecimals(value);
    case 'F':
      return '%F';
  }
}

/**
 * A finite float with as few digits as tell it apart; an integral one has no point (`1`, `1e+21`).
 */
export function shortestText(value: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [mantissa = '', exponentText = '0'] = Math.abs(value).toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 6) return `${sign}${mantissa}e${exponentOf(exponent)}`;
  const digits = mantissa.replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, '0');
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/**
 * The number that a text stands for, or undefined when it is none. Too large a number is infinite,
 * and so is a text that names infinity. Decimal and hexadecimal floats of Go's syntax, underscores
 * between digits included.
 */
export function parseFloatText(text: string): number | undefined {
  if (NAMED.test(text)) return namedFloat(text.toLowerCase());
  const plain = text.includes('_') ? withoutUnderscores(text) : text;
  if (DECIMAL.test(plain)) return Number(plain);
  const hexadecimal = HEXADECIMAL.exec(plain);
  return hexadecimal === null ? undefined : hexadecimalFloat(hexadecimal);
}

const NAMED = /^[+-]?(?:inf|infinity|nan)$/i;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEXADECIMAL = /^([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/;

function specialText(value: number): string | undefined {
  if (Number.isFinite(value)) return undefined;
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? '+inf' : '-inf';
}

function exponentOf(exponent: number): string {
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${exponent < 0 ? '-' : '+'}${digits}`;
}

/** Digits beyond any double's distance from a tie, so that zeros up to here mean zeros for ever. */
const EXACT_DIGITS = 60;

function sixDigitExponent(value: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [rounded = '', exponent = '0'] = Math.abs(value).toExponential(6).split('e');
  const [exact = ''] = Math.abs(value).toExponential(EXACT_DIGITS).split('e');
  const isTie = /^50*$/.test(exact.slice('0.000000'.length));
  return `${sign}${isTie ? tieToEven(rounded) : rounded}e${exponentOf(Number(exponent))}`;
}

function sixDecimals(value: number): string {
  const magnitude = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  // toFixed answers with an exponent from here on; such a number is integral.
  if (magnitude >= 1e21) return `${sign}${BigInt(magnitude)}.000000`;
  const rounded = magnitude.toFixed(6);
  // Half a millionth is a tie only for odd multiples of 1/128.
  const isTie = (magnitude * 128) % 2 === 1;
  return sign + (isTie ? tieToEven(rounded) : rounded);
}

/**
 * JavaScript rounds a tie up, Go to the even digit. An odd last digit was rounded up and goes one
 * down.
 */
function tieToEven(digits: string): string {
  const last = Number(digits.at(-1));
  return last % 2 === 0 ? digits : digits.slice(0, -1) + String(last - 1);
}

function namedFloat(name: string): number {
  if (name.endsWith('nan')) return Number.NaN;
  return name.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/**
 * The text itself, which is then no number, when an underscore stands elsewhere than between digits
 * or after `0x`.
 */
function withoutUnderscores(text: string): string {
  const prefixed = /^[+-]?0[xX]/.test(text);
  const separated = prefixed ? text.replace(/^([+-]?0[xX])_/, '$1') : text;
  const misplaced = prefixed ? /(?<![0-9a-fA-F])_|_(?![0-9a-fA-F])/ : /(?<!\d)_|_(?!\d)/;
  return misplaced.test(separated) ? text : separated.replaceAll('_', '');
}

const MANTISSA_BITS = 53;
const SMALLEST_EXPONENT = -1074;
const LARGEST_EXPONENT = 1024;

/** Rounded once, half to even, also where a double has fewer bits because it is close to zero. */
function hexadecimalFloat([, sign, whole = '', fraction = '', power]: RegExpExecArray): number {
  const mantissa = BigInt(`0x${whole}${fraction}`);
  const factor = sign === '-' ? -1 : 1;
  if (mantissa === 0n) return factor * 0;
  const exponent = Number(power) - 4 * fraction.length;
  const bits = bitLength(mantissa);
  if (bits + exponent > LARGEST_EXPONENT) return factor * Number.POSITIVE_INFINITY;
  const kept = Math.min(MANTISSA_BITS, bits + exponent - SMALLEST_EXPONENT);
  if (kept < 0) return factor * 0;
  const dropped = Math.max(0, bits - kept);
  return factor * Number(roundedShift(mantissa, dropped)) * 2 ** (exponent + dropped);
}

function bitLength(value: bigint): number {
  const digits = value.toString(16);
  return digits.length * 4 - (Math.clz32(Number.parseInt(digits.charAt(0), 16)) - 28);
}

function roundedShift(value: bigint, count: number): bigint {
  if (count === 0) return value;
  const shift = BigInt(count);
  const quotient = value >> shift;
  const twiceRest = (value - (quotient << shift)) * 2n;
  const unit = 1n << shift;
  const isUp = twiceRest > unit || (twiceRest === unit && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}
