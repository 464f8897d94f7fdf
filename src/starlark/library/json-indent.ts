// json.indent: the same JSON over several lines.

import { StarlarkError } from '../errors.ts';
import type { Thread } from '../thread.ts';
import { joined } from './accounting.ts';
import { invalidCharacter, scanString } from './json-text.ts';
import { chargeWork } from './search.ts';

/** What begins each new line, and what is added for each level. */
interface IndentStyle {
  readonly prefix: string;
  readonly indent: string;
}

/**
 * JSON laid out; empty objects and arrays stay on their line, space after the value stays as it is.
 */
export function indentJson(thread: Thread, text: string, style: IndentStyle): string {
  chargeWork(thread, text.length);
  const parts: string[] = [];
  new Indenter(thread, { text, style, parts }).run();
  return joined(thread, parts);
}

const MAX_DEPTH = 10_000;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = 0x20;
const LITERALS = ['true', 'false', 'null'];

type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'after value';

class Indenter {
  readonly thread: Thread;
  readonly text: string;
  readonly style: IndentStyle;
  readonly parts: string[];
  readonly open: ('{' | '[')[] = [];
  expected: Expected = 'value';
  position = 0;

  constructor(
    thread: Thread,
    {
      text,
      style,
      parts,
    }: { readonly text: string; readonly style: IndentStyle; readonly parts: string[] },
  ) {
    this.thread = thread;
    this.text = text;
    this.style = style;
    this.parts = parts;
  }

  run(): void {
    while (this.expected !== 'after value' || this.open.length > 0) {
      this.skipSpace();
      if (this.position >= this.text.length) throw unexpectedEnd();
      this.thread.step();
      this.token(this.text.charAt(this.position));
    }
    const rest = this.text.slice(this.position);
    const stray = /[^ \t\r\n]/.exec(rest);
    if (stray !== null) throw invalidCharacter(stray[0].charCodeAt(0), 'after top-level value');
    this.add(rest);
  }

  private skipSpace(): void {
    while (' \t\n\r'.includes(this.text[this.position] ?? '-')) this.position++;
  }

  private add(part: string): void {
    this.thread.account(part.length);
    this.parts.push(part);
  }

  private take(length: number): void {
    this.add(this.text.slice(this.position, this.position + length));
    this.position += length;
  }

  /** Accounted before: many levels of a long indent are large. */
  private newLine(): void {
    const { prefix, indent } = this.style;
    this.thread.account(1 + prefix.length + indent.length * this.open.length);
    this.parts.push(`\n${prefix}${indent.repeat(this.open.length)}`);
  }

  private token(character: string): void {
    switch (this.expected) {
      case 'first key':
        return character === '}' ? this.closeEmpty() : this.first(() => this.key(character));
      case 'first value':
        return character === ']' ? this.closeEmpty() : this.first(() => this.value(character));
      case 'key':
        return this.key(character);
      case 'value':
        return this.value(character);
      case 'colon':
        return this.colon(character);
      case 'after value':
        return this.afterValue(character);
    }
  }

  private closeEmpty(): void {
    this.open.pop();
    this.take(1);
    this.expected = 'after value';
  }

  private first(read: () => void): void {
    this.newLine();
    read();
  }

  private key(character: string): void {
    if (character !== '"') throw this.invalid('looking for beginning of object key string');
    this.string();
    this.expected = 'colon';
  }

  private colon(character: string): void {
    if (character !== ':') throw this.invalid('after object key');
    this.take(1);
    this.add(' ');
    this.expected = 'value';
  }

  private afterValue(character: string): void {
    const inObject = this.open.at(-1) === '{';
    if (character === (inObject ? '}' : ']')) {
      this.open.pop();
      this.newLine();
      this.take(1);
      return;
    }
    if (character !== ',')
      throw this.invalid(inObject ? 'after object key:value pair' : 'after array element');
    this.take(1);
    this.newLine();
    this.expected = inObject ? 'key' : 'value';
  }

  private value(character: string): void {
    this.expected = 'after value';
    if (character === '{' || character === '[') this.begin(character);
    else if (character === '"') this.string();
    else if (/[-\d]/.test(character)) this.number();
    else this.literal(character);
  }

  private begin(bracket: '{' | '['): void {
    if (this.open.length >= MAX_DEPTH) throw new StarlarkError('exceeded max depth');
    this.open.push(bracket);
    this.take(1);
    this.expected = bracket === '{' ? 'first key' : 'first value';
  }

  private string(): void {
    const length = scanString(this.text, this.position);
    if (length === undefined) throw unexpectedEnd();
    this.take(length);
  }

  private number(): void {
    NUMBER.lastIndex = this.position;
    const [number = ''] = NUMBER.exec(this.text) ?? [];
    const end = this.position + number.length;
    const wrong = number === '' ? /-/y : /\.|[eE][+-]?/y;
    wrong.lastIndex = end;
    const begun = wrong.exec(this.text)?.[0];
    // After a fraction a second point is not part of the number, nor is a second exponent.
    if (begun === undefined || (number !== '' && !mayContinue(number, begun)))
      return this.take(number.length);
    this.position = end + begun.length;
    throw this.invalid(numberPlace(begun));
  }

  private literal(character: string): void {
    const literal = LITERALS.find((candidate) => candidate.startsWith(character));
    if (literal === undefined) throw this.invalid('looking for beginning of value');
    for (let index = 1; index < literal.length; index++) {
      if (this.text[this.position + index] === literal[index]) continue;
      this.position += index;
      throw this.invalid(`in literal ${literal} (expecting '${literal.charAt(index)}')`);
    }
    this.take(literal.length);
  }

  /** The end of the text counts as a space. */
  private invalid(where: string): StarlarkError {
    return invalidCharacter(
      this.position < this.text.length ? this.text.charCodeAt(this.position) : SPACE,
      where,
    );
  }
}

function mayContinue(number: string, begun: string): boolean {
  if (/[eE]/.test(number)) return false;
  return begun !== '.' || !number.includes('.');
}

function numberPlace(begun: string): string {
  if (begun === '-') return 'in numeric literal';
  return begun === '.'
    ? 'after decimal point in numeric literal'
    : 'in exponent of numeric literal';
}

function unexpectedEnd(): StarlarkError {
  return new StarlarkError('unexpected end of JSON input');
}
