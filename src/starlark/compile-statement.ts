// Statements, and loops as `for` statements and comprehensions run them.

import type { Statement } from './ast.ts';
import {
  type Assign,
  BREAK,
  type Compiler,
  type Completion,
  CONTINUE,
  type Evaluate,
  type Execute,
  NORMAL,
  RETURN,
} from './code.ts';
import { compileAssignment } from './compile-assign.ts';
import { localSlot } from './compile-names.ts';
import { truth } from './kinds.ts';
import { iterateOrThrow } from './iterate.ts';
import { type Frame, List, Range, type Value } from './values.ts';
import type { Position } from './position.ts';

/** Statements one after the other, until one does not end normally. */
export function compileBlock(compiler: Compiler, statements: readonly Statement[]): Execute {
  const compiled = statements
    .map((statement) => compileStatement(compiler, statement))
    .filter((execute) => execute !== undefined);
  const [first, second, third] = compiled;
  if (first === undefined) return () => NORMAL;
  if (second === undefined) return first;
  if (third === undefined) return (frame) => first(frame) || second(frame);
  if (compiled.length === 3) return (frame) => first(frame) || second(frame) || third(frame);
  return (frame) => {
    for (let index = 0; index < compiled.length; index++) {
      const completion = compiled[index]?.(frame) ?? NORMAL;
      if (completion !== NORMAL) return completion;
    }
    return NORMAL;
  };
}

/** Undefined for what does nothing. */
function compileStatement(compiler: Compiler, statement: Statement): Execute | undefined {
  switch (statement.kind) {
    case 'expression': {
      if (statement.value.kind === 'literal') return undefined;
      const value = compiler.expression(statement.value);
      compiler.emit();
      return (frame) => {
        value(frame);
        return NORMAL;
      };
    }
    case 'branch':
      return compileBranch(statement.word);
    case 'return':
      return compileReturn(
        statement.value === null ? undefined : compiler.expression(statement.value),
      );
    case 'assign':
      return compileAssignment(compiler, statement);
    case 'if':
      return compileIf(compiler, statement);
    case 'for':
      return compileFor(compiler, statement);
    case 'def': {
      const make = compiler.definition(statement.definition);
      const assign = compiler.target(statement.name, statement.position);
      return (frame) => {
        assign(frame, make(frame));
        return NORMAL;
      };
    }
    case 'while':
    case 'load':
      throw new Error(`${statement.kind} is refused by the resolver`);
  }
}

function compileBranch(word: 'break' | 'continue' | 'pass'): Execute | undefined {
  if (word === 'pass') return undefined;
  const completion: Completion = word === 'break' ? BREAK : CONTINUE;
  return () => completion;
}

function compileReturn(value: Evaluate | undefined): Execute {
  if (value === undefined)
    return (frame) => {
      frame.result = null;
      return RETURN;
    };
  return (frame) => {
    frame.result = value(frame);
    return RETURN;
  };
}

function compileIf(compiler: Compiler, statement: Extract<Statement, { kind: 'if' }>): Execute {
  const arms = statement.arms.map(({ condition, body }) => ({
    condition: compiler.expression(condition),
    body: compiler.block(body),
  }));
  const otherwise = compiler.block(statement.otherwise);
  return arms.reduceRight<Execute>(
    (no, { condition, body }) => choose(condition, body, no),
    otherwise,
  );
}

function choose(condition: Evaluate, yes: Execute, no: Execute): Execute {
  return (frame) => {
    const value = condition(frame);
    return value === true || (value !== false && truth(value)) ? yes(frame) : no(frame);
  };
}

function compileFor(compiler: Compiler, statement: Extract<Statement, { kind: 'for' }>): Execute {
  const iterable = compiler.expression(statement.iterable);
  const position = compiler.emit(statement.position);
  const assign = compiler.target(statement.target, statement.position);
  const slot = (statement.target.kind === 'name' ? localSlot(statement.target) : undefined) ?? -1;
  return compileLoop(iterable, { slot, assign, body: compiler.block(statement.body) }, position);
}

/**
 * What a loop does with each element: into a plain slot when `slot` is not -1, otherwise through
 * `assign`.
 */
interface LoopBody {
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
