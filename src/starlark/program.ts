// Programs: compiled once, run any number of times, each time as a fresh module.

import { decodeText, encodeText } from './bytes.ts';
import { callValue } from './call.ts';
import { compileCode } from './compile-function.ts';
import { StarlarkError } from './errors.ts';
import { freeze } from './convert.ts';
import { universe } from './library/universe.ts';
import { parseExpression, parseFile } from './parser.ts';
import { resolveExpression, resolveFile } from './resolver.ts';
import type { Thread } from './thread.ts';
import { type FunctionCode, Globals, StarlarkFunction, type Value } from './values.ts';
import { positionAt } from './position.ts';

/** Where a source stands, and what it may name. */
export interface CompileOptions {
  /** Names the file in tracebacks. */
  readonly file: string;
  /** The line of the file that the source's first line stands on. @default 1 */
  readonly firstLine?: number;
  /**
   * The column that each line of the source begins at: a script in Markdown is an indented block.
   * @default 1
   */
  readonly firstColumn?: number;
  /** Names that the run will give values to, beside those of the language. */
  readonly predeclared: readonly string[];
  /** An `expression` is one expression; its value is the global `$value`. @default 'module' */
  readonly mode?: 'module' | 'expression';
}

/** A compiled source. */
export interface Program {
  readonly file: string;
  readonly code: FunctionCode;
  readonly globals: readonly string[];
  readonly predeclared: readonly string[];
  readonly mode: 'module' | 'expression';
}

/**
 * Compiles a source. Throws a StarlarkError of kind `syntax` or `resolve` with the place in the
 * file.
 */
export function compileStarlark(source: string, options: CompileOptions): Program {
  try {
    // Half a character is none: it is read as it would be from a file.
    return compile(source.toWellFormed(), options);
  } catch (error) {
    if (error instanceof StarlarkError)
      for (const one of [error, ...error.also]) one.message = decodeText(one.message);
    // What is nested is counted when it is read; this is for a caller that is deep in its own stack
    // already.
    throw error instanceof RangeError
      ? new StarlarkError('nested too deeply', { kind: 'syntax' })
      : error;
  }
}

function compile(source: string, options: CompileOptions): Program {
  const { file, firstLine = 1, firstColumn = 1, mode = 'module' } = options;
  const place = { firstLine, firstColumn };
  const known = {
    file,
    predeclared: options.predeclared.map(encodeText),
    universal: new Set(universe.keys()),
  };
  const { body, resolved, name, start } =
    mode === 'module' ? moduleBody(source, place, known) : expressionBody(source, place, known);
  const scope = resolved.moduleScope;
  const position = start ?? positionAt(firstLine, firstColumn);
  const code = compileCode({ file, universe }, { name, position, parameters: [], body, scope });
  return { file, code, globals: resolved.globals, predeclared: options.predeclared, mode };
}

type Known = Parameters<typeof resolveFile>[1];
type Place = Parameters<typeof parseFile>[1];

function moduleBody(source: string, place: Place, known: Known) {
  const body = parseFile(source, place);
  return { body, resolved: resolveFile(body, known), name: '<toplevel>', start: undefined };
}

function expressionBody(source: string, place: Place, known: Known) {
  const value = parseExpression(source, place);
  const body = [{ kind: 'return', value, position: value.start } as const];
  return { body, resolved: resolveExpression(value, known), name: '<expr>', start: value.start };
}

/** What a run needs: a value for each predeclared name, and the budgets. */
export interface RunOptions {
  readonly predeclared: ReadonlyMap<string, Value>;
  readonly thread: Thread;
}

/**
 * Runs a program as a fresh module and answers its globals, frozen. Throws a StarlarkError, and
 * what a built-in throws that is none.
 */
export function runProgram(
  program: Program,
  { predeclared, thread }: RunOptions,
): ReadonlyMap<string, Value> {
  const values = program.predeclared.map((name) => {
    const value = predeclared.get(name);
    if (value === undefined) throw new StarlarkError(`predeclared variable ${name} has no value`);
    return value;
  });
  const globals = new Globals(program.globals, values);
  const value = callValue(thread, new StarlarkFunction(program.code, globals, [], []), [], null);
  const named = program.mode === 'expression' ? new Map([['$value', value]]) : namedValues(globals);
  freeze(named.values());
  return named;
}

function namedValues({ names, values }: Globals): ReadonlyMap<string, Value> {
  const named = new Map<string, Value>();
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (value !== undefined) named.set(decodeText(name), value);
  }
  return named;
}
