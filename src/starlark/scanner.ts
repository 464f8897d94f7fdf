// From source text to tokens, with indentation.

import { StarlarkError } from './errors.ts';
import { columnOf, lineOf, type Position, positionAt } from './position.ts';
import { scanNumber, signAt, type TokenKind, unquote, wordKind } from './tokens.ts';
import { encodeText } from './bytes.ts';
import type { Float } from './values.ts';

/** A token: where it begins, and what it means when it is a name or a literal. */
export interface Token {
  readonly kind: TokenKind;
  readonly position: Position;
  /** A name's text in bytes, or a literal's value. */
  readonly value: string | number | bigint | Float | null;
}

/** Where the source stands in the artifact file. */
export interface SourcePlace {
  readonly firstLine: number;
  /** Where each line begins: scripts in Markdown are indented as a block. */
  readonly firstColumn: number;
}

const WORD = /[\p{L}_][\p{L}_0-9]*/uy;
const TAB = 8;

export class Scanner {
  private readonly text: string;
  private readonly place: SourcePlace;
  private index = 0;
  private line = 1;
  private column = 1;
  /** How many brackets are open: inside them line ends mean nothing. */
  private brackets = 0;
  private readonly indents = [0];
  /** Indents (positive) or outdents (negative) that are still to be told. */
  private dents = 0;
  private lineStart = true;

  constructor(source: string, place: SourcePlace) {
    this.text = source.replace(/\r\n?/g, '\n');
    this.place = place;
  }

  /** Where the scanner stands: behind the last token. */
  get position(): Position {
    return positionAt(
      this.line + this.place.firstLine - 1,
      this.column + this.place.firstColumn - 1,
    );
  }

  next(): Token {
    for (;;) {
      const wasLineStart = this.lineStart;
      const blank = this.lineStart && this.indentation();
      if (this.dents !== 0) return this.dent();
      this.skipSpaceAndComment();
      const char = this.peek();
      if (char === '\n') {
        if (this.newline(blank)) return this.token('newline', this.advanceLine());
      } else if (char === '') {
        const end = this.end(wasLineStart);
        if (end !== undefined) return end;
      } else if (char === '\\') this.continuation();
      else return this.proper(char);
    }
  }

  fail(message: string, position = this.position): never {
    throw new StarlarkError(message, {
      kind: 'syntax',
      line: lineOf(position),
      column: columnOf(position),
    });
  }

  private peek(offset = 0): string {
    return this.text.charAt(this.index + offset);
  }

  /** Goes over text without line ends; a column is a code point. */
  private advance(length: number): void {
    const end = this.index + length;
    for (; this.index < end; this.index++) {
      const code = this.text.charCodeAt(this.index);
      // The second half of a surrogate pair is not a column of its own.
      if (code < 0xdc00 || code > 0xdfff) this.column++;
    }
  }

  private advanceLine(): Position {
    const { position } = this;
    this.index++;
    this.line++;
    this.column = 1;
    return position;
  }

  private token(kind: TokenKind, position: Position, value: Token['value'] = null): Token {
    return { kind, position, value };
  }

  /**
   * Reads a line's leading space and notes indents and outdents; answers whether the line is blank.
   */
  private indentation(): boolean {
    this.lineStart = false;
    let width = 0;
    for (let char = this.peek(); char === ' ' || char === '\t'; char = this.peek()) {
      width += char === ' ' ? 1 : TAB - ((this.column - 1) % TAB);
      this.advance(1);
    }
    const blank = ['#', '\n', ''].includes(this.peek());
    if (!blank && this.brackets === 0) this.measure(width);
    return blank;
  }

  private measure(width: number): void {
    if (width > (this.indents.at(-1) ?? 0)) {
      this.dents++;
      this.indents.push(width);
      return;
    }
    while (width < (this.indents.at(-1) ?? 0)) {
      this.dents--;
      this.indents.pop();
    }
    if (width !== this.indents.at(-1))
      this.fail('unindent does not match any outer indentation level');
  }

  private dent(): Token {
    const kind = this.dents < 0 ? 'outdent' : 'indent';
    this.dents -= Math.sign(this.dents);
    return this.token(kind, this.position);
  }

