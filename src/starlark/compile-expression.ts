// Expressions: each node to the part of the compiler that knows it.

import type {
  Clause,
  ComprehensionNode,
  DictNode,
  Expression,
  IndexNode,
  SequenceNode,
  SliceNode,
} from './ast.ts';
import { getAttribute } from './attributes.ts';
import { type Compiler, type Evaluate, type Execute, NORMAL } from './code.ts';
import { compileCall } from './compile-call.ts';
import { branch, compileCondition, compileConditional, NEXT_TURN } from './compile-condition.ts';
import { compileRead, localSlot } from './compile-names.ts';
import { compileBinary, compileUnary } from './compile-operators.ts';
import { getIndex, slice } from './indexing.ts';
import { Dict, type Frame, List, Tuple, type Value } from './values.ts';
import { compileLoop } from './compile-statement.ts';
import { StarlarkError } from './errors.ts';
import { dictSet } from './keys.ts';
import { repr } from './repr.ts';
import { OBJECT_BYTES, SLOT_BYTES } from './thread.ts';

export function compileExpression(compiler: Compiler, node: Expression): Evaluate {
  switch (node.kind) {
    case 'name':
      return compileRead(compiler, node);
    case 'literal': {
      compiler.emit();
      const { value } = node;
      return () => value;
    }
    case 'list':
    case 'tuple':
      return compileSequence(compiler, node);
    case 'dict':
      return compileDict(compiler, node);
    case 'comprehension':
      return compileComprehension(compiler, node);
    case 'conditional':
      return compileConditional(compiler, node);
    case 'index':
      return compileIndex(compiler, node);
    case 'slice':
      return compileSlice(compiler, node);
    case 'dot':
      return compileDot(compiler, node);
    case 'call':
      return compileCall(compiler, node);
    case 'unary':
      return compileUnary(compiler, node);
    case 'binary':
      return compileBinary(compiler, node);
    case 'lambda':
      return compiler.definition(node.definition);
    case 'paren':
      return compiler.expression(node.inner);
  }
}

function compileDot(compiler: Compiler, node: Extract<Expression, { kind: 'dot' }>): Evaluate {
  const object = compiler.expression(node.object);
  const position = compiler.emit(node.position);
  const { name } = node;
  return (frame) => {
    const value = object(frame);
    frame.position = position;
    return getAttribute(value, name);
  };
}

function compileIndex(compiler: Compiler, node: IndexNode): Evaluate {
  const object = compiler.expression(node.object);
  const index = compiler.expression(node.index);
  const position = compiler.emit(node.position);
  return (frame) => {
    const x = object(frame);
    const y = index(frame);
    if (typeof y === 'number' && y >= 0 && x instanceof List) {
      const item = x.items[y];
      if (item !== undefined) return item;
    } else if (typeof y === 'string' && x instanceof Dict) {
      const value = x.map.get(y);
      if (value !== undefined) return value;
    }
    frame.position = position;
    return getIndex(frame.thread, x, y);
  };
}

function compileSlice(compiler: Compiler, node: SliceNode): Evaluate {
  compiler.expect(node.position);
  const object = compiler.expression(node.object);
  const [low, high, step] = [node.low, node.high, node.step].map((bound) =>
    compileBound(compiler, bound),
  );
  const position = compiler.emit();
  return (frame) => {
    const value = object(frame);
    const bounds = {
      low: low?.(frame) ?? null,
      high: high?.(frame) ?? null,
      step: step?.(frame) ?? null,
    };
    frame.position = position;
    return slice(frame.thread, value, bounds);
  };
}

function compileBound(compiler: Compiler, bound: Expression | null): Evaluate {
  if (bound !== null) return compiler.expression(bound);
  compiler.emit();
  return () => null;
}

