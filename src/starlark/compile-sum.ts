// Sums. `a + b + c` is one node, and literals that stand beside one another are joined when
// compiled.

import type { BinaryNode, Expression } from './ast.ts';
import type { Compiler, Evaluate } from './code.ts';
import { unparenthesised } from './cursor.ts';
import { binary } from './operators.ts';
import type { Frame, Value } from './values.ts';
import type { Position } from './position.ts';

const MAX = Number.MAX_SAFE_INTEGER;

interface Summand {
  readonly node: Expression;
  readonly position: Position;
}

export function compileSum(compiler: Compiler, node: BinaryNode): Evaluate {
  const [first, ...others] = joinLiterals(summands(node));
  if (first === undefined) throw new Error('a sum has summands');
  let sum = compiler.expression(first.node);
  for (const { node: summand, position } of others) {
    const right = compiler.expression(summand);
    sum = add(sum, right, compiler.emit(position));
  }
  return sum;
}

/** The operands of a chain of `+`, in order. */
function summands(node: BinaryNode): readonly Summand[] {
  const found: Summand[] = [];
  let left: Expression = node;
  while (left.kind === 'binary' && left.operator === '+') {
    found.push({ node: unparenthesised(left.right), position: left.position });
    left = unparenthesised(left.left);
  }
  found.push({ node: left, position: left.start });
  return found.reverse();
}

function joinLiterals(all: readonly Summand[]): readonly Summand[] {
  const joined: Summand[] = [];
  for (const summand of all) {
    const last = joined.at(-1);
    const node = last === undefined ? undefined : sumOf(last.node, summand.node);
    if (last === undefined || node === undefined) joined.push(summand);
    else joined[joined.length - 1] = { node, position: last.position };
  }
  return joined;
}

/** Two strings, two lists or two tuples as one literal. */
function sumOf(x: Expression, y: Expression): Expression | undefined {
  if (x.kind === 'literal' && y.kind === 'literal')
    return typeof x.value === 'string' && typeof y.value === 'string'
      ? { ...x, value: x.value + y.value }
      : undefined;
  if ((x.kind === 'list' || x.kind === 'tuple') && (y.kind === 'list' || y.kind === 'tuple'))
    return x.kind === y.kind ? { ...x, items: [...x.items, ...y.items] } : undefined;
  return undefined;
}

/** `left + right`. */
export function add(left: Evaluate, right: Evaluate, position: Position): Evaluate {
  return (frame) => addValues(frame, position, left(frame), right(frame));
}

function addValues(frame: Frame, position: Position, x: Value, y: Value): Value {
  if (typeof x === 'number' && typeof y === 'number') {
    const z = x + y;
    if (z <= MAX && z >= -MAX) return z;
  }
  frame.position = position;
  if (typeof x === 'string' && typeof y === 'string') {
    frame.thread.account(x.length + y.length);
    return x + y;
  }
  return binary(frame.thread, '+', x, y);
}
