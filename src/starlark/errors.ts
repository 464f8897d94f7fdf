// What a Starlark program is stopped with: one error class, with the place in the artifact file.

/**
 * Why a program was stopped. `fail` is the program's own `fail()`; `steps` and `memory` are
 * budgets.
 */
export type StarlarkErrorKind = 'syntax' | 'resolve' | 'eval' | 'steps' | 'memory' | 'fail';

/**
 * One entry of a traceback, outermost call first. A built-in has the file `<builtin>` and line 0.
 */
export interface TracebackEntry {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * What is known of an error when it is thrown; the rest is filled in where the program's edge is.
 */
interface StarlarkErrorDetails {
  readonly kind?: StarlarkErrorKind;
  readonly line?: number;
  readonly column?: number;
}

/**
 * Every way a program can go wrong. Code that runs inside a program throws it with the message
 * alone: the place and the traceback are added when the error leaves the program, from the calls
 * that were open.
 */
export class StarlarkError extends Error {
  override readonly name = 'StarlarkError';
  readonly kind: StarlarkErrorKind;
  line: number;
  column: number;
  traceback: readonly TracebackEntry[] = [];
  /** Further mistakes of the same source: names are checked all at once. */
  also: readonly StarlarkError[] = [];

  constructor(message: string, details: StarlarkErrorDetails = {}) {
    super(message);
    this.kind = details.kind ?? 'eval';
    this.line = details.line ?? 0;
    this.column = details.column ?? 0;
  }
}
