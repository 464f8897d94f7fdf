/** What came of a program, in one shape for both interpreters. */

import type { OracleAnswer, OracleFailure, Position } from './oracle.ts';

/**
 * How a program failed. A program's own `fail()` is an `eval` to the native interpreter and here
 * too.
 */
export interface Failure extends Position {
  readonly kind: OracleFailure['kind'] | 'memory';
  readonly text: string;
  /** Every error of the resolver, where the interpreter names them all. */
  readonly all?: readonly (Position & { readonly text: string })[];
  /** Lines and columns of the calls inside the program, innermost first. */
  readonly stack?: readonly (Position & { readonly name: string })[];
}

/** Values are as `repr` writes them; texts are decoded, a byte that is no UTF-8 is U+FFFD. */
export interface Outcome {
  readonly ok: boolean;
  readonly globals: Readonly<Record<string, string>>;
  readonly prints: readonly string[];
  readonly error?: Failure;
  /** What `assert` complained about, with the place of the call at the top level of the program. */
  readonly reports: readonly (Position & { readonly text: string })[];
}

/** The text that a string of bytes stands for. */
export const decode = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

/** The native interpreter's answer in the common shape. */
export function fromAnswer({
  ok,
  globals = {},
  prints = [],
  error,
  reports = [],
}: OracleAnswer): Outcome {
  return {
    ok,
    globals: Object.fromEntries(
      Object.entries(globals).map(([name, text]) => [decode(name), decode(text)]),
    ),
    prints: prints.map(decode),
    reports: reports.map((text) => ({ ...topLevelPlace(text), text: decode(text) })),
    ...(error === undefined ? {} : { error: decodeFailure(error) }),
  };
}

function decodeFailure({ kind, text, line, column, all, stack }: OracleFailure): Failure {
  return {
    kind,
    text: decode(text),
    line,
    column,
    ...(all === undefined ? {} : { all: all.map((one) => ({ ...one, text: decode(one.text) })) }),
    ...(stack === undefined
      ? {}
      : { stack: stack.map((one) => ({ ...one, name: decode(one.name) })) }),
  };
}

/** A complaint begins with a traceback, outermost call first. */
function topLevelPlace(text: string): Position {
  const [, line = '0', column = '0'] = /:(\d+):(\d+): in <toplevel>/.exec(text) ?? [];
  return { line: Number(line), column: Number(column) };
}
