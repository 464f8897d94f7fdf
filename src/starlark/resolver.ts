// Gives each name its meaning and refuses what the dialect does not have.

import type { Argument, Definition, Expression, FunctionScope, Statement } from './ast.ts';
import type { Position } from './position.ts';
import { misplaced, resolveParameters } from './resolve-parameters.ts';
import { type KnownNames, Scopes } from './scopes.ts';

/** What compiling needs to know of a whole module. */
interface Resolved {
  readonly globals: readonly string[];
  readonly moduleScope: FunctionScope;
}

const DOES_NOT = 'this Starlark dialect does not';
const MAX_ARGUMENTS = 255;

/** Resolves a module. Throws the first mistake, with the others in `also`. */
export function resolveFile(statements: readonly Statement[], known: KnownNames): Resolved {
  const resolver = new Resolver(known);
  resolver.statements(statements);
  return resolver.finish();
}

export function resolveExpression(expression: Expression, known: KnownNames): Resolved {
  const resolver = new Resolver(known);
  resolver.expression(expression);
  return resolver.finish();
}

class Resolver {
  private readonly scopes: Scopes;
  private loops = 0;
  private conditionals = 0;

  constructor(known: KnownNames) {
    this.scopes = new Scopes(known);
  }

  finish(): Resolved {
    const { scopes } = this;
    scopes.finish();
    const [first, ...others] = scopes.errors;
    if (first !== undefined) {
      first.also = others;
      throw first;
    }
    return { globals: [...scopes.globals.keys()], moduleScope: scopes.moduleScope };
  }

  statements(statements: readonly Statement[]): void {
    for (const statement of statements) this.statement(statement);
  }

  private fail(position: Position, message: string): void {
    this.scopes.fail(position, message);
  }

  private failAtTop(position: Position, message: string): void {
    if (this.scopes.atTop) this.fail(position, message);
  }

  private statement(statement: Statement): void {
    switch (statement.kind) {
      case 'expression':
        return this.expression(statement.value);
      case 'branch':
        if (this.loops === 0 && statement.word !== 'pass')
          this.fail(statement.position, `${statement.word} not in a loop`);
        return;
      case 'return':
        this.failAtTop(statement.position, 'return statement not within a function');
        if (statement.value !== null) this.expression(statement.value);
        return;
      case 'assign':
        this.expression(statement.value);
        return this.target(statement.target, statement.operator !== '=');
      case 'def':
        this.scopes.bind(statement.name);
        return this.definition(statement.definition);
      case 'load':
        return this.load(statement);
      case 'if':
      case 'for':
      case 'while':
        return this.compound(statement);
    }
  }

  private compound(statement: Extract<Statement, { kind: 'if' | 'for' | 'while' }>): void {
    if (statement.kind === 'if') {
      this.conditional(statement);
      return;
    }
    if (statement.kind === 'for') {
      this.failAtTop(statement.position, 'for loop not within a function');
      this.expression(statement.iterable);
      this.target(statement.target, false);
    } else {
      this.fail(statement.position, `${DOES_NOT} support while loops`);
      this.failAtTop(statement.position, 'while loop not within a function');
      this.expression(statement.condition);
    }
    this.loops++;
    this.statements(statement.body);
    this.loops--;
  }

  private conditional(statement: Extract<Statement, { kind: 'if' }>): void {
    for (const { position, condition, body } of statement.arms) {
      this.failAtTop(position, 'if statement not within a function');
      this.expression(condition);
      this.conditionals++;
      this.statements(body);
    }
    this.statements(statement.otherwise);
    this.conditionals -= statement.arms.length;
  }

  private load({ position, names }: Extract<Statement, { kind: 'load' }>): void {
    if (!this.scopes.atTop) this.fail(position, 'load statement within a function');
    else if (this.loops > 0) this.fail(position, 'load statement within a loop');
    else if (this.conditionals > 0) this.fail(position, 'load statement within a conditional');
    else this.fail(position, `${DOES_NOT} support load statements`);
    for (const { local, original } of names) {
      if (original.name === '') this.fail(original.start, 'load: empty identifier');
      else {
        if (original.name.startsWith('_'))
          this.fail(
            original.start,
            `load: names with leading underscores are not exported: ${original.name}`,
          );
        if (this.scopes.bindLocal(local))
          this.fail(local.start, `cannot reassign top-level ${local.name}`);
      }
    }
  }

