// Texts with values put in, by the `%` operator and by the method `format`.

import { decodeCodepoint, encodeCodepoint } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { repr, str } from '../repr.ts';
import type { Thread } from '../thread.ts';
import { Dict, Float, type Kwargs, Tuple, type Value } from '../values.ts';
import { typeName } from '../kinds.ts';
import { accountText, joined } from './accounting.ts';
import { formatFloat } from './float-text.ts';
import { numberToInt, prefixed } from './numbers.ts';
import { chargeWork } from './search.ts';

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
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw new StarlarkError(
      `%c format requires int or single-character string, not ${typeName(value)}`,
    );
  if (value < 0 || value > 0x10ffff)
    throw new StarlarkError(`%c format requires a valid Unicode code point, got ${value}`);
  return encodeCodepoint(Number(value));
}

/**
 * The method `format`: `{}`, `{0}`, `{name}`, each with `!s` or `!r`; no widths, no attributes, no
 * nesting.
 */
export function braceFormat(
  thread: Thread,
  format: string,
  args: readonly Value[],
  kwargs: Kwargs,
): string {
  chargeWork(thread, format.length);
  const fields: FieldArguments = { args, kwargs, next: 0, numbering: undefined };
  const parts: string[] = [];
  for (let position = 0; ; ) {
    thread.step();
    const open = format.indexOf('{', position);
    parts.push(literalText(format.slice(position, open < 0 ? format.length : open)));
    if (open < 0) return joined(thread, parts);
    if (format[open + 1] === '{') {
      parts.push('{');
      position = open + 2;
      continue;
    }
    const close = format.indexOf('}', open);
    if (close < 0) throw new StarlarkError("format: unmatched '{' in format");
    parts.push(fieldText(thread, format.slice(open + 1, close), fields));
    position = close + 1;
  }
}

function literalText(text: string): string {
  if (!text.includes('}')) return text;
  if (text.replaceAll('}}', '').includes('}'))
    throw new StarlarkError("format: single '}' in format");
  return text.replaceAll('}}', '}');
}

interface FieldArguments {
  readonly args: readonly Value[];
  readonly kwargs: Kwargs;
  next: number;
  /** Numbers are given by the format or counted, not both. */
  numbering: 'automatic' | 'manual' | undefined;
}

function fieldText(thread: Thread, field: string, fields: FieldArguments): string {
  const { name, conversion, spec } = fieldParts(field);
  const value = fieldValue(name, fields);
  if (spec !== '')
    throw new StarlarkError(`format spec features not supported in replacement fields: ${spec}`);
  if (conversion === 's') return str(thread, value);
  if (conversion === 'r') return repr(thread, value);
  throw new StarlarkError(`format: unknown conversion ${repr(thread, conversion)}`);
}

/** An exclamation mark is looked for first, also behind a colon: the reference reads fields so. */
function fieldParts(field: string): {
  readonly name: string;
  readonly conversion: string;
  readonly spec: string;
} {
  const mark = field.indexOf('!');
  const rest = field.slice(mark + 1);
  const [head, spec] = cutAt(rest, ':');
  return mark < 0
    ? { name: head, conversion: 's', spec }
    : { name: field.slice(0, mark), conversion: head, spec };
}

function cutAt(text: string, separator: string): readonly [head: string, tail: string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

function fieldValue(name: string, fields: FieldArguments): Value {
  if (name === '') return numberedValue(fields, 'automatic', fields.next++);
  if (isIndex(name)) return numberedValue(fields, 'manual', Number(name));
  const value = fields.kwargs?.get(name);
  if (value !== undefined) return value;
  throw new StarlarkError(`format: ${missingField(name)}`);
}

/** Digits beyond an int of 64 bits are a name. */
function isIndex(name: string): boolean {
  if (!/^\d+$/.test(name)) return false;
  const digits = name.replace(/^0+/, '');
  return digits.length < 19 || (digits.length === 19 && BigInt.asIntN(64, BigInt(digits)) >= 0n);
}

function numberedValue(
  fields: FieldArguments,
  numbering: 'automatic' | 'manual',
  index: number,
): Value {
  const other = fields.numbering;
  fields.numbering = numbering;
  if (other === 'manual' && numbering === 'automatic')
    throw new StarlarkError(
      'format: cannot switch from manual field specification to automatic field numbering',
    );
  if (other === 'automatic' && numbering === 'manual')
    throw new StarlarkError(
      'format: cannot switch from automatic field numbering to manual field specification',
    );
  const value = fields.args[index];
  if (value === undefined) throw new StarlarkError('format: tuple index out of range');
  return value;
}

function missingField(name: string): string {
  if (name.includes('.'))
    return `attribute syntax x.y is not supported in replacement fields: ${name}`;
  if (name.includes('['))
    return `element syntax a[i] is not supported in replacement fields: ${name}`;
  if (name.includes('{')) return 'nested replacement fields not supported';
  return `keyword ${name} not found`;
}
