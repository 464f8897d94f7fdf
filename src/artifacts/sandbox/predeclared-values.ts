/**
 * What a script finds beside the language, made of what the main side described. Runs in the
 * worker.
 */

import {
  builtin,
  Module,
  namespace,
  type Thread,
  toStarlark,
  type Value,
} from '../../starlark/index.ts';
import type { Described, Job } from './protocol.ts';
import { libraries } from '../../starlark/library/libraries.ts';
import type { ScriptLibrary } from './script-request.ts';

/** Calls a function of the host and waits for what it answers. */
export type CallHost = (
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
