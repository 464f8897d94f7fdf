// What a call needs while it is open: its code, its variables, and where it stands.

import type { Thread } from './thread.ts';
import type { Value } from './values.ts';

/** A variable that a nested function shares with the function that owns it. */
export class Cell {
  value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** One module's variables: made afresh for each run of a program. */
export class Globals {
  readonly names: readonly string[];
  readonly values: (Value | undefined)[];
  readonly predeclared: readonly Value[];
  constructor(names: readonly string[], predeclared: readonly Value[]) {
    this.names = names;
    this.values = new Array<Value | undefined>(names.length).fill(undefined);
    this.predeclared = predeclared;
  }
}

/** A place in the artifact file as one small number, so that noting it is one store: see `lineOf`, `columnOf`. */
export type Position = number;

const COLUMNS = 0x10000;

export function positionAt(line: number, column: number): Position {
  return line * COLUMNS + Math.min(column, COLUMNS - 1);
}

export function lineOf(position: Position): number {
  return Math.floor(position / COLUMNS);
}

export function columnOf(position: Position): number {
  return position % COLUMNS;
}

/** Everything about a `def` or `lambda` that does not change from call to call. */
export interface FunctionCode {
  readonly name: string;
  readonly file: string;
  readonly position: Position;
  /** Parameters in slot order: positional, keyword-only, then `*args`, then `**kwargs`. */
  readonly parameters: readonly string[];
  readonly positionalCount: number;
  readonly keywordOnlyCount: number;
  readonly hasVarargs: boolean;
  readonly hasKwargs: boolean;
  /** How many local slots a call has, parameters included. */
  readonly slotCount: number;
  /** Parameters (by slot) that a nested function uses: they move into cells when a call begins. */
  readonly cellParameters: readonly number[];
  /** Positional parameters without default only, none in a cell: the quick way to call. */
  readonly simple: boolean;
  readonly body: (frame: Frame) => Value;
  /** The frame that calls reuse: without recursion there is one open call of a function at a time. */
  readonly frame: Frame;
}

/** An open call. */
export class Frame {
  readonly code: FunctionCode;
  readonly slots: (Value | Cell | undefined)[];
  /** The place of the operation that may throw next. */
  position: Position;
  /** The function's free variables. */
  cells: readonly Cell[];
  globals: Globals;
  thread: Thread;
  caller: Frame | null = null;
  active = false;
  result: Value = null;

  constructor(code: FunctionCode, slotCount: number, idle: { readonly thread: Thread; readonly globals: Globals }) {
    this.code = code;
    this.slots = new Array<Value | Cell | undefined>(slotCount).fill(undefined);
    this.position = 0;
    this.cells = [];
    this.globals = idle.globals;
    this.thread = idle.thread;
  }
}
