// Which methods a value has.

import { Builtin, Dict, List, type Method, StringIterable, type Value } from '../values.ts';
import { dictMethods } from './dict-methods.ts';
import { listMethods } from './list-methods.ts';
import { OBJECT_BYTES } from '../thread.ts';
import { positional } from './arguments.ts';
import { braceFormat } from './brace-format.ts';
import { type MethodCalls, methodTable } from './method-table.ts';
import { caseMethods } from './string-case.ts';
import { searchMethods } from './string-search.ts';
import { splitMethods } from './string-split.ts';

/** By name, for receivers that are strings. */
const stringMethods = methodTable<string>({
  ...caseMethods,
  ...searchMethods,
  ...splitMethods,
  format: (thread, receiver, args, kwargs) => braceFormat(thread, receiver, args, kwargs),
  elems: iterableMethod('elems', { codepoints: false, ords: false }),
  elem_ords: iterableMethod('elem_ords', { codepoints: false, ords: true }),
  codepoints: iterableMethod('codepoints', { codepoints: true, ords: false }),
  codepoint_ords: iterableMethod('codepoint_ords', { codepoints: true, ords: true }),
});

function iterableMethod(
  name: string,
  form: { readonly codepoints: boolean; readonly ords: boolean },
): MethodCalls<string>[string] {
  const readArguments = positional(name, []);
  return (thread, receiver, args, kwargs) => {
    readArguments(args, kwargs);
    thread.account(OBJECT_BYTES);
    return new StringIterable(receiver, form);
  };
}

const NONE: ReadonlyMap<string, Method> = new Map();

function methodsOf(receiver: Value): ReadonlyMap<string, Method> {
  if (typeof receiver === 'string') return stringMethods;
  if (receiver instanceof List) return listMethods;
  return receiver instanceof Dict ? dictMethods : NONE;
}

/**
 * A method as it stands in its type's table, for a call `receiver.name(…)` that makes no bound
 * object.
 */
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
