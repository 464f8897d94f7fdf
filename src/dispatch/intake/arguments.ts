/**
 * Arguments: read from what the model sent, without those the host supplies, which are put in right
 * before the tool runs.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import {
  freezeParsed,
  snapshot,
  excessBehind,
  excessOf,
  isObject,
  snapshotObject,
} from '../../core/json/json.ts';
import { scrub } from '../../core/onion/audit.ts';
import type { HiddenSource, Tool, ToolContext } from '../../tools/tool.ts';

export type Secret = string | (() => string | Promise<string>);

/** What `governTools` was given to fill hidden arguments from. */
export interface HiddenSources {
  readonly state: unknown;
  readonly stores: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, Secret>>;
}

/** Arguments without those the model may not set, and how many there were. */
export function stripHidden(
  tool: Tool,
  args: JsonObject,
): { readonly args: JsonObject; readonly stripped: number } {
  if (tool.injected.length === 0) return { args, stripped: 0 };
  const sent = tool.injected.filter(({ name }) => Object.hasOwn(args, name));
  if (sent.length === 0) return { args, stripped: 0 };
  const hidden = new Set(sent.map(({ name }) => name));
  const kept = Object.fromEntries(Object.entries(args).filter(([name]) => !hidden.has(name)));
  return { args: freezeParsed(kept), stripped: sent.length };
}

/** Refuses a tool with a hidden argument that the host does not supply. Asked before any call. */
export function demandSources(tool: Tool, sources: HiddenSources): void {
  for (const { from } of tool.injected) {
    const [place, key = ''] = typeof from === 'string' ? from.split(/:(.*)/s) : [];
    const missing =
      (place === 'store' && !Object.hasOwn(sources.stores, key)) ||
      (place === 'secret' && !Object.hasOwn(sources.secrets, key));
    if (!missing) continue;
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      `governTools: tool "${tool.name}" needs ${place} "${key}", which was not given`,
      {
        toolName: tool.name,
        option: `${place}s`,
      },
    );
  }
}

export interface HiddenValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** Secrets among them, to be kept out of everything the tool says. */
  readonly secrets: readonly string[];
}

/** The values for one call. */
export async function hiddenValues(
  tool: Tool,
  context: ToolContext,
  sources: HiddenSources,
): Promise<HiddenValues> {
  const values: Record<string, unknown> = {};
  const secrets: string[] = [];
  for (const { name, from } of tool.injected) {
    const value = await valueOf(from, context, sources);
    values[name] = value;
    if (
      typeof from === 'string' &&
      from.startsWith('secret:') &&
      typeof value === 'string' &&
      value !== ''
    )
      secrets.push(value);
  }
  return { values, secrets };
}

function valueOf(from: HiddenSource, context: ToolContext, sources: HiddenSources): unknown {
  if (typeof from === 'function') return from(context);
  switch (from) {
    case 'sessionId':
      return context.turn.sessionId;
    case 'runId':
      return context.turn.runId;
    case 'turn':
      return context.turn;
    case 'signal':
      return context.signal;
    case 'state':
      return sources.state;
    case 'events':
      return Object.freeze({ emit: context.report });
    case 'report':
      return context.report;
    default:
      return from.startsWith('store:')
        ? sources.stores[from.slice('store:'.length)]
        : secretOf(sources.secrets[from.slice('secret:'.length)]);
  }
}

const secretOf = (secret: Secret | undefined): unknown =>
  typeof secret === 'function' ? secret() : secret;

/**
 * A cleaner that takes these secrets out of any text, for a tool that repeats what it was given.
 */
export const maskSecrets =
  (secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);

/**
 * A tool's value without the secrets it was given. Throws where it is no JSON, or holds more than
 * `maxValues`.
 */
export function withoutSecrets(
  value: unknown,
  secrets: readonly string[],
  maxValues: number,
): JsonValue | undefined {
  if (value === undefined) return undefined;
  const copied = snapshot(value, maxValues);
  return secrets.length === 0 ? copied : scrub(copied, [maskSecrets(secrets)]);
}

export interface IntakeLimits {
  readonly maxArgsBytes: number;
  readonly maxArgsDepth: number;
  readonly maxArgsValues: number;
}

