// `x.name`.

import { StarlarkError } from './errors.ts';
import { methodNames, methodOf } from './library/methods.ts';
import { nearestName } from './spelling.ts';
import { Module, type Value } from './values.ts';
import { typeName } from './kinds.ts';

/** `object.name`: a module's member, or a method bound to its receiver. */
export function getAttribute(object: Value, name: string): Value {
  const value = object instanceof Module ? object.members.get(name) : methodOf(object, name);
  if (value === undefined) throw noAttribute(object, name);
  return value;
}

export function noAttribute(object: Value, name: string): StarlarkError {
  const names = object instanceof Module ? [...object.members.keys()].sort() : methodNames(object);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : ` (did you mean .${nearest}?)`;
  return new StarlarkError(`${typeName(object)} has no .${name} field or method${hint}`);
}

/** `object.name = value`: nothing in the dialect has fields that can be set. */
export function setAttribute(object: Value, name: string): never {
  throw new StarlarkError(`can't assign to .${name} field of ${typeName(object)}`);
}
