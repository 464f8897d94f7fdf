// Which methods a value has.

import { Builtin, Dict, List, type Method, type Value } from '../values.ts';
import { dictMethods } from './dict-methods.ts';
import { listMethods } from './list-methods.ts';
import { stringMethods } from './string-methods.ts';

const NONE: ReadonlyMap<string, Method> = new Map();

function methodsOf(receiver: Value): ReadonlyMap<string, Method> {
  if (typeof receiver === 'string') return stringMethods;
  if (receiver instanceof List) return listMethods;
  return receiver instanceof Dict ? dictMethods : NONE;
}

/** A method as it stands in its type's table, for a call `receiver.name(…)` that makes no bound object. */
export function findMethod(receiver: Value, name: string): Method | undefined {
  return methodsOf(receiver).get(name);
}

/** A method bound to its receiver, for a program that reads the attribute without calling it. */
export function methodOf(receiver: Value, name: string): Builtin | undefined {
  const method = findMethod(receiver, name);
  if (method === undefined) return undefined;
  return new Builtin(
    name,
    (thread, args, kwargs) => method.call(thread, receiver, args, kwargs),
    receiver,
  );
}

/** The names of a value's methods, sorted. */
export function methodNames(receiver: Value): readonly string[] {
  return [...methodsOf(receiver).keys()].sort();
}