  private skipSpaceAndComment(): void {
    while (this.peek() === ' ' || this.peek() === '\t') this.advance(1);
    if (this.peek() !== '#') return;
    const end = this.text.indexOf('\n', this.index);
    this.advance((end < 0 ? this.text.length : end) - this.index);
  }

  /** Whether a line end is a token; otherwise it has been gone over. */
  private newline(blank: boolean): boolean {
    this.lineStart = true;
    if (this.brackets === 0 && !blank) return true;
    this.advanceLine();
    return false;
  }

  /** The end of the text: first a line end, then all outdents, then the end itself. */
  private end(wasLineStart: boolean): Token | undefined {
    if (this.indents.length === 1) return this.token('end of file', this.position);
    if (!wasLineStart) {
      this.lineStart = true;
      return this.token('newline', this.position);
    }
    this.dents = 1 - this.indents.length;
    this.indents.length = 1;
    return undefined;
  }

  private continuation(): void {
    this.advance(1);
    if (this.peek() !== '\n') this.fail('stray backslash in program');
    this.advanceLine();
  }

  private proper(char: string): Token {
    const { position } = this;
    if (char === '"' || char === "'") return this.string(position, char, false);
    if (char === 'r' && (this.peek(1) === '"' || this.peek(1) === "'"))
      return this.string(position, this.peek(1), true);
    WORD.lastIndex = this.index;
    const word = WORD.exec(this.text)?.[0];
    if (word !== undefined) {
      this.advance(word.length);
      return this.token(wordKind(word), position, encodeText(word));
    }
    if (/[0-9]/.test(char) || (char === '.' && /[0-9]/.test(this.peek(1))))
      return this.number(position);
    return this.sign(position);
  }

  private number(position: Position): Token {
    const literal = scanNumber(this.text, this.index);
    this.advance(literal.length);
    if (literal.problem !== undefined)
      this.fail(literal.problem, literal.atStart === true ? position : this.position);
    return this.token(literal.kind, position, literal.value);
  }

  private sign(position: Position): Token {
    const sign = signAt(this.text, this.index);
    if (sign === undefined) {
      const char = String.fromCodePoint(this.text.codePointAt(this.index) ?? 0);
      this.fail(`unexpected input character '${shownCharacter(char)}'`);
    }
    if ('([{'.includes(sign)) this.brackets++;
    else if (')]}'.includes(sign)) {
      if (this.brackets === 0) this.fail(`unexpected '${sign}'`);
      this.brackets--;
    }
    this.advance(sign.length);
    return this.token(sign, position);
  }

  private string(position: Position, quote: string, raw: boolean): Token {
    this.advance(raw ? 1 : 0);
    const start = this.position;
    const fence = this.text.startsWith(quote.repeat(3), this.index) ? quote.repeat(3) : quote;
    this.advance(fence.length);
    const inside = this.inside(fence, position);
    try {
      return this.token('string literal', position, raw ? encodeText(inside) : unquote(inside));
    } catch (error) {
      return this.fail(error instanceof Error ? error.message : String(error), start);
    }
  }

  /** The text up to the closing quotes, which are gone over too. */
  private inside(fence: string, position: Position): string {
    const start = this.index;
    for (;;) {
      const char = this.peek();
      if (char === '') this.fail('unexpected EOF in string', position);
      if (this.text.startsWith(fence, this.index)) break;
      if (char === '\n' && fence.length === 1) this.fail('unexpected newline in string', position);
      this.advanceOver(char);
      if (char !== '\\') continue;
      if (this.peek() === '') this.fail('unexpected EOF in string', position);
      this.advanceOver(this.peek());
    }
    const inside = this.text.slice(start, this.index);
    this.advance(fence.length);
    return inside;
  }

  private advanceOver(char: string): void {
    if (char === '\n') this.advanceLine();
    else this.advance(1);
  }
}

const SHOWN: Readonly<Record<string, string>> = {
  "'": "\\'",
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
};

/** A character as messages quote it: what cannot be seen is escaped. */
function shownCharacter(char: string): string {
  const shown = SHOWN[char];
  if (shown !== undefined) return shown;
  if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) return char;
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  if (char < '\x80') return `\\x${hex.padStart(2, '0')}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
