// What every part of the parser needs: the token ahead, and a way to complain.

import type { Expression, NameNode } from './ast.ts';
import type { Position } from './position.ts';
import type { Scanner, Token } from './scanner.ts';
import { describeToken, type TokenKind } from './tokens.ts';

/** Brackets, suites and operators inside one another: reading them recurses. */
const MAX_NESTING = 400;
/**
 * Levels of a tree: a chain like `a + b + c` is read in a loop and makes one level with each
 * operator.
 */
const MAX_DEPTH = 500;

export class Cursor {
  protected readonly scanner: Scanner;
  protected token: Token;
  private last: Token | null = null;
  private nesting = 0;

  constructor(scanner: Scanner) {
    this.scanner = scanner;
    this.token = scanner.next();
  }

  protected at(...kinds: readonly TokenKind[]): boolean {
    return kinds.includes(this.token.kind);
  }

  /** Goes on to the next token and answers where the last one began. */
  protected next(): Position {
    const { position } = this.token;
    this.last = this.token;
    this.token = this.scanner.next();
    return position;
  }

  protected consume(kind: TokenKind): Position {
    if (!this.at(kind))
      this.fail(`got ${describeToken(this.token.kind)}, want ${describeToken(kind)}`);
    return this.next();
  }

  /**
   * Complains, as a rule behind the token ahead. Words of Python that the language lacks are told
   * by their name.
   */
  protected fail(message: string, position?: Position): never {
    return this.scanner.fail(missingFrom(this.token, this.last) ?? message, position);
  }

  /** Reads something that can hold itself. */
  protected nested<T>(read: () => T): T {
    if (++this.nesting > MAX_NESTING) this.fail('nested too deeply');
    const result = read();
    this.nesting--;
    return result;
  }

  /** The depth of a tree above others. */
  protected depthOver(...children: readonly ({ readonly depth: number } | null)[]): number {
    return this.checkDepth(
      1 + children.reduce((most, child) => Math.max(most, child?.depth ?? 0), 0),
    );
  }

  protected checkDepth(depth: number): number {
    if (depth > MAX_DEPTH) this.fail('nested too deeply');
    return depth;
  }

  protected name(): NameNode {
    if (!this.at('identifier')) this.fail('not an identifier');
    const name = this.text();
    return { kind: 'name', name, start: this.next(), depth: 1, binding: null };
  }

  /** The token's value, where it is a name or a string. */
  protected text(): string {
    return typeof this.token.value === 'string' ? this.token.value : '';
  }

  protected endsList(): boolean {
    return this.at('end of file', 'newline', '=', '}', ']', ')', ';');
  }
}

/**
 * The word of Python that a mistake is made of, where the token ahead can be nothing else; `null`
 * for all other mistakes.
 */
function missingFrom({ kind, value }: Token, last: Token | null): string | null {
  if (kind === 'illegal token' && typeof value === 'string')
    return `this Starlark dialect does not support "${value}"`;
  if (kind !== 'string literal' || last?.kind !== 'identifier' || typeof last.value !== 'string')
    return null;
  if (/^(?:f|fr|rf)$/i.test(last.value))
    return 'this Starlark dialect does not support f-strings; write "{}".format(x), or "%s" % x';
  return /^(?:b|br|rb)$/i.test(last.value) ? 'this Starlark dialect does not support bytes' : null;
}

/** The expression inside any parentheses. */
export function unparenthesised(node: Expression): Expression {
  let inner = node;
  while (inner.kind === 'paren') inner = inner.inner;
  return inner;
}
