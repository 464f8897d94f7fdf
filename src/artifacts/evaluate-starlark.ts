/** Starlark by itself: a text in, plain values out. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { checkOptions, type Expectation, expected } from '../core/contract/options.ts';
import type { HostTree } from './sandbox/host-function.ts';
import { createScriptPool, type ScriptPool } from './sandbox/script-pool.ts';
import {
  SCRIPT_LIBRARIES,
  type ScriptEntry,
  type ScriptLibrary,
} from './sandbox/script-request.ts';

export interface EvaluateOptions {
  /**
   * Values, functions of the host, and namespaces of them that the source finds beside the
   * language.
   */
  readonly predeclared?: Readonly<Record<string, JsonValue | HostTree>>;
  /** A function of the source that is called once it has run. */
  readonly call?: string;
  /** A list of arguments, or an object of named ones. */
  readonly args?: readonly JsonValue[] | JsonObject;
  /**
   * Calls and loop iterations.
   * @default 20000000
   */
  readonly maxSteps?: number;
  /**
   * Bytes that are made, counted before they are.
   * @default 268435456
   */
  readonly maxBytes?: number;
  /** @default 10000 */
  readonly deadlineMs?: number;
  /** @default ['json', 're', 'string'] */
  readonly libraries?: readonly ScriptLibrary[];
  readonly signal?: AbortSignal;
  /**
   * For places in errors.
   * @default 'script.star'
   */
  readonly file?: string;
}

/**
 * Ints beyond 53 bits are bigints; everything else is as JSON has it, and what has no such form is
 * not among the globals.
 */
export interface EvaluateOutcome {
  readonly globals: Readonly<Record<string, unknown>>;
  /** What the function answered; absent where none was called. */
  readonly value?: unknown;
  readonly steps: number;
  readonly prints: readonly string[];
}

const EXPECTED: Readonly<Record<keyof EvaluateOptions, Expectation>> = Object.freeze({
  predeclared: expected.object,
  call: expected.string,
  args: {
    text: 'a list or an object',
    test: (value) => typeof value === 'object' && value !== null,
  },
  maxSteps: expected.integer(1),
  maxBytes: expected.integer(1),
  deadlineMs: expected.integer(1),
  libraries: expected.listOf(expected.oneOf(...SCRIPT_LIBRARIES)),
  signal: expected.object,
  file: expected.string,
});

/** Shared, and given up by itself when nobody has used it for a moment. */
let shared: ScriptPool | undefined;
const IDLE_MS = 2000;

/**
 * Runs a source in a worker and answers with its variables, and with what one of its functions
 * returned. Rejects with `ERR_STARLARK` { line, column, traceback }. It reaches nothing but what
 * `predeclared` holds.
 */
export async function evaluateStarlark(
  source: string,
  options: EvaluateOptions = {},
): Promise<EvaluateOutcome> {
  checkOptions('evaluateStarlark', options, EXPECTED);
  const {
    call,
    args,
    deadlineMs = 10_000,
    libraries = ['json', 're', 'string'],
    file = 'script.star',
    ...limits
  } = options;
  shared ??= createScriptPool({ idleMs: IDLE_MS });
  const ended = await shared.run({
    source,
    file,
    entry: entryOf(call, args),
    libraries,
    deadlineMs,
    plain: true,
    ...limits,
  });
  const { value, globals = {}, steps, prints } = ended;
  return call === undefined ? { globals, steps, prints } : { globals, value, steps, prints };
}

function entryOf(
  call: string | undefined,
  args: readonly JsonValue[] | JsonObject = [],
): ScriptEntry {
  if (call === undefined) return { globals: true };
  return isList(args)
    ? { call, args, globals: true }
    : { call, args: [], kwargs: args, globals: true };
}

const isList = (args: readonly JsonValue[] | JsonObject): args is readonly JsonValue[] =>
  Array.isArray(args);
