// Expressions: operators, conditionals and lambdas.

import type { Expression, Parameter } from './ast.ts';
import { PrimaryParser } from './parse-primary.ts';
import {
  COMPARISON_PRECEDENCE,
  describeToken,
  NOT_PRECEDENCE,
  precedenceOf,
  type TokenKind,
} from './tokens.ts';

export class ExpressionParser extends PrimaryParser {
  override test(): Expression {
    return this.nested(() => {
      if (this.at('lambda')) return this.lambda(() => this.test());
      const yes = this.operation(0);
      return this.at('if') ? this.conditional(yes) : yes;
    });
  }

  protected override testWithoutConditional(): Expression {
    return this.at('lambda')
      ? this.lambda(() => this.nested(() => this.testWithoutConditional()))
      : this.operation(0);
  }

  protected override operation(precedence: number): Expression {
    let left = this.operand(precedence);
    let last = -1;
    for (;;) {
      const operator = this.operator();
      const own = precedenceOf(operator);
      if (own < precedence) return left;
      if (own === COMPARISON_PRECEDENCE && last === own && left.kind === 'binary')
        this.fail(`${left.operator} does not associate with ${operator} (use parens)`);
      const position = this.next();
      const right = this.nested(() => this.operation(own + 1));
      left = {
        kind: 'binary',
        operator,
        left,
        right,
        position,
        start: left.start,
        depth: this.depthOver(left, right),
      };
      last = own;
    }
  }

  /** `(a, b=1, *args, c, **kwargs)` without its parentheses. */
  protected parameters(): readonly Parameter[] {
    const parameters: Parameter[] = [];
    while (!this.at(')', ':', 'end of file')) {
      if (parameters.length > 0) this.consume(',');
      if (this.at(')')) break;
      parameters.push(this.parameter());
    }
    return parameters;
  }

  private parameter(): Parameter {
    const { kind, position } = this.token;
    if (kind === '*' || kind === '**') {
      this.next();
      const name = kind === '**' || this.at('identifier') ? this.name() : null;
      return { kind, name, fallback: null, position };
    }
    const name = this.name();
    if (!this.at('=')) return { kind: 'plain', name, fallback: null, position };
    return { kind: 'plain', name, position: this.next(), fallback: this.test() };
  }

  private operand(precedence: number): Expression {
    if (!this.at('not') || precedence > NOT_PRECEDENCE) return this.primaryWithSuffix();
    const position = this.next();
    const operand = this.nested(() => this.operation(NOT_PRECEDENCE));
    return {
      kind: 'unary',
      operator: 'not',
      operand,
      position,
      start: position,
      depth: this.depthOver(operand),
    };
  }

  /** The operator ahead; `not in` is one, and only the `in` is left to go over. */
  private operator(): TokenKind {
    if (!this.at('not')) return this.token.kind;
    this.next();
    if (!this.at('in')) this.fail(`got ${describeToken(this.token.kind)}, want in`);
    this.token = { ...this.token, kind: 'not in' };
    return 'not in';
  }

  private conditional(yes: Expression): Expression {
    const position = this.next();
    const condition = this.operation(0);
    if (!this.at('else')) this.fail('conditional expression without else clause', position);
    this.next();
    const no = this.test();
    return {
      kind: 'conditional',
      condition,
      yes,
      no,
      start: yes.start,
      depth: this.depthOver(condition, yes, no),
    };
  }

  private lambda(body: () => Expression): Expression {
    const position = this.next();
    const parameters = this.parameters();
    this.consume(':');
    const value = body();
    const definition = {
      name: 'lambda',
      position,
      parameters,
      body: [{ kind: 'return', value, position } as const],
      scope: null,
    };
    return {
      kind: 'lambda',
      definition,
      start: position,
      depth: this.depthOver(value, ...parameters.map(({ fallback }) => fallback)),
    };
  }
}
