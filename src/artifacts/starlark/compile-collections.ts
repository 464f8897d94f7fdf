// Lists, tuples, dicts and comprehensions.

import type { Clause, ComprehensionNode, DictNode, SequenceNode } from './ast.ts';
import { type Compiler, type Evaluate, type Execute, NORMAL } from './code.ts';
import { branch, compileCondition, NEXT_TURN } from './compile-condition.ts';
import { compileLoop } from './compile-loop.ts';
import { localSlot } from './compile-names.ts';
import { StarlarkError } from './errors.ts';
import type { Frame } from './frame.ts';
import { dictSet } from './keys.ts';
import { repr } from './repr.ts';
import { OBJECT_BYTES, SLOT_BYTES } from './thread.ts';
import { Dict, List, Tuple, type Value } from './values.ts';

export function compileSequence(compiler: Compiler, node: SequenceNode): Evaluate {
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

export function compileDict(compiler: Compiler, node: DictNode): Evaluate {
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

export function compileComprehension(compiler: Compiler, node: ComprehensionNode): Evaluate {
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

/** The function may be running in another thread, or have ended in an error: each run has an entry of its own. */
function fill(frame: Frame, made: List | Dict, filled: (List | Dict)[], collect: Execute): Value {
  filled.push(made);
  try {
    collect(frame);
  } finally {
    filled.pop();
  }
  return made;
}

/** Loops and conditions, the first outermost; the body is compiled last, as it is evaluated last. */
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
