// Texts with values put in by the `%` operator.

import { decodeCodepoint, encodeCodepoint } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { repr, str } from '../repr.ts';
import type { Thread } from '../thread.ts';
import { Dict, Float, Tuple, type Value } from '../values.ts';
import { accountText, joined } from './accounting.ts';
import { formatFloat } from './float-text.ts';
import { numberToInt, prefixed } from './numbers.ts';
import { chargeWork } from './search.ts';
import { typeName } from '../kinds.ts';

/**
 * `format % operand`. A tuple is several arguments, a dict may be asked by name, anything else is
 * one argument.
 */
export function percentFormat(thread: Thread, format: string, operand: Value): string {
  chargeWork(thread, format.length);
  const parts: string[] = [];
  const reader = new PercentReader(format, operand);
  for (let part = reader.next(thread); part !== undefined; part = reader.next(thread)) {
    thread.step();
    parts.push(part);
  }
  return joined(thread, parts);
}

/** Goes through a format once; `next` answers literal text and conversions in turn. */
class PercentReader {
  readonly format: string;
  readonly operand: Value;
  position = 0;
  used = 0;

  constructor(format: string, operand: Value) {
    this.format = format;
    this.operand = operand;
  }

  next(thread: Thread): string | undefined {
    if (this.position >= this.format.length) return this.end();
    const percent = this.format.indexOf('%', this.position);
    const literalEnd = percent < 0 ? this.format.length : percent;
    if (literalEnd > this.position) return this.literal(literalEnd);
    this.position++;
    if (this.format[this.position] === '%') return this.literal(this.position + 1);
    return this.conversion(thread);
  }

  private literal(end: number): string {
    const text = this.format.slice(this.position, end);
    this.position = end;
    return text;
  }

  private conversion(thread: Thread): string {
    const argument =
      this.format[this.position] === '(' ? this.namedArgument() : this.nextArgument();
    const verb = this.format[this.position++];
    if (verb === undefined) throw new StarlarkError('incomplete format');
    this.used++;
    return converted(thread, verb, argument);
  }

  private namedArgument(): Value {
    const close = this.format.indexOf(')', this.position);
    if (close < 0) throw new StarlarkError('incomplete format key');
    const key = this.format.slice(this.position + 1, close);
    if (!(this.operand instanceof Dict)) throw new StarlarkError('format requires a mapping');
    const value = this.operand.map.get(key);
    if (value === undefined) throw new StarlarkError(`key not found: ${key}`);
    this.position = close + 1;
    return value;
  }

  private nextArgument(): Value {
    const items: readonly Value[] =
      this.operand instanceof Tuple ? this.operand.items : [this.operand];
    const argument = items[this.used];
    if (argument === undefined) throw new StarlarkError('not enough arguments for format string');
    return argument;
  }

  /** Named conversions count too: a dict is one argument, used up by the first. */
  private end(): undefined {
    const count = this.operand instanceof Tuple ? this.operand.items.length : 1;
    if (this.used < count) throw new StarlarkError('too many arguments for format string');
  }
}

function converted(thread: Thread, verb: string, value: Value): string {
  switch (verb) {
    case 's':
      return str(thread, value);
    case 'r':
      return repr(thread, value);
    case 'd':
    case 'i':
      return integerText(thread, verb, value, 10);
    case 'o':
      return integerText(thread, verb, value, 8);
    case 'x':
      return integerText(thread, verb, value, 16);
    case 'X':
      return integerText(thread, verb, value, 16).toUpperCase();
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return formatFloat(floatOf(verb, value), verb);
    case 'c':
      return characterText(value);
    case '%':
      return '%';
    default:
      throw new StarlarkError(`unknown conversion %${encodeCodepoint(verb.charCodeAt(0))}`);
  }
}

/** Digits of a big int cost more than their number: the conversion divides again and again. */
function integerText(thread: Thread, verb: string, value: Value, base: number): string {
  const integer = integerOf(verb, value);
  if (typeof integer === 'number') return integer.toString(base);
  const digits = bigintBytes(integer) * 4;
  accountText(thread, digits);
  thread.step(Math.ceil(digits / 16));
  return integer.toString(base);
}

function bigintBytes(value: bigint): number {
  let bits = 64;
  while (BigInt.asIntN(bits, value) !== value) bits *= 2;
  return bits / 8;
}

function integerOf(verb: string, value: Value): number | bigint {
  try {
    return numberToInt(value);
  } catch (error) {
    throw prefixed(`%${verb} format requires integer`, error);
  }
}

function floatOf(verb: string, value: Value): number {
  if (value instanceof Float) return value.value;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  throw new StarlarkError(`%${verb} format requires float, not ${typeName(value)}`);
}

function characterText(value: Value): string {
  if (typeof value === 'string') {
    const [codepoint, size] = value === '' ? [0, -1] : decodeCodepoint(value, 0);
    if (size !== value.length)
      throw new StarlarkError('%c format requires a single-character string');
    return encodeCodepoint(codepoint);
  }
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw new StarlarkError(
      `%c format requires int or single-character string, not ${typeName(value)}`,
    );
  }
  if (value < 0 || value > 0x10ffff)
    throw new StarlarkError(`%c format requires a valid Unicode code point, got ${value}`);
  return encodeCodepoint(Number(value));
}
