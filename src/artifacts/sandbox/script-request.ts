/** What a pool is asked to run, and what comes of it. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import type { HostTree } from './host-function.ts';

/** Modules without any effect, which live beside the script. */
export const SCRIPT_LIBRARIES = Object.freeze(['json', 're', 'string', 'hash'] as const);
export type ScriptLibrary = (typeof SCRIPT_LIBRARIES)[number];

/**
 * What is done with the source: call one of its functions, or only run it. An expression stands for
 * itself: the source is not read.
 */
export type ScriptEntry =
  | {
      readonly call: string;
      readonly args: readonly JsonValue[];
      readonly kwargs?: JsonObject;
      readonly globals?: boolean;
    }
  | { readonly expression: string; readonly names: Readonly<Record<string, JsonValue>> }
  | { readonly globals: true };

export interface ScriptRequest {
  readonly source: string;
  /** For places in errors. */
  readonly file: string;
  readonly firstLine?: number;
  readonly firstColumn?: number;
  readonly entry: ScriptEntry;
  /**
   * What the script finds beside the language: JSON, functions of the host, and namespaces of them.
   */
  readonly predeclared?: Readonly<Record<string, JsonValue | HostTree>>;
  readonly libraries?: readonly ScriptLibrary[];
  /** @default the pool's */
  readonly maxSteps?: number;
  /**
   * Counts what is made, not what is alive; what the script answers with is counted too. @default
   * the pool's
   */
  readonly maxBytes?: number;
  /**
   * From when a worker takes the script up; waiting for the host counts. @default none: only the
   * time between two host calls is limited
   */
  readonly deadlineMs?: number;
  /** @default 1000 */
  readonly maxHostCalls?: number;
  /** @default 65536 */
  readonly maxPrintBytes?: number;
  /**
   * For whom it runs, such as a session: those that wait take turns by owner, and none of them can
   * take all places. @default nobody
   */
  readonly owner?: string;
  readonly signal?: AbortSignal;
  readonly onPrint?: (text: string) => void;
  /**
   * Ints of any size, floats that are no number and dicts with other keys come out as JavaScript
   * has them, instead of being refused.
   */
  readonly plain?: boolean;
}

export interface ScriptOutcome {
  readonly value: JsonValue;
  /** The variables of the module that have a JSON form, where they were asked for. */
  readonly globals?: JsonObject;
  readonly steps: number;
  readonly bytes: number;
  readonly prints: readonly string[];
}

const MAX_SOURCE_CHARACTERS = 1024 * 1024;

const text: Expectation = { text: 'a string', test: (value) => typeof value === 'string' };
const EXPECTED: Readonly<Record<keyof ScriptRequest, Expectation>> = Object.freeze({
  source: expected.required({
    text: `a string of at most ${MAX_SOURCE_CHARACTERS} characters`,
    test: (value) => typeof value === 'string' && value.length <= MAX_SOURCE_CHARACTERS,
  }),
  file: expected.required(text),
  firstLine: expected.integer(1),
  firstColumn: expected.integer(1),
  entry: expected.required(expected.object),
  predeclared: expected.object,
  libraries: expected.listOf(expected.oneOf(...SCRIPT_LIBRARIES)),
  maxSteps: expected.integer(1),
  maxBytes: expected.integer(1),
  deadlineMs: expected.integer(1),
  maxHostCalls: expected.integer(0),
  maxPrintBytes: expected.integer(0),
  owner: text,
  signal: expected.object,
  onPrint: expected.function,
  plain: expected.boolean,
});

/** Throws `ERR_INVALID_OPTION` for what is no request. */
export function checkRequest(request: ScriptRequest): void {
  checkOptions('script', request, EXPECTED);
  const { entry } = request as { readonly entry: Record<string, unknown> };
  const isKnown =
    (typeof entry.call === 'string' && Array.isArray(entry.args)) ||
    (typeof entry.expression === 'string' && typeof entry.names === 'object') ||
    entry.globals === true;
  if (!isKnown)
    throw new AlliumError('ERR_INVALID_OPTION', ENTRY_FORM, { layer: 'script', option: 'entry' });
}

const ENTRY_FORM =
  'script: "entry" must be { call, args }, { expression, names } or { globals: true }';