  private target(target: Expression, augmented: boolean): void {
    if (target.kind === 'name') this.scopes.bind(target);
    else if (target.kind === 'index') this.all([target.object, target.index]);
    else if (target.kind === 'dot') this.expression(target.object);
    else if (target.kind === 'paren') this.target(target.inner, augmented);
    else if (target.kind === 'list' || target.kind === 'tuple') {
      if (augmented)
        this.fail(target.start, `can't use ${target.kind} expression in augmented assignment`);
      for (const item of target.items) this.target(item, augmented);
    } else this.fail(target.start, `can't assign to ${KIND_NAMES[target.kind]}`);
  }

  expression(node: Expression): void {
    switch (node.kind) {
      case 'name':
        return this.scopes.use(node);
      case 'literal':
        return;
      case 'list':
      case 'tuple':
        return this.all(node.items);
      case 'dict':
        for (const { key, value } of node.entries) this.all([key, value]);
        return;
      case 'comprehension':
        return this.comprehension(node);
      case 'conditional':
        return this.all([node.condition, node.yes, node.no]);
      case 'index':
        return this.all([node.object, node.index]);
      case 'slice':
        return this.all([node.object, node.low, node.high, node.step]);
      case 'dot':
        return this.expression(node.object);
      case 'call':
        this.expression(node.callee);
        return this.args(node.args, node.start);
      case 'unary':
        return this.expression(node.operand);
      case 'binary':
        return this.all([node.left, node.right]);
      case 'lambda':
        return this.definition(node.definition);
      case 'paren':
        return this.expression(node.inner);
    }
  }

  private all(nodes: readonly (Expression | null)[]): void {
    for (const node of nodes) if (node !== null) this.expression(node);
  }

  /** The first loop's operand belongs to the outer block: consider `[x for x in x]`. */
  private comprehension({ clauses, body }: Extract<Expression, { kind: 'comprehension' }>): void {
    const [first, ...others] = clauses;
    if (first?.kind !== 'for') return;
    this.expression(first.iterable);
    this.scopes.inside(null, () => {
      this.target(first.target, false);
      for (const clause of others) {
        if (clause.kind === 'for') {
          this.target(clause.target, false);
          this.expression(clause.iterable);
        } else this.expression(clause.condition);
      }
      if ('entry' in body) this.all([body.entry.key, body.entry.value]);
      else this.expression(body.element);
    });
  }

  private args(args: readonly Argument[], start: Position): void {
    const seen = { star: false, doubleStar: false, names: new Set<string>() };
    for (const argument of args) {
      const problem = misplaced(argument, seen);
      if (problem !== undefined) this.fail(argument.start, problem);
      seen.star ||= argument.kind === '*';
      seen.doubleStar ||= argument.kind === '**';
      if (argument.kind === 'named') {
        if (seen.names.has(argument.name))
          this.fail(argument.start, `keyword argument ${argument.name} repeated`);
        seen.names.add(argument.name);
      }
      this.expression(argument.value);
    }
    for (const kind of ['positional', 'named'] as const) {
      const count = args.filter((argument) => argument.kind === kind).length;
      const word = kind === 'named' ? 'keyword' : kind;
      if (count > MAX_ARGUMENTS)
        this.fail(start, `${count} ${word} arguments in call, limit is ${MAX_ARGUMENTS}`);
    }
  }

  private definition(definition: Definition): void {
    for (const { fallback } of definition.parameters)
      if (fallback !== null) this.expression(fallback);
    const scope: FunctionScope = {
      locals: [],
      free: [],
      keywordOnlyCount: 0,
      hasVarargs: false,
      hasKwargs: false,
    };
    definition.scope = scope;
    this.scopes.inside(scope, () => {
      resolveParameters(this.scopes, definition.parameters, scope);
      this.statements(definition.body);
    });
  }
}

/** Kinds of expression as messages name them. */
const KIND_NAMES: Readonly<Record<Expression['kind'], string>> = {
  name: 'ident',
  literal: 'literal',
  list: 'listexpr',
  tuple: 'tupleexpr',
  dict: 'dictexpr',
  comprehension: 'comprehension',
  conditional: 'condexpr',
  index: 'indexexpr',
  slice: 'sliceexpr',
  dot: 'dotexpr',
  call: 'callexpr',
  unary: 'unaryexpr',
  binary: 'binaryexpr',
  lambda: 'lambdaexpr',
  paren: 'parenexpr',
};
