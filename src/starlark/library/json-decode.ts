// json.decode: a value from JSON, with the offset of what is wrong.

import { StarlarkError } from '../errors.ts';
import { dictSet } from '../keys.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from '../thread.ts';
import { Dict, Float, List, type Value } from '../values.ts';
import { accountText } from './accounting.ts';
import { parseFloatText } from './float-text.ts';
import { MAX_DEPTH, quoteByte, scanString, unquoteJson } from './json-text.ts';
import { parseDecimal } from './parse-int.ts';
import { chargeWork } from './search.ts';
import { typeName } from '../kinds.ts';

/**
 * The value of a JSON text: objects are dicts, arrays lists, numbers with a point or an exponent
 * floats.
 */
export function decodeJson(thread: Thread, text: string): Value {
  chargeWork(thread, text.length);
  const decoder = new Decoder(thread, text);
  const value = decoder.value(0);
  decoder.end();
  return value;
}

const LITERALS: readonly (readonly [text: string, value: Value])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
];

class Decoder {
  readonly thread: Thread;
  readonly text: string;
  position = 0;

  constructor(thread: Thread, text: string) {
    this.thread = thread;
    this.text = text;
  }

  value(depth: number): Value {
    if (depth > MAX_DEPTH) this.refuse('value is nested too deeply to be decoded');
    this.thread.step();
    const byte = this.next();
    if (byte === 0x22) return this.string();
    if (byte === 0x5b) return this.list(depth);
    if (byte === 0x7b) return this.dict(depth);
    if (byte === 0x2d || isDigit(byte)) return this.number();
    for (const [literal, value] of LITERALS) {
      if (!this.text.startsWith(literal, this.position)) continue;
      this.position += literal.length;
      return value;
    }
    return this.refuse(`unexpected character ${quoteByte(byte)}`);
  }

  end(): void {
    if (this.skipSpace())
      this.refuse(
        `unexpected character ${quoteByte(this.text.charCodeAt(this.position))} after value`,
      );
  }

  private refuse(message: string): never {
    throw new StarlarkError(`json.decode: at offset ${this.position}, ${message}`);
  }

  /** Whether anything follows the white space. */
  private skipSpace(): boolean {
    while (' \t\n\r'.includes(this.text[this.position] ?? '-')) this.position++;
    return this.position < this.text.length;
  }

  private next(): number {
    if (!this.skipSpace()) this.refuse('unexpected end of file');
    return this.text.charCodeAt(this.position);
  }

  private list(depth: number): List {
    this.thread.account(OBJECT_BYTES);
    const items: Value[] = [];
    this.position++;
    if (this.next() === 0x5d) this.position++;
    else
      do {
        this.thread.account(SLOT_BYTES);
        items.push(this.value(depth + 1));
      } while (this.hasMore(0x5d, (byte) => `got ${quoteByte(byte)}, want ',' or ']'`));
    return new List(items);
  }

  private dict(depth: number): Dict {
    this.thread.account(OBJECT_BYTES);
    const dict = new Dict();
    this.position++;
    if (this.next() === 0x7d) this.position++;
    else
      do {
        const key = this.key(depth);
        dictSet(this.thread, dict, key, this.value(depth + 1));
      } while (this.hasMore(0x7d, (byte) => `in object, got ${quoteByte(byte)}, want ',' or '}'`));
    return dict;
  }

  private key(depth: number): string {
    const key = this.value(depth + 1);
    if (typeof key !== 'string')
      return this.refuse(`got ${typeName(key)} for object key, want string`);
    const byte = this.next();
    // The space at the end is the reference's.
    if (byte !== 0x3a) this.refuse(`after object key, got ${quoteByte(byte)}, want ':' `);
    this.position++;
    return key;
  }

  /** Whether a comma follows; otherwise the closing bracket must. */
  private hasMore(close: number, message: (byte: number) => string): boolean {
    const byte = this.next();
    if (byte !== 0x2c && byte !== close) this.refuse(message(byte));
    this.position++;
    return byte === 0x2c;
  }

  /** A string without escapes and in ASCII is taken as it is, control characters included. */
  private string(): string {
    const end = endOfString(this.text, this.position);
    if (end === undefined) return this.refuse('unclosed string literal');
    const start = this.position;
    this.position = end;
    accountText(this.thread, (end - start) * 3);
    const quoted = this.text.slice(start, end);
    return /[\\\x80-\xff]/.test(quoted) ? this.unquoted(quoted) : quoted.slice(1, -1);
  }

  private unquoted(quoted: string): string {
    try {
      scanString(quoted, 0);
    } catch (error) {
      this.refuse(error instanceof StarlarkError ? error.message : 'invalid string');
    }
    return unquoteJson(quoted);
  }

  private number(): Value {
    NUMBER.lastIndex = this.position;
    const [text = ''] = NUMBER.exec(this.text) ?? [];
    this.position += text.length;
    const digits = text.startsWith('-') ? text.slice(1) : text;
    if (digits === '' || /^0\d/.test(digits)) this.refuse(`invalid number: ${text}`);
    if (/^\d+$/.test(digits)) return parseDecimal(this.thread, text);
    const float = parseFloatText(text);
    if (float === undefined || !Number.isFinite(float))
      return this.refuse(`invalid number: ${text}`);
    this.thread.account(OBJECT_BYTES);
    return new Float(float);
  }
}

/** What a number may consist of; whether it is one is seen afterwards. */
const NUMBER = /[-\d][-+.eE\d]*/y;

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function endOfString(text: string, start: number): number | undefined {
  for (let index = start + 1; index < text.length; index++) {
    const byte = text.charCodeAt(index);
    if (byte === 0x22) return index + 1;
    if (byte === 0x5c) index++;
  }
  return undefined;
}
