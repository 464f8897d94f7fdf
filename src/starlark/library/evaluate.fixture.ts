// Evaluates one expression with all libraries, for the tests of this folder.

import { decodeText } from '../bytes.ts';
import {
  compileStarlark,
  newThread,
  runProgram,
  StarlarkError,
  type ThreadOptions,
} from '../index.ts';
import { repr } from '../repr.ts';
import { libraries } from './libraries.ts';

/** The text of an expression's value. */
export function evaluate(expression: string, options: ThreadOptions = {}): string {
  // `hash` stays the function that the language has: its library is tested apart.
  const predeclared = new Map([...libraries].filter(([name]) => name !== 'hash'));
  const program = compileStarlark(expression, {
    file: 'test.star',
    mode: 'expression',
    predeclared: [...predeclared.keys()],
  });
  const thread = newThread(options);
  const value = runProgram(program, { predeclared, thread }).get('$value');
  return decodeText(repr(newThread(), value ?? null));
}

/** The error that an expression comes to. */
export function errorOf(expression: string, options: ThreadOptions = {}): StarlarkError {
  try {
    evaluate(expression, options);
  } catch (error) {
    if (error instanceof StarlarkError) return error;
    throw error;
  }
  throw new Error(`${expression} was not refused`);
}
