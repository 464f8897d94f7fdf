/** Our own interpreter in the shape of the comparison. */

import {
  callValue,
  compileStarlark,
  newThread,
  type Program,
  runProgram,
  StarlarkError,
  type Thread,
  type Value,
} from '../../../src/starlark/index.ts';
import { repr } from '../../../src/starlark/repr.ts';
import type { Position } from './oracle.ts';
import { decode, type Failure, type Outcome } from './outcome.ts';

export interface HereOptions {
  readonly file?: string;
  /** Names beyond the universe. */
  readonly predeclared?: ReadonlyMap<string, Value>;
  /** Compile only. */
  readonly compile?: boolean;
  /** A global to call once the globals are frozen, where there is one. */
  readonly then?: string;
  /** Where complaints of `assert` are collected. */
  readonly reports?: (Position & { readonly text: string })[];
}

/** Far more than a program of the comparison needs, and still an end for one that never stops. */
const MAX_STEPS = 500_000_000;
const MAX_BYTES = 1 << 30;

/** What comes of a program here. */
export function runHere(source: string, options: HereOptions = {}): Outcome {
  const { file = 'program.star', predeclared = new Map<string, Value>(), reports = [] } = options;
  const prints: string[] = [];
  const thread = newThread({
    maxSteps: MAX_STEPS,
    maxBytes: MAX_BYTES,
    print: (text) => void prints.push(text),
  });
  try {
    const program = compileStarlark(source, { file, predeclared: [...predeclared.keys()] });
    const globals = options.compile === true ? {} : run(program, thread, predeclared, options.then);
    return { ok: true, globals, prints, reports };
  } catch (error) {
    if (!(error instanceof StarlarkError)) throw error;
    return { ok: false, globals: {}, prints, reports, error: describe(error, file) };
  }
}

function run(
  program: Program,
  thread: Thread,
  predeclared: ReadonlyMap<string, Value>,
  then?: string,
): Readonly<Record<string, string>> {
  const globals = new Map(runProgram(program, { predeclared, thread }));
  const entry = then === undefined ? undefined : globals.get(then);
  if (entry !== undefined) globals.set('$result', callValue(thread, entry, [], null));
  return Object.fromEntries(
    [...globals].map(([name, value]) => [name, decode(repr(thread, value))]),
  );
}

function describe(error: StarlarkError, file: string): Failure {
  const { kind, message, line, column, traceback } = error;
  const found = { kind: kind === 'fail' ? ('eval' as const) : kind, text: message, line, column };
  if (kind === 'resolve')
    return {
      ...found,
      all: [error, ...error.also].map((one) => ({
        text: one.message,
        line: one.line,
        column: one.column,
      })),
    };
  if (kind === 'syntax') return found;
  const stack = traceback.filter((entry) => entry.file === file).reverse();
  return {
    ...found,
    stack: stack.map((entry) => ({ name: entry.name, line: entry.line, column: entry.column })),
  };
}
