// Texts with values put in by the method `format`.

import { StarlarkError } from '../errors.ts';
import { repr, str } from '../repr.ts';
import type { Thread } from '../thread.ts';
import type { Kwargs, Value } from '../values.ts';
import { joined } from './accounting.ts';
import { chargeWork } from './search.ts';

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
  if (other === 'manual' && numbering === 'automatic') {
    throw new StarlarkError(
      'format: cannot switch from manual field specification to automatic field numbering',
    );
  }
  if (other === 'automatic' && numbering === 'manual') {
    throw new StarlarkError(
      'format: cannot switch from automatic field numbering to manual field specification',
    );
  }
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