/** Arguments as they will be used, or the sentence that tells the model what is wrong with them. */
export interface Intake {
  readonly args: JsonObject;
  readonly problem: string | null;
}

const NONE: JsonObject = freezeParsed({});
const broken = (problem: string): Intake => ({ args: NONE, problem });

/**
 * Reads arguments from an object or from raw JSON text. Malformed text is a problem to report,
 * never an empty object.
 */
export function readArguments(given: unknown, limits: IntakeLimits): Intake {
  if (typeof given === 'string') return readText(given, limits);
  try {
    if (!isObject(given)) return broken(notObject(given));
    const args = snapshotObject(given, limits.maxArgsValues, limits.maxArgsDepth);
    return mostBytes(args) <= limits.maxArgsBytes ? { args, problem: null } : weighed(args, limits);
  } catch (error) {
    const excess = excessBehind(error);
    if (excess !== null) return broken(excessText(excess, limits));
    // A hostile proxy throws on the first touch.
    return broken(
      `the arguments are not JSON: ${error instanceof AlliumError ? oneLine(error.message) : 'they cannot be read'}`,
    );
  }
}

/** Arguments that may be too large, or hold what `unfit` finds. */
function weighed(args: JsonObject, limits: IntakeLimits): Intake {
  const bytes = Buffer.byteLength(JSON.stringify(args));
  return bytes > limits.maxArgsBytes ? broken(tooLarge(bytes, limits)) : checked(args);
}

/** What one character or one number takes as JSON at most. */
const MOST_PER_UNIT = 6;
const MOST_PER_NUMBER = 25;

/**
 * More than a value takes as JSON, because most are so small that they need not be written to know;
 * `UNFIT` where `unfit` finds something.
 */
function mostBytes(value: JsonValue): number {
  if (typeof value === 'string')
    return value.isWellFormed() ? MOST_PER_UNIT * value.length + 2 : UNFIT;
  if (typeof value !== 'object' || value === null) return MOST_PER_NUMBER;
  let most = 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      most += 1 + mostBytes(value[index] as JsonValue); // What is in JSON is JSON.
    return most;
  }
  const members = value as JsonObject; // Neither a list nor anything simple.
  for (const name in members) {
    if (name === '__proto__') return UNFIT;
    most += 2 + mostBytes(name) + mostBytes(members[name] ?? null);
  }
  return most;
}

/** Not within any limit, an infinite one included. */
const UNFIT = Number.NaN;

function readText(text: string, limits: IntakeLimits): Intake {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.maxArgsBytes) return broken(tooLarge(bytes, limits));
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(text) as JsonValue;
  } catch {
    return broken('the arguments are not valid JSON; send one complete JSON object');
  }
  if (!isObject(parsed)) return broken(notObject(parsed));
  // Before anything else walks over them: every further walk costs as much as there are values.
  const excess = excessOf(parsed, limits.maxArgsDepth, limits.maxArgsValues);
  if (excess !== null) return broken(excessText(excess, limits));
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
  if (Array.isArray(value)) return firstUnfit(value);
  if (Object.hasOwn(value, '__proto__'))
    return '"__proto__" is not allowed as a name in the arguments';
  const members = value as JsonObject; // Neither a list nor anything simple.
  for (const name in members) {
    const problem = unfit(name) ?? unfit(members[name] ?? null);
    if (problem !== null) return problem;
  }
  return null;
}

function firstUnfit(list: readonly JsonValue[]): string | null {
  for (const item of list) {
    const problem = unfit(item);
    if (problem !== null) return problem;
  }
  return null;
}

const tooLarge = (bytes: number, { maxArgsBytes }: IntakeLimits): string =>
  `the arguments are too large: ${bytes} bytes, at most ${maxArgsBytes} are taken`;

const excessText = (excess: 'deep' | 'wide', limits: IntakeLimits): string =>
  excess === 'deep'
    ? `the arguments nest too deep: at most ${limits.maxArgsDepth} levels are taken`
    : `the arguments hold too many values: at most ${limits.maxArgsValues} are taken; send less at a time`;

function notObject(value: unknown): string {
  const kind = Array.isArray(value) ? 'a list' : typeof value;
  return `the arguments must be a JSON object, got ${value === null ? 'null' : kind}`;
}
