// The text of values, as repr() and str() give it.

import { decodeCodepoint } from './bytes.ts';
import { StarlarkError } from './errors.ts';
import type { Thread } from './thread.ts';
import { Builtin, Dict, Float, List, Module, Range, StarlarkFunction, Tuple, typeName, type Value } from './values.ts';

/** Deeper values have no text: writing them would overflow the JavaScript stack. */
const MAX_DEPTH = 500;

/** The text of a value as the program would write it, accounted as it grows. A value inside itself is `...`. */
export function repr(thread: Thread, value: Value): string {
  if (typeof value === 'string') return quote(thread, value);
  if (typeof value === 'number') return String(value);
  return write(thread, value, []);
}

/** The text that `str(x)` gives: a string is itself. */
export function str(thread: Thread, value: Value): string {
  return typeof value === 'string' ? value : repr(thread, value);
}

function write(thread: Thread, value: Value, path: readonly Value[]): string {
  if (path.length > MAX_DEPTH) throw new StarlarkError('value is nested too deeply to be written');
  thread.step();
  if (value instanceof List || value instanceof Dict) return writeContainer(thread, value, path);
  if (value instanceof Tuple) return writeTuple(thread, value, path);
  const text = typeof value === 'string' ? quote(thread, value) : writeScalar(thread, value);
  thread.account(text.length);
  return text;
}

function writeContainer(thread: Thread, value: List | Dict, path: readonly Value[]): string {
  const [open, close] = value instanceof List ? ['[', ']'] : ['{', '}'];
  if (path.includes(value)) return `${open}...${close}`;
  const inner = [...path, value];
  const parts: string[] = [];
  if (value instanceof List) for (const item of value.items) parts.push(write(thread, item, inner));
  else
    for (const [key, item] of value.map) {
      parts.push(`${write(thread, value.original(key), inner)}: ${write(thread, item, inner)}`);
    }
  return `${open}${parts.join(', ')}${close}`;
}

function writeTuple(thread: Thread, tuple: Tuple, path: readonly Value[]): string {
  const inner = [...path, tuple];
  const parts = tuple.items.map((item) => write(thread, item, inner));
  return parts.length === 1 ? `(${parts.join('')},)` : `(${parts.join(', ')})`;
}

function writeScalar(thread: Thread, value: Exclude<Value, string | List | Dict | Tuple>): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof StarlarkFunction) return `<function ${value.code.signature.name}>`;
  if (value instanceof Builtin) return builtinText(value);
  if (value instanceof Range) return rangeText(value);
  if (value instanceof Module) return `<module "${value.name}">`;
  return `${quote(thread, value.text)}.${value.codepoints ? 'codepoint' : 'elem'}${value.ords ? '_ords' : 's'}()`;
}

function builtinText({ name, receiver }: Builtin): string {
  return receiver === undefined ? `<built-in function ${name}>` : `<built-in method ${name} of ${typeName(receiver)} value>`;
}

function rangeText({ start, stop, step }: Range): string {
  if (step !== 1) return `range(${start}, ${stop}, ${step})`;
  return start === 0 ? `range(${stop})` : `range(${start}, ${stop})`;
}

/** A float's shortest text: an exponent from 1e+06 up and below 1e-04, and always a sign that it is a float. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? '+inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 6) return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x0c, '\\f'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x09, '\\t'],
  [0x0b, '\\v'],
  [0x22, '\\"'],
  [0x5c, '\\\\'],
]);

const PLAIN = /^[ !#-[\]-~]*$/;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;

/** A byte string between double quotes; bytes that are not UTF-8 and code points that do not print are escaped. */
export function quote(thread: Thread, text: string): string {
  thread.account(text.length + 2);
  if (PLAIN.test(text)) return `"${text}"`;
  let quoted = '"';
  for (let index = 0; index < text.length; ) {
    const [codepoint, size] = decodeCodepoint(text, index);
    const bytes = text.slice(index, index + size);
    quoted += size === 1 && codepoint > 0x7f ? byteEscape(bytes) : quoteCodepoint(codepoint, bytes);
    index += size;
  }
  return `${quoted}"`;
}

function quoteCodepoint(codepoint: number, bytes: string): string {
  const escape = ESCAPES.get(codepoint);
  if (escape !== undefined) return escape;
  if (codepoint === 0x20 || PRINTABLE.test(String.fromCodePoint(codepoint))) return bytes;
  if (codepoint < 0x20 || codepoint === 0x7f) return byteEscape(bytes);
  const hex = codepoint.toString(16);
  return codepoint > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

function byteEscape(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
