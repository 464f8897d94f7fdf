// The text of values, as repr() and str() give it.

import { decodeCodepoint } from './bytes.ts';
import { StarlarkError } from './errors.ts';
import { intText } from './ints.ts';
import { floatText } from './library/float-text.ts';
import type { Thread } from './thread.ts';
import {
  Builtin,
  Dict,
  Float,
  List,
  Module,
  Range,
  StarlarkFunction,
  Tuple,
  type Value,
} from './values.ts';
import { typeName } from './kinds.ts';

/** Deeper values have no text: writing them would overflow the JavaScript stack. */
const MAX_DEPTH = 500;

/**
 * The text of a value as the program would write it, accounted as it grows. A value inside itself
 * is `...`.
 */
export function repr(thread: Thread, value: Value): string {
  if (typeof value === 'string') return quote(thread, value);
  if (typeof value === 'number') return String(value);
  return write(thread, value, []);
}

/** The text that `str(x)` gives: a string is itself. */
export function str(thread: Thread, value: Value): string {
  return typeof value === 'string' ? value : repr(thread, value);
}

/** `path` is the containers around the value: a stack, as copies would cost more than the text. */
function write(thread: Thread, value: Value, path: Value[]): string {
  if (path.length > MAX_DEPTH) throw new StarlarkError('value is nested too deeply to be written');
  thread.step();
  if (value instanceof List || value instanceof Dict) return writeContainer(thread, value, path);
  if (value instanceof Tuple) return writeTuple(thread, value, path);
  const text = typeof value === 'string' ? quote(thread, value) : writeScalar(thread, value);
  thread.account(text.length);
  return text;
}

function writeContainer(thread: Thread, value: List | Dict, path: Value[]): string {
  const [open, close] = value instanceof List ? ['[', ']'] : ['{', '}'];
  if (path.includes(value)) return `${open}...${close}`;
  path.push(value);
  const parts: string[] = [];
  if (value instanceof List) for (const item of value.items) parts.push(write(thread, item, path));
  else {
    for (const [key, item] of value.map)
      parts.push(`${write(thread, value.original(key), path)}: ${write(thread, item, path)}`);
  }
  path.pop();
  return `${open}${parts.join(', ')}${close}`;
}

function writeTuple(thread: Thread, tuple: Tuple, path: Value[]): string {
  path.push(tuple);
  const parts = tuple.items.map((item) => write(thread, item, path));
  path.pop();
  return parts.length === 1 ? `(${parts.join('')},)` : `(${parts.join(', ')})`;
}

function writeScalar(thread: Thread, value: Exclude<Value, string | List | Dict | Tuple>): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return intText(thread, value);
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof StarlarkFunction) return `<function ${value.code.signature.name}>`;
  if (value instanceof Builtin) return builtinText(value);
  if (value instanceof Range) return rangeText(value);
  if (value instanceof Module) return `<module "${value.name}">`;
  return `${quote(thread, value.text)}.${value.codepoints ? 'codepoint' : 'elem'}${value.ords ? '_ords' : 's'}()`;
}

function builtinText({ name, receiver }: Builtin): string {
  return receiver === undefined
    ? `<built-in function ${name}>`
    : `<built-in method ${name} of ${typeName(receiver)} value>`;
}

function rangeText({ start, stop, step }: Range): string {
  if (step !== 1) return `range(${start}, ${stop}, ${step})`;
  return start === 0 ? `range(${stop})` : `range(${start}, ${stop})`;
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

/**
 * A byte string between double quotes; bytes that are not UTF-8 and code points that do not print
 * are escaped.
 */
function quote(thread: Thread, text: string): string {
  const plain = PLAIN.test(text);
  // A byte can become four characters.
  thread.account(plain ? text.length + 2 : text.length * 4);
  return plain ? `"${text}"` : quoted(text);
}

/**
 * The same for the words of an error, which ends the run: nothing is taken from a budget any more.
 */
export function quoted(text: string): string {
  let escaped = '"';
  for (let index = 0; index < text.length; ) {
    const [codepoint, size] = decodeCodepoint(text, index);
    const bytes = text.slice(index, index + size);
    escaped +=
      size === 1 && codepoint > 0x7f ? byteEscape(bytes) : quoteCodepoint(codepoint, bytes);
    index += size;
  }
  return `${escaped}"`;
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
