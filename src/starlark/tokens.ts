// The words and signs of the language.

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
