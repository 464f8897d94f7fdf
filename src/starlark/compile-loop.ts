// Loops, as `for` statements and comprehensions run them.

import {
  type Assign,
  BREAK,
  type Completion,
  type Evaluate,
  type Execute,
  NORMAL,
  RETURN,
} from './code.ts';
import { iterateOrThrow } from './iterate.ts';
import { type Frame, List, Range, type Value } from './values.ts';
import type { Position } from './position.ts';

/**
 * What a loop does with each element: into a plain slot when `slot` is not -1, otherwise through
 * `assign`.
 */
export interface LoopBody {
  readonly slot: number;
  readonly assign: Assign;
  readonly body: Execute;
}

export function compileLoop(iterable: Evaluate, loop: LoopBody, position: Position): Execute {
  return (frame) => {
    const value = iterable(frame);
    if (value instanceof Range) return overRange(frame, value, loop);
    if (value instanceof List) return overList(frame, value, loop);
    frame.position = position;
    return overOthers(frame, value, loop);
  };
}

function overRange(
  frame: Frame,
  { start, step, length }: Range,
  { slot, assign, body }: LoopBody,
): Completion {
  const { slots, thread } = frame;
  for (let index = 0; index < length; index++) {
    if (++thread.steps > thread.maxSteps) thread.outOfSteps();
    if (slot >= 0) slots[slot] = start + step * index;
    else assign(frame, start + step * index);
    const completion = body(frame);
    if (completion >= BREAK) return completion === RETURN ? RETURN : NORMAL;
  }
  return NORMAL;
}

function overList(frame: Frame, list: List, { slot, assign, body }: LoopBody): Completion {
  const { slots, thread } = frame;
  const { items } = list;
  // A list that was frozen before the loop is not locked, and not unlocked either.
  const lock = list.frozen ? 0 : 1;
  list.iterators += lock;
  try {
    for (let index = 0; index < items.length; index++) {
      if (++thread.steps > thread.maxSteps) thread.outOfSteps();
      // Below the length there is an element.
      if (slot >= 0) slots[slot] = items[index];
      else assign(frame, items[index] as Value);
      const completion = body(frame);
      if (completion >= BREAK) return completion === RETURN ? RETURN : NORMAL;
    }
    return NORMAL;
  } finally {
    list.iterators -= lock;
  }
}

function overOthers(frame: Frame, iterable: Value, { assign, body }: LoopBody): Completion {
  const { thread } = frame;
  const iterator = iterateOrThrow(iterable);
  try {
    for (let value = iterator.next(); value !== undefined; value = iterator.next()) {
      if (++thread.steps > thread.maxSteps) thread.outOfSteps();
      assign(frame, value);
      const completion = body(frame);
      if (completion >= BREAK) return completion === RETURN ? RETURN : NORMAL;
    }
    return NORMAL;
  } finally {
    iterator.done();
  }
}
