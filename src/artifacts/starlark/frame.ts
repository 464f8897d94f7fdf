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

/** What a `def` or `lambda` declares. */
export interface Signature {
  readonly name: string;
  readonly file: string;
  /** Where a call stands before its first operation. */
  readonly position: Position;
  /** Names in slot order: positional, keyword-only, then `*args`, then `**kwargs`. */
  readonly parameters: readonly string[];
  readonly positionalCount: number;
  readonly keywordOnlyCount: number;
  readonly hasVarargs: boolean;
  readonly hasKwargs: boolean;
  /** How many positional parameters have a default. */
  readonly defaultCount: number;
  /** How many local slots a call has, parameters included. */
  readonly slotCount: number;
  /** Slots that a nested function uses too: they hold cells. */
  readonly cellSlots: readonly number[];
}

/** Everything about a `def` or `lambda` that does not change from call to call. */
export class FunctionCode {
  readonly signature: Signature;
  /** The number of arguments that fit without any further look, or -1: no defaults, stars or cells. */
  readonly plainCount: number;
  readonly body: (frame: Frame) => Value;
  /** The frame that calls reuse: without recursion there is one open call of a function at a time. */
  readonly frame: Frame;

  constructor(signature: Signature, body: (frame: Frame) => Value) {
    this.signature = signature;
    const { parameters, positionalCount, cellSlots } = signature;
    this.plainCount =
      parameters.length === positionalCount && cellSlots.length === 0 ? positionalCount : -1;
    this.body = body;
    this.frame = new Frame(this);
  }
}

/** An open call. */
export class Frame {
  readonly code: FunctionCode;
  /** Local variables; undefined is not yet assigned. */
  readonly slots: (Value | Cell | undefined)[];
  /** The place of the operation that may throw next. */
  position: Position = 0;
  /** The function's free variables. */
  cells: readonly Cell[] = [];
  // The next two are set when a call begins; nothing reads them before.
  globals!: Globals;
  thread!: Thread;
  caller: Frame | null = null;
  /** The built-in that made the call, if one did. */
  via: { readonly name: string } | null = null;
  active = false;
  result: Value = null;

  constructor(code: FunctionCode) {
    this.code = code;
    this.slots = new Array<Value | Cell | undefined>(code.signature.slotCount).fill(undefined);
  }
}
