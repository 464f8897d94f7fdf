// Primary expressions: names, literals, brackets, and what can follow them.

import type { Argument, Clause, ComprehensionNode, EntryNode, Expression } from './ast.ts';
import { Cursor } from './cursor.ts';
import type { Position } from './position.ts';
import { describeToken } from './tokens.ts';

export abstract class PrimaryParser extends Cursor {
  /** One expression without a bare comma. */
  abstract test(): Expression;
  /** The same without `a if b else c` at its end. */
  protected abstract testWithoutConditional(): Expression;
  /** Operators of at least a precedence. */
  protected abstract operation(precedence: number): Expression;

  /** An expression or a bare tuple. */
  expression(inBrackets: boolean): Expression {
    const first = this.test();
    if (!this.at(',')) return first;
    const items = this.items([first], inBrackets);
    return { kind: 'tuple', items, start: first.start, depth: this.depthOver(...items) };
  }

  /** `x`, `x.f`, `x[i]`, `x(y)`, and chains of them. */
  protected primaryWithSuffix(): Expression {
    let node = this.primary();
    for (;;) {
      if (this.at('.')) node = this.dot(node);
      else if (this.at('[')) node = this.indexOrSlice(node);
      else if (this.at('(')) node = this.call(node);
      else return node;
    }
  }

  /** Where a loop puts its elements; not a full expression, which would take the `in`. */
  protected loopTarget(): Expression {
    const first = this.primaryWithSuffix();
    if (!this.at(',')) return first;
    const items = [first];
    while (this.at(',')) {
      this.next();
      if (this.endsList()) break;
      items.push(this.primaryWithSuffix());
    }
    return { kind: 'tuple', items, start: first.start, depth: this.depthOver(...items) };
  }

  private items(first: readonly Expression[], trailingComma: boolean): readonly Expression[] {
    const items = [...first];
    while (this.at(',')) {
      const position = this.next();
      if (this.endsList()) {
        if (!trailingComma) this.fail('unparenthesized tuple with trailing comma', position);
        break;
      }
      items.push(this.test());
    }
    return items;
  }

  private primary(): Expression {
    const { kind, value, position } = this.token;
    switch (kind) {
      case 'identifier':
        return this.name();
      case 'int literal':
      case 'float literal':
      case 'string literal':
        this.next();
        return { kind: 'literal', value, start: position, depth: 1 };
      case '[':
        return this.nested(() => this.list());
      case '{':
        return this.nested(() => this.dict());
      case '(':
        return this.nested(() => this.paren());
      case '-':
      case '+':
      case '~':
        return this.nested(() => this.sign(kind));
      default:
        return this.fail(`got ${describeToken(kind)}, want primary expression`);
    }
  }

  private sign(operator: string): Expression {
    const position = this.next();
    const operand = this.primaryWithSuffix();
    return {
      kind: 'unary',
      operator,
      operand,
      position,
      start: position,
      depth: this.depthOver(operand),
    };
  }

  private paren(): Expression {
    const start = this.next();
    if (this.at(')')) {
      this.next();
      return { kind: 'tuple', items: [], start, depth: 1 };
    }
    const inner = this.expression(true);
    this.consume(')');
    return { kind: 'paren', inner, start, depth: this.depthOver(inner) };
  }

  private list(): Expression {
    const start = this.next();
    if (this.at(']')) {
      this.next();
      return { kind: 'list', items: [], start, depth: 1 };
    }
    const element = this.test();
    if (this.at('for')) return this.comprehension(start, { element }, ']');
    const items = this.items([element], true);
    this.consume(']');
    return { kind: 'list', items, start, depth: this.depthOver(...items) };
  }

  private dict(): Expression {
    const start = this.next();
    const entries: EntryNode[] = [];
    while (!this.at('}')) {
      const entry = this.entry();
      if (entries.length === 0 && this.at('for')) return this.comprehension(start, { entry }, '}');
      entries.push(entry);
      if (!this.at(',')) break;
      this.next();
    }
    this.consume('}');
    return { kind: 'dict', entries, start, depth: this.depthOver(...entries) };
  }

  private entry(): EntryNode {
    const key = this.test();
    const position = this.consume(':');
    const value = this.test();
    return { key, value, position, start: key.start, depth: this.depthOver(key, value) };
  }

  private comprehension(start: Position, body: ComprehensionNode['body'], end: string): Expression {
    const clauses: Clause[] = [];
    while (!this.at(end)) {
      clauses.push(this.clause(end));
      this.checkDepth(clauses.length);
    }
    this.next();
    const parts = clauses.flatMap((clause) =>
      clause.kind === 'if' ? [clause.condition] : [clause.target, clause.iterable],
    );
    // Each clause is a loop inside the one before it.
    const depth = this.checkDepth(
      this.depthOver('entry' in body ? body.entry : body.element, ...parts) + clauses.length,
    );
    return { kind: 'comprehension', body, clauses, start, depth };
  }

  private clause(end: string): Clause {
    if (this.at('for')) {
      const position = this.next();
      const target = this.loopTarget();
      this.consume('in');
      return { kind: 'for', position, target, iterable: this.operation(0) };
    }
    if (!this.at('if'))
      this.fail(`got ${describeToken(this.token.kind)}, want '${end}', for, or if`);
    this.next();
    return { kind: 'if', condition: this.testWithoutConditional() };
  }

  private dot(object: Expression): Expression {
    const position = this.next();
    const { name } = this.name();
    return {
      kind: 'dot',
      object,
      name,
      position,
      start: object.start,
      depth: this.depthOver(object),
    };
  }

  private indexOrSlice(object: Expression): Expression {
    return this.nested(() => {
      const position = this.next();
      const low = this.at(':') ? null : this.expression(false);
      if (low !== null && this.at(']')) {
        this.next();
        return {
          kind: 'index',
          object,
          index: low,
          position,
          start: object.start,
          depth: this.depthOver(object, low),
        };
      }
      const high = this.sliceBound(':', ']');
      const step = this.sliceBound(']');
      this.consume(']');
      return {
        kind: 'slice',
        object,
        low,
        high,
        step,
        position,
        start: object.start,
        depth: this.depthOver(object, low, high, step),
      };
    });
  }

  private sliceBound(...ends: readonly string[]): Expression | null {
    if (!this.at(':')) return null;
    this.next();
    return this.at(...ends) ? null : this.test();
  }

  private call(callee: Expression): Expression {
    return this.nested(() => {
      const position = this.next();
      const args: Argument[] = [];
      while (!this.at(')', 'end of file')) {
        if (args.length > 0) this.consume(',');
        if (this.at(')')) break;
        args.push(this.argument());
      }
      this.consume(')');
      const depth = this.depthOver(callee, ...args.map(({ value }) => value));
      return { kind: 'call', callee, args, position, start: callee.start, depth };
    });
  }

  private argument(): Argument {
    const { kind, position } = this.token;
    if (kind === '*' || kind === '**') {
      this.next();
      return { kind, name: '', value: this.test(), start: position };
    }
    const value = this.test();
    if (!this.at('=')) return { kind: 'positional', name: '', value, start: value.start };
    if (value.kind !== 'name') this.fail('keyword argument must have form name=expr');
    this.next();
    return { kind: 'named', name: value.name, value: this.test(), start: value.start };
  }
}
