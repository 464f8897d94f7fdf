// Statements, files and single expressions.

import type { Expression, IfArm, LoadedName, NameNode, Statement } from './ast.ts';
import type { Position } from './position.ts';
import { ExpressionParser } from './parse-expression.ts';
import { Scanner, type SourcePlace } from './scanner.ts';
import { ASSIGNMENTS, describeToken } from './tokens.ts';

/** The statements of a module. Throws a syntax error at the first mistake. */
export function parseFile(source: string, place: SourcePlace): readonly Statement[] {
  return new Parser(new Scanner(source, place)).file();
}

/** One expression, or a bare tuple, and nothing behind it. */
export function parseExpression(source: string, place: SourcePlace): Expression {
  return new Parser(new Scanner(source, place)).only();
}

class Parser extends ExpressionParser {
  file(): readonly Statement[] {
    const statements: Statement[] = [];
    while (!this.at('end of file')) {
      if (this.at('newline')) this.next();
      else statements.push(...this.statement());
    }
    return statements;
  }

  only(): Expression {
    const expression = this.expression(false);
    if (this.at('newline')) this.next();
    if (!this.at('end of file'))
      this.fail(`got ${describeToken(this.token.kind)} after expression, want EOF`);
    return expression;
  }

  private statement(): readonly Statement[] {
    switch (this.token.kind) {
      case 'def':
        return [this.nested(() => this.def())];
      case 'if':
        return [this.nested(() => this.if())];
      case 'for':
        return [this.nested(() => this.for())];
      case 'while':
        return [this.nested(() => this.while())];
      default:
        return this.simple();
    }
  }

  private def(): Statement {
    const position = this.next();
    const name = this.name();
    this.consume('(');
    const parameters = this.parameters();
    this.consume(')');
    const body = this.suite();
    return {
      kind: 'def',
      name,
      definition: { name: name.name, position, parameters, body, scope: null },
      position,
    };
  }

  private if(): Statement {
    const arms: IfArm[] = [];
    do {
      const position = this.next();
      arms.push({ position, condition: this.test(), body: this.suite() });
    } while (this.at('elif'));
    if (!this.at('else')) return { kind: 'if', arms, otherwise: [] };
    this.next();
    return { kind: 'if', arms, otherwise: this.suite() };
  }

  private for(): Statement {
    const position = this.next();
    const target = this.loopTarget();
    this.consume('in');
    const iterable = this.expression(false);
    return { kind: 'for', target, iterable, body: this.suite(), position };
  }

  private while(): Statement {
    const position = this.next();
    return { kind: 'while', position, condition: this.test(), body: this.suite() };
  }

  /** What follows a colon: an indented block, or statements on the same line. */
  private suite(): readonly Statement[] {
    this.consume(':');
    if (!this.at('newline')) return this.simple();
    this.next();
    this.consume('indent');
    const statements: Statement[] = [];
    while (!this.at('outdent', 'end of file')) statements.push(...this.statement());
    this.consume('outdent');
    return statements;
  }

  private simple(): readonly Statement[] {
    const statements = [this.small()];
    while (this.at(';')) {
      this.next();
      if (this.at('newline', 'end of file')) break;
      statements.push(this.small());
    }
    if (!this.at('end of file')) this.consume('newline');
    return statements;
  }

  private small(): Statement {
    const { kind, position } = this.token;
    switch (kind) {
      case 'return':
        this.next();
        return {
          kind,
          position,
          value: this.at('end of file', 'newline', ';') ? null : this.expression(false),
        };
      case 'break':
      case 'continue':
      case 'pass':
        this.next();
        return { kind: 'branch', word: kind, position };
      case 'load':
        return this.load();
      default:
        return this.expressionOrAssignment();
    }
  }

  private expressionOrAssignment(): Statement {
    const target = this.expression(false);
    const { kind } = this.token;
    if (!ASSIGNMENTS.has(kind)) return { kind: 'expression', value: target };
    const position = this.next();
    const operator = kind === '=' ? kind : kind.slice(0, -1);
    return { kind: 'assign', operator, target, value: this.expression(false), position };
  }

  private load(): Statement {
    const position = this.next();
    const open = this.consume('(');
    if (!this.at('string literal'))
      this.fail('first operand of load statement must be a string literal');
    this.next();
    const names: LoadedName[] = [];
    while (!this.at(')', 'end of file')) {
      this.consume(',');
      if (this.at(')')) break;
      names.push(this.loadedName());
    }
    this.consume(')');
    if (names.length === 0) this.fail('load statement must import at least 1 symbol', open);
    return { kind: 'load', names, position };
  }

  private loadedName(): LoadedName {
    if (this.at('string literal')) {
      const name = this.quotedName();
      return { local: name, original: name };
    }
    if (!this.at('identifier'))
      this.fail(
        `load operand must be "name" or localname="name" (got ${describeToken(this.token.kind)})`,
      );
    const local = this.name();
    const { name } = local;
    if (!this.at('='))
      this.fail(
        `load operand must be "${name}" or ${name}="originalname" (want '=' after ${name})`,
      );
    this.next();
    if (!this.at('string literal'))
      this.fail(`original name of loaded symbol must be quoted: ${name}="originalname"`);
    return { local, original: this.quotedName() };
  }

  private quotedName(): NameNode {
    const name = this.text();
    // The name begins behind its quote.
    const start: Position = this.next() + 1;
    return { kind: 'name', name, start, depth: 1, binding: null };
  }
}