function compileSequence(compiler: Compiler, node: SequenceNode): Evaluate {
  const items = node.items.map((item) => compiler.expression(item));
  compiler.emit();
  const bytes = OBJECT_BYTES + items.length * SLOT_BYTES;
  const [first, second] = items;
  if (node.kind === 'tuple' && items.length === 2 && first !== undefined && second !== undefined)
    return pair(first, second, bytes);
  const make =
    node.kind === 'list'
      ? (values: Value[]) => new List(values)
      : (values: Value[]) => new Tuple(values);
  return (frame) => {
    frame.thread.account(bytes);
    const values: Value[] = [];
    for (const item of items) values.push(item(frame));
    return make(values);
  };
}

function pair(first: Evaluate, second: Evaluate, bytes: number): Evaluate {
  return (frame) => {
    frame.thread.account(bytes);
    const x = first(frame);
    return new Tuple([x, second(frame)]);
  };
}

function compileDict(compiler: Compiler, node: DictNode): Evaluate {
  compiler.emit();
  const entries = node.entries.map((entry) => ({
    key: compiler.expression(entry.key),
    value: compiler.expression(entry.value),
    position: compiler.emit(entry.position),
  }));
  return (frame) => {
    const { thread } = frame;
    thread.account(OBJECT_BYTES);
    const dict = new Dict();
    for (const entry of entries) {
      const key = entry.key(frame);
      const value = entry.value(frame);
      frame.position = entry.position;
      const { size } = dict;
      dictSet(thread, dict, key, value);
      if (dict.size === size) throw new StarlarkError(`duplicate key: ${repr(thread, key)}`);
    }
    return dict;
  };
}

function compileComprehension(compiler: Compiler, node: ComprehensionNode): Evaluate {
  compiler.emit();
  // Comprehensions can be inside one another: what the innermost loop fills is on a stack.
  const filled: (List | Dict)[] = [];
  const collect = compileClauses(compiler, node.clauses, () => compileBody(compiler, node, filled));
  const isDict = 'entry' in node.body;
  return (frame) => {
    frame.thread.account(OBJECT_BYTES);
    const made = isDict ? new Dict() : new List([]);
    return fill(frame, made, filled, collect);
  };
}

/**
 * The function may be running in another thread, or have ended in an error: each run has an entry
 * of its own.
 */
function fill(frame: Frame, made: List | Dict, filled: (List | Dict)[], collect: Execute): Value {
  filled.push(made);
  try {
    collect(frame);
  } finally {
    filled.pop();
  }
  return made;
}

/**
 * Loops and conditions, the first outermost; the body is compiled last, as it is evaluated last.
 */
function compileClauses(
  compiler: Compiler,
  clauses: readonly Clause[],
  body: () => Execute,
): Execute {
  const [clause, ...others] = clauses;
  if (clause === undefined) return body();
  if (clause.kind === 'if') {
    const inner = branch(() => compileClauses(compiler, others, body));
    const test = compileCondition(compiler, clause.condition, inner, NEXT_TURN);
    const then = inner.compiled();
    return (frame) => (test(frame) ? then(frame) : NORMAL);
  }
  const iterable = compiler.expression(clause.iterable);
  const position = compiler.emit(clause.position);
  const slot = (clause.target.kind === 'name' ? localSlot(clause.target) : undefined) ?? -1;
  const turn = compiler.looped(() => ({
    assign: compiler.target(clause.target, clause.position),
    body: compileClauses(compiler, others, body),
  }));
  return compileLoop(iterable, { slot, ...turn }, position);
}

function compileBody(
  compiler: Compiler,
  { body }: ComprehensionNode,
  filled: readonly (List | Dict)[],
): Execute {
  if ('entry' in body) {
    const key = compiler.expression(body.entry.key);
    const value = compiler.expression(body.entry.value);
    const position = compiler.emit(body.entry.position);
    return (frame) => {
      const [k, v] = [key(frame), value(frame)];
      frame.position = position;
      // A dict comprehension fills a dict.
      dictSet(frame.thread, filled[filled.length - 1] as Dict, k, v);
      return NORMAL;
    };
  }
  const element = compiler.expression(body.element);
  compiler.emit();
  return (frame) => {
    const value = element(frame);
    frame.thread.account(SLOT_BYTES);
    // A list comprehension fills a list.
    (filled[filled.length - 1] as List).items.push(value);
    return NORMAL;
  };
}
