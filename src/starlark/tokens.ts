// The words and signs of the language, and what literals mean: numbers as the source writes them,
// and texts between their quotes.

import { Float } from './values.ts';
import { encodeText } from './bytes.ts';
import { StarlarkError } from './errors.ts';
import { normalise } from './ints.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const SIGNS = words(`
  + - * / // % & | ^ << >> ~ . , = ; : ( ) [ ] { } < > >= <= == != += -= *= /= //= %= &= |= ^=
  <<= >>= **
`);

const KEYWORDS = words(`
  and break continue def elif else for if in lambda load not or pass return while
`);

const RESERVED = words(`
  as class del except finally from global import is nonlocal raise try with yield
`);

/**
 * What a token is: a sign or a keyword is itself, others are named as messages name them:
 * `identifier`, `int literal`, `float literal`, `string literal`, `newline`, `indent`, `outdent`,
 * `end of file`, `illegal token`, `not in`.
 */
export type TokenKind = string;

const SIGN_SET: ReadonlySet<string> = new Set(SIGNS);
const WORDS: ReadonlyMap<string, TokenKind> = new Map([
  ...KEYWORDS.map((word) => [word, word] as const),
  ...RESERVED.map((word) => [word, 'illegal token'] as const),
]);

/** The kind of a word: a keyword, a reserved word, or an identifier. */
export function wordKind(word: string): TokenKind {
  return WORDS.get(word) ?? 'identifier';
}

/** The longest sign that a text starts with at an index. */
export function signAt(text: string, index: number): string | undefined {
  return [3, 2, 1]
    .map((length) => text.slice(index, index + length))
    .find((sign) => SIGN_SET.has(sign));
}

/** A token as messages write it: signs are quoted. */
export function describeToken(kind: TokenKind): string {
  return SIGN_SET.has(kind) ? `'${kind}'` : kind;
}

const PRECEDENCE_LEVELS = [
  ['or'],
  ['and'],
  ['not'],
  ['==', '!=', '<', '>', '<=', '>=', 'in', 'not in'],
  ['|'],
  ['^'],
  ['&'],
  ['<<', '>>'],
  ['-', '+'],
  ['*', '%', '/', '//'],
];

const PRECEDENCE: ReadonlyMap<TokenKind, number> = new Map(
  PRECEDENCE_LEVELS.flatMap((kinds, level) => kinds.map((kind) => [kind, level] as const)),
);

export const NOT_PRECEDENCE = 2;
export const COMPARISON_PRECEDENCE = 3;

/** How tightly a binary operator binds; -1 for anything else. */
export function precedenceOf(kind: TokenKind): number {
  return PRECEDENCE.get(kind) ?? -1;
}

/** `=` and the augmented assignments. */
export const ASSIGNMENTS: ReadonlySet<TokenKind> = new Set(
  SIGNS.filter((sign) => /^(?:[-+*/%&|^]|\/\/|<<|>>)?=$/.test(sign)),
);

/** A literal at an index of the source; `problem` says why it is none. */
interface NumberLiteral {
  readonly kind: TokenKind;
  readonly length: number;
  readonly value: number | bigint | Float;
  readonly problem?: string;
  /** Whether the problem is told where the literal begins, and not where it ends. */
  readonly atStart?: boolean;
}

const PREFIXED = /0(?:[xX][0-9a-fA-F]*|[oO][0-7]*|[bB][01]*)/y;
const DECIMAL = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]*)?/y;

export function scanNumber(text: string, index: number): NumberLiteral {
  PREFIXED.lastIndex = index;
  const prefixed = PREFIXED.exec(text)?.[0];
  if (prefixed !== undefined) return prefixedLiteral(prefixed);
  DECIMAL.lastIndex = index;
  const decimal = DECIMAL.exec(text)?.[0] ?? '';
  return /[.eE]/.test(decimal) ? floatLiteral(decimal) : decimalLiteral(decimal);
}

const RADIX_NAMES: Readonly<Record<string, string>> = { x: 'hex', o: 'octal', b: 'binary' };

function prefixedLiteral(literal: string): NumberLiteral {
  const letter = literal.charAt(1).toLowerCase();
  const base = { kind: 'int literal', length: literal.length };
  if (literal.length === 2)
    return {
      ...base,
      value: 0,
      problem: `invalid ${RADIX_NAMES[letter] ?? ''} literal`,
      atStart: letter === 'x',
    };
  const value = BigInt(literal.toLowerCase());
  // Octal and binary literals are at most 64 bits wide, as in the reference.
  if (letter !== 'x' && value > 0x7fff_ffff_ffff_ffffn)
    return { ...base, value: 0, problem: 'invalid int literal', atStart: true };
  return { ...base, value: normalise(value) };
}

function decimalLiteral(literal: string): NumberLiteral {
  const base = { kind: 'int literal', length: literal.length };
  if (/^0[0-9]*[1-9]/.test(literal)) {
    if (/^[0-7]+$/.test(literal))
      return {
        ...base,
        value: 0,
        problem: `obsolete form of octal literal; use 0o${literal.slice(1)}`,
      };
    return { ...base, value: 0, problem: 'invalid int literal', atStart: true };
  }
  return { ...base, value: normalise(BigInt(literal)) };
}

function floatLiteral(literal: string): NumberLiteral {
  const value = Number(literal);
  const base = { kind: 'float literal', length: literal.length, value: new Float(value) };
  return Number.isFinite(value) ? base : { ...base, problem: 'invalid float literal' };
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

const ESCAPE = /\\(?:([0-7]{1,3})|(x[\s\S]{0,2})|([\s\S]?))/g;

/**
 * The meaning of a literal's inside. A backslash must escape something; `\x` and octal escapes are
 * bytes.
 */
export function unquote(inside: string): string {
  const bytes = encodeText(inside);
  return bytes.includes('\\') ? bytes.replace(ESCAPE, unescape) : bytes;
}

function unescape(
  text: string,
  octal: string | undefined,
  hex: string | undefined,
  simple: string | undefined,
): string {
  if (octal !== undefined) return byteOf(text, Number.parseInt(octal, 8), octal.padStart(3, '0'));
  if (hex !== undefined) return hexByte(text, hex.slice(1));
  const meaning = SIMPLE_ESCAPES[simple ?? ''];
  // The reference names the byte as the character of that number.
  if (meaning === undefined)
    throw new StarlarkError(`invalid escape sequence \\${encodeText(simple ?? '')}`, {
      kind: 'syntax',
    });
  return meaning;
}

function hexByte(text: string, digits: string): string {
  if (digits.length < 2)
    throw new StarlarkError(`truncated escape sequence ${text}`, { kind: 'syntax' });
  if (!/^[0-9a-fA-F]{2}$/.test(digits))
    throw new StarlarkError(`invalid escape sequence ${text}`, { kind: 'syntax' });
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function byteOf(text: string, byte: number, digits: string): string {
  if (byte > 255)
    throw new StarlarkError(`invalid escape sequence \\${digits || text}`, { kind: 'syntax' });
  return String.fromCharCode(byte);
}
