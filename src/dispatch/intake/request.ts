/** What comes in from a model: taken once, measured, and never repaired by guessing. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { excessOf, freezeParsed, isObject, snapshotObject } from '../../core/json/json.ts';

export interface IntakeLimits {
  readonly maxArgsBytes: number;
  readonly maxArgsDepth: number;
  readonly maxArgsValues: number;
}

/** Arguments as they will be used, or the sentence that tells the model what is wrong with them. */
export type Intake =
  | { readonly args: JsonObject; readonly problem: null }
  | { readonly args: JsonObject; readonly problem: string };

const NONE: JsonObject = freezeParsed({});
const broken = (problem: string): Intake => ({ args: NONE, problem });

/**
 * Reads arguments from an object or from raw JSON text. Malformed text is a problem to report,
 * never an empty object.
 */
export function readArguments(given: unknown, limits: IntakeLimits): Intake {
  if (typeof given === 'string') return readText(given, limits);
  try {
    return readObject(given, limits);
  } catch (error) {
    // A hostile proxy throws on the first touch.
    return broken(
      `the arguments are not JSON: ${error instanceof AlliumError ? oneLine(error.message) : 'they cannot be read'}`,
    );
  }
}

function readObject(given: unknown, limits: IntakeLimits): Intake {
  if (!isObject(given)) return broken(`the arguments must be a JSON object, got ${kindOf(given)}`);
  const excess = excessIn(given, limits);
  if (excess !== null) return broken(excess);
  const args = snapshotObject(given);
  const bytes = Buffer.byteLength(JSON.stringify(args));
  return bytes > limits.maxArgsBytes ? broken(tooLarge(bytes, limits)) : checked(args);
}

function readText(text: string, limits: IntakeLimits): Intake {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.maxArgsBytes) return broken(tooLarge(bytes, limits));
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(text) as JsonValue;
  } catch {
    return broken('the arguments are not valid JSON; send one complete JSON object');
  }
  if (!isObject(parsed))
    return broken(`the arguments must be a JSON object, got ${kindOf(parsed)}`);
  const excess = excessIn(parsed, limits);
  if (excess !== null) return broken(excess);
  return checked(freezeParsed(parsed));
}

function checked(args: JsonObject): Intake {
  const problem = unfit(args);
  return problem === null ? { args, problem } : broken(problem);
}

/**
 * What `JSON.parse` lets through and nothing further down can deal with: a name that would change a
 * prototype when it is assigned, a number that became infinite, half a character that has no bytes
 * to be hashed.
 */
function unfit(value: JsonValue): string | null {
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : 'a number in the arguments is too large';
  if (typeof value === 'string')
    return value.isWellFormed() ? null : 'a text in the arguments has half of a surrogate pair';
  if (typeof value !== 'object' || value === null) return null;
  if (Object.hasOwn(value, '__proto__'))
    return '"__proto__" is not allowed as a name in the arguments';
  // A list can be read by its names, too.
  const items = value as Readonly<Record<string, JsonValue>>;
  for (const key of Object.keys(value)) {
    const problem = unfit(key) ?? unfit(items[key] ?? null);
    if (problem !== null) return problem;
  }
  return null;
}

const tooLarge = (bytes: number, { maxArgsBytes }: IntakeLimits): string =>
  `the arguments are too large: ${bytes} bytes, at most ${maxArgsBytes} are taken`;

/** Before anything else walks over them: every further walk costs as much as there are values. */
function excessIn(given: object, { maxArgsDepth, maxArgsValues }: IntakeLimits): string | null {
  const excess = excessOf(given, maxArgsDepth, maxArgsValues);
  if (excess === null) return null;
  if (excess === 'deep')
    return `the arguments nest too deep: at most ${maxArgsDepth} levels are taken`;
  return `the arguments hold too many values: at most ${maxArgsValues} are taken; send less at a time`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
