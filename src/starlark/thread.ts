// One run's budgets and open calls.

import { StarlarkError } from './errors.ts';
import type { Position } from './position.ts';

/** What a list slot, a tuple slot or a dict entry is accounted as. */
export const SLOT_BYTES = 8;
/** What an object (list, tuple, dict, function, big int) is accounted as beside its contents. */
export const OBJECT_BYTES = 32;

/** No single value may be larger, budget or not: JavaScript could not hold it. */
const MAX_VALUE_BYTES = 2 ** 30;

/** Limits of a run; both are counts over its whole life, not of what is alive. */
export interface ThreadOptions {
  /** @default no limit */
  readonly maxSteps?: number;
  /** @default no limit */
  readonly maxBytes?: number;
  /** @default nothing is printed */
  readonly print?: (text: string) => void;
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

/**
 * An open call as budgets and tracebacks see it: what its variables are makes no difference there.
 */
export interface OpenCall {
  readonly code: { readonly signature: Signature };
  readonly position: Position;
  readonly caller: OpenCall | null;
  /** The built-in that made the call, if one did. */
  readonly via: { readonly name: string } | null;
  /** Its variables, which are let go when the call is closed. */
  readonly slots: unknown[];
  active: boolean;
}

/** Calls and loop iterations so far, bytes accounted so far, and the innermost open call. */
export class Thread {
  steps = 0;
  bytes = 0;
  /** Open calls, so that a chain of them cannot overflow the JavaScript stack. */
  depth = 0;
  frame: OpenCall | null = null;
  /** The built-in that runs now, for tracebacks. */
  calling: { readonly name: string } | null = null;
  readonly maxSteps: number;
  readonly maxBytes: number;
  /** Gets decoded text, without a line end. */
  readonly print: (text: string) => void;

  constructor(options: ThreadOptions = {}) {
    this.maxSteps = options.maxSteps ?? Number.POSITIVE_INFINITY;
    this.maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
    this.print = options.print ?? (() => {});
  }

  /**
   * Takes steps from the budget: one for each call and iteration, and for work that one operation
   * repeats.
   */
  step(count = 1): void {
    this.steps += count;
    if (this.steps > this.maxSteps) this.outOfSteps();
  }

  /**
   * Takes bytes from the budget. Called before the allocation, so that what is too large is never
   * made.
   */
  account(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.maxBytes || bytes > MAX_VALUE_BYTES) this.outOfBytes();
  }

  /** Apart, so that the checks stay small enough to be inlined. */
  outOfSteps(): never {
    throw new StarlarkError(`too many steps (limit ${this.maxSteps})`, { kind: 'steps' });
  }

  private outOfBytes(): never {
    throw new StarlarkError(
      `too much memory allocated (limit ${Math.min(this.maxBytes, MAX_VALUE_BYTES)} bytes)`,
      { kind: 'memory' },
    );
  }
}

/** A new run's budgets. */
export function newThread(options: ThreadOptions = {}): Thread {
  return new Thread(options);
}
