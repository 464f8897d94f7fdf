// Functions: a body compiled once, and the closures that `def` and `lambda` make of it.

import type { Binding, Definition, Expression, FunctionScope, Statement } from './ast.ts';
import { type Assign, type Compiler, type Evaluate, type Execute, RETURN } from './code.ts';
import { compileTarget } from './compile-assign.ts';
import { compileExpression } from './compile-expression.ts';
import { compileBlock } from './compile-statement.ts';
import { OBJECT_BYTES, type Signature, SLOT_BYTES } from './thread.ts';
import { type Cell, type Frame, FunctionCode, StarlarkFunction, type Value } from './values.ts';
import type { Position } from './position.ts';

/** What is the same for all functions of a program. */
interface CompileContext {
  readonly file: string;
  readonly universe: ReadonlyMap<string, Value>;
}

/** What is compiled: a module, an expression, or a function. */
interface Compilable {
  readonly name: string;
  readonly position: Position;
  readonly parameters: Definition['parameters'];
  readonly body: readonly Statement[];
  readonly scope: FunctionScope;
}

export function compileCode(context: CompileContext, source: Compilable): FunctionCode {
  const compiler = new FunctionCompiler(context, parameterCount(source.scope, source.parameters));
  const body = compiler.body(source.body);
  return new FunctionCode(signatureOf(context, source, compiler.first ?? source.position), body);
}

function parameterCount(
  { hasVarargs, hasKwargs }: FunctionScope,
  parameters: Definition['parameters'],
): number {
  return (
    parameters.filter(({ kind }) => kind === 'plain').length +
    Number(hasVarargs) +
    Number(hasKwargs)
  );
}

function signatureOf(
  { file }: CompileContext,
  { name, parameters, scope }: Compilable,
  position: Position,
): Signature {
  const { locals, keywordOnlyCount, hasVarargs, hasKwargs } = scope;
  const count = parameterCount(scope, parameters);
  const plain = parameters.filter(({ kind }) => kind === 'plain');
  const positionalCount = plain.length - keywordOnlyCount;
  return {
    name,
    file,
    position,
    parameters: locals.slice(0, count).map(({ first }) => first.name),
    positionalCount,
    keywordOnlyCount,
    hasVarargs,
    hasKwargs,
    defaultCount: plain.slice(0, positionalCount).filter(({ fallback }) => fallback !== null)
      .length,
    slotCount: locals.length,
    cellSlots: locals.flatMap((binding, slot) => (binding.scope === 'cell' ? [slot] : [])),
  };
}

class FunctionCompiler implements Compiler {
  readonly file: string;
  readonly parameterCount: number;
  /** The place of the first operation, if it has one. */
  first: Position | undefined;
  private hasBegun = false;
  private last: Position = 0;
  private expected: Position | undefined;
  /**
   * The last places of what was moved behind all that follows, the first moved first: it comes to
   * stand last. `0` has none.
   */
  private moved: Position[] = [];
  private readonly context: CompileContext;

  constructor(context: CompileContext, count: number) {
    this.file = context.file;
    this.parameterCount = count;
    this.context = context;
  }

  /** The whole body; one that only returns an expression is that expression. */
  body(statements: readonly Statement[]): Evaluate {
    const [only] = statements;
    if (statements.length === 1 && only?.kind === 'return' && only.value !== null)
      return this.expression(only.value);
    const block = this.block(statements);
    return (frame) => {
      if (block(frame) !== RETURN) return null;
      const { result } = frame;
      frame.result = null;
      return result;
    };
  }

  expression(node: Expression): Evaluate {
    return compileExpression(this, node);
  }

  block(statements: readonly Statement[]): Execute {
    return compileBlock(this, statements);
  }

  target(node: Expression, position: Position): Assign {
    return compileTarget(this, node, position);
  }

  universal(name: string): Value {
    const value = this.context.universe.get(name);
    if (value === undefined) throw new Error(`no universal ${name}`);
    return value;
  }

  emit(position = this.expected): Position {
    this.expected = undefined;
    if (!this.hasBegun) this.first = position;
    this.hasBegun = true;
    if (position !== undefined) this.last = position;
    return this.last;
  }

  expect(position: Position): void {
    this.expected = position;
  }

  fork(next: () => void, other: () => void): void {
    const { moved } = this;
    // What is moved in `next` comes to stand before `other`.
    const index = moved.push(0) - 1;
    next();
    const { last } = this;
    this.last = 0;
    this.looped(other);
    moved[index] = this.last;
    this.last = last;
  }

  looped<T>(compile: () => T): T {
    const { moved } = this;
    this.moved = [];
    const compiled = compile();
    this.last = this.moved.find((end) => end !== 0) ?? this.last;
    this.moved = moved;
    return compiled;
  }

  definition(definition: Definition): Evaluate {
    const { scope, parameters } = definition;
    if (scope === null) throw new Error(`unresolved function ${definition.name}`);
    this.expect(definition.position);
    const defaults = parameters
      .filter(({ kind }) => kind === 'plain')
      .map(({ fallback }) => (fallback === null ? undefined : this.expression(fallback)));
    this.emit();
    const code = compileCode(this.context, { ...definition, scope });
    const captures = scope.free.map(capture);
    const bytes = OBJECT_BYTES + (defaults.length + captures.length) * SLOT_BYTES;
    return (frame) => {
      frame.thread.account(bytes);
      const values = defaults.map((fallback) => fallback?.(frame));
      return new StarlarkFunction(
        code,
        frame.globals,
        values,
        captures.map((cellIn) => cellIn(frame)),
      );
    };
  }
}

/**
 * The cell of an enclosing function's variable: its own, or one that it has from outside itself.
 */
function capture({ scope, index }: Binding): (frame: Frame) => Cell {
  // Slots of shared locals hold cells from the start of a call.
  return scope === 'free'
    ? (frame) => frame.cells[index] as Cell
    : (frame) => frame.slots[index] as Cell;
}
