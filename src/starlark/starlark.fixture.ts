// Runs sources for the tests of the language.

import {
  compileStarlark,
  newThread,
  runProgram,
  StarlarkError,
  type ThreadOptions,
  type Value,
} from './index.ts';
import { decodeText } from './bytes.ts';
import { repr } from './repr.ts';

/** Every global of a module as its text. */
export function globalsOf(
  source: string,
  predeclared: ReadonlyMap<string, Value> = new Map(),
): Readonly<Record<string, string>> {
  const thread = newThread();
  const program = compileStarlark(source, {
    file: 'test.star',
    predeclared: [...predeclared.keys()],
  });
  return Object.fromEntries(
    [...runProgram(program, { predeclared, thread })].map(([name, value]) => [
      name,
      decodeText(repr(thread, value)),
    ]),
  );
}

/** The text of an expression's value. */
export function valueOf(expression: string): string {
  const thread = newThread();
  const program = compileStarlark(expression, {
    file: 'test.star',
    predeclared: [],
    mode: 'expression',
  });
  return decodeText(
    repr(thread, runProgram(program, { predeclared: new Map(), thread }).get('$value') ?? null),
  );
}

/** The error that a source ends with. */
export function failureOf(
  source: string,
  limits: ThreadOptions = { maxSteps: 2_000_000, maxBytes: 32_000_000 },
): StarlarkError {
  try {
    const program = compileStarlark(source, { file: 'test.star', predeclared: [] });
    runProgram(program, { predeclared: new Map(), thread: newThread(limits) });
  } catch (error) {
    if (error instanceof StarlarkError) return error;
    throw error;
  }
  throw new Error('the source did not fail');
}

/** Message and place, as one text. */
export function complaintOf(source: string): string {
  const { line, column, message } = failureOf(source);
  return `${line}:${column}: ${message}`;
}
