// Conditions of expressions and comprehensions, compiled in the order in which the native
// interpreter lays out what depends on them.

import type { BinaryNode, Expression } from './ast.ts';
import type { Compiler, Evaluate } from './code.ts';
import type { Frame } from './values.ts';
import { truth } from './kinds.ts';

type Test = (frame: Frame) => boolean;

/**
 * Where a condition leads to. It is compiled once, where it is laid out; whoever leads there later
 * only jumps.
 */
interface Branch {
  readonly isPlaced: boolean;
  readonly place: () => void;
}

/** The next turn of a loop: its head stands before all that leads there. */
export const NEXT_TURN: Branch = Object.freeze({ isPlaced: true, place: () => {} });

export function branch<T extends object>(compile: () => T): Branch & { compiled(): T } {
  let made: T | undefined;
  return {
    get isPlaced() {
      return made !== undefined;
    },
    place() {
      made ??= compile();
    },
    compiled: () => (made ??= compile()),
  };
}

export function compileConditional(
  compiler: Compiler,
  node: Extract<Expression, { kind: 'conditional' }>,
): Evaluate {
  const yes = branch(() => compiler.expression(node.yes));
  const no = branch(() => compiler.expression(node.no));
  const test = compileCondition(compiler, node.condition, yes, no);
  const [then, otherwise] = [yes.compiled(), no.compiled()];
  return (frame) => (test(frame) ? then(frame) : otherwise(frame));
}

/** Compiles a condition and both of its branches. */
export function compileCondition(
  compiler: Compiler,
  node: Expression,
  yes: Branch,
  no: Branch,
): Test {
  if (node.kind === 'unary' && node.operator === 'not') {
    const test = compileCondition(compiler, node.operand, no, yes);
    return (frame) => !test(frame);
  }
  if (node.kind === 'binary' && (node.operator === 'and' || node.operator === 'or'))
    return compileBoth(compiler, node, yes, no);
  const value = compiler.expression(node);
  const isTurned = node.kind === 'binary' && node.operator === 'not in';
  if (isTurned) lead(compiler, yes, no);
  else lead(compiler, no, yes);
  return (frame) => truth(value(frame));
}

function compileBoth(
  compiler: Compiler,
  { operator, left, right }: BinaryNode,
  yes: Branch,
  no: Branch,
): Test {
  const first = compiler.expression(left);
  const rest = branch(() => compileCondition(compiler, right, yes, no));
  if (operator === 'and') lead(compiler, no, rest);
  else lead(compiler, rest, yes);
  const second = rest.compiled();
  return operator === 'and'
    ? (frame) => truth(first(frame)) && second(frame)
    : (frame) => truth(first(frame)) || second(frame);
}

/**
 * What is gone on with stands next, and the other way behind all that follows it, unless the next
 * stands somewhere already.
 */
function lead(compiler: Compiler, next: Branch, other: Branch): void {
  if (next.isPlaced) return other.place();
  compiler.fork(next.place, other.place);
}
