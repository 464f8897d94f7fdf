/**
 * Values of the language as plain data, and what a script finds beside the language, made of what
 * the main side described. Runs in the worker.
 */

import { MAX_JSON_DEPTH } from '../../core/json/json.ts';
import { MAX_WIRE_VALUES } from '../../core/json/wide-json.ts';
import { decodeText } from '../../starlark/bytes.ts';
import {
  builtin,
  Dict,
  Float,
  List,
  Module,
  namespace,
  Range,
  StarlarkError,
  type Thread,
  toStarlark,
  Tuple,
  typeName,
  type Value,
} from '../../starlark/index.ts';
import { libraries } from '../../starlark/library/libraries.ts';
import type { Described, Job } from './protocol.ts';
import type { ScriptLibrary } from './script-request.ts';

interface Taking {
  readonly thread: Thread;
  /** Whether what JSON cannot say may come out as JavaScript has it. */
  readonly plain: boolean;
  /** How many values it has met. */
  values: number;
}

/** What each value weighs beside its text. */
const VALUE_BYTES = 8;

/**
 * A copy that can be sent. Every part is paid for from the thread's budgets as often as it is met:
 * a list that holds another twice is small here and doubles with every level there. Throws for what
 * has no JSON form.
 */
export function plainValue(value: Value, taking: Taking, depth = 0): unknown {
  taking.thread.step();
  meet(taking, 1);
  taking.thread.account(typeof value === 'string' ? VALUE_BYTES + value.length : VALUE_BYTES);
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') return decodeText(value);
  if (typeof value === 'bigint') return bigValue(value, taking);
  if (value instanceof Float) return floatValue(value, taking);
  if (depth >= MAX_JSON_DEPTH)
    throw new StarlarkError(`the value nests deeper than ${MAX_JSON_DEPTH}, or holds itself`);
  if (value instanceof List || value instanceof Tuple)
    return value.items.map((item) => plainValue(item, taking, depth + 1));
  if (value instanceof Dict) return plainMembers(value, taking, depth);
  if (value instanceof Range) return rangeItems(value, taking);
  throw new StarlarkError(`${typeName(value)} has no JSON form`);
}

/**
 * Here and not on the main side: what a worker sends is unpacked in the thread that serves
 * everybody.
 */
function meet(taking: Taking, count: number): void {
  taking.values += count;
  if (taking.values <= MAX_WIRE_VALUES) return;
  throw new StarlarkError(
    `a value with more than ${MAX_WIRE_VALUES} values in it cannot leave a script`,
    { kind: 'memory' },
  );
}

function bigValue(value: bigint, { plain }: Taking): bigint {
  if (plain) return value;
  throw new StarlarkError(
    'an int of more than 53 bits has no JSON form that everybody reads alike: answer with str() of it',
  );
}

function floatValue({ value }: Float, { plain }: Taking): number {
  if (plain || Number.isFinite(value)) return value;
  throw new StarlarkError('a float that is not finite has no JSON form');
}

function rangeItems({ start, step, length }: Range, taking: Taking): readonly number[] {
  const { thread } = taking;
  meet(taking, length);
  thread.step(length);
  thread.account(length * VALUE_BYTES);
  return Array.from({ length }, (_, index) => start + index * step);
}

function plainMembers(dict: Dict, taking: Taking, depth: number): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [key, value] of dict.map) {
    const name = memberName(dict.original(key), taking);
    taking.thread.account(name.length);
    setMember(members, name, plainValue(value, taking, depth + 1));
  }
  return members;
}

/** Assigning `__proto__` would set the prototype instead of a member. */
export function setMember(members: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(members, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function memberName(key: Value, { plain }: Taking): string {
  if (typeof key === 'string') return decodeText(key);
  if (plain && (typeof key === 'number' || typeof key === 'bigint')) return String(key);
  throw new StarlarkError('a dict with keys that are no strings has no JSON form');
}

/** Calls a function of the host and waits for what it answers. */
type CallHost = (
  host: number,
  name: string,
  args: readonly Value[],
  kwargs: ReadonlyMap<string, Value> | null,
) => Value;

/** A namespace of the host and a library of the same name are one. */
export function predeclaredValues(
  job: Job,
  thread: Thread,
  callHost: CallHost,
): ReadonlyMap<string, Value> {
  const values = new Map<string, Value>(job.libraries.map((name) => [name, libraryOf(name)]));
  for (const [name, described] of job.predeclared) {
    const value = valueOf(described, name, thread, callHost);
    const earlier = values.get(name);
    values.set(
      name,
      earlier instanceof Module && value instanceof Module ? merged(earlier, value) : value,
    );
  }
  return values;
}

function valueOf(described: Described, name: string, thread: Thread, callHost: CallHost): Value {
  if ('json' in described) return toStarlark(described.json, thread);
  if ('host' in described)
    return builtin(name, (_thread, args, kwargs) => callHost(described.host, name, args, kwargs));
  const members = described.members.map(
    ([member, value]) => [member, valueOf(value, `${name}.${member}`, thread, callHost)] as const,
  );
  return namespace(name, Object.fromEntries(members));
}

const merged = (library: Module, host: Module): Module =>
  new Module(host.name, new Map([...library.members, ...host.members]));

const libraryOf = (name: ScriptLibrary): Value => libraries.get(name) ?? namespace(name, {});
