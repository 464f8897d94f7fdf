// What the parts of the compiler share: the shapes of compiled code, and the compiler as each part
// sees it.

import type { Definition, Expression, Statement } from './ast.ts';
import type { Frame, Value } from './values.ts';
import type { Position } from './position.ts';

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;

/** How a statement ended. A returned value is in the frame. */
export type Completion = 0 | 1 | 2 | 3;
export const NORMAL = 0;
export const CONTINUE = 1;
export const BREAK = 2;
export const RETURN = 3;

/** A compiled statement. */
export type Execute = (frame: Frame) => Completion;

/** A compiled target of an assignment. */
export type Assign = (frame: Frame, value: Value) => void;

/** The compiler of one function's body. Parts call one another through it. */
export interface Compiler {
  readonly file: string;
  /** How many slots always hold a value: parameters do. */
  readonly parameterCount: number;
  expression(node: Expression): Evaluate;
  block(statements: readonly Statement[]): Execute;
  target(node: Expression, position: Position): Assign;
  definition(definition: Definition): Evaluate;
  universal(name: string): Value;
  /**
   * Notes that an operation stands here in the order of evaluation, and answers the place that its
   * errors have: the given one, or that of the last operation that had one.
   */
  emit(position?: Position): Position;
  /** Gives the next operation a place, if it has none of its own. */
  expect(position: Position): void;
  /**
   * Compiles both ways out of a condition. The native interpreter goes on with `next` and moves
   * `other` behind all that follows: an operation without a place has that of the last one before
   * it as they are laid out, and not as they are written.
   */
  fork(next: () => void, other: () => void): void;
  /**
   * Compiles the body of a loop, which is laid out as a whole, what is moved in it last, before
   * what follows the loop.
   */
  looped<T>(compile: () => T): T;
}
