// What built-ins do first: count their arguments, find the named ones and check their types.

import { StarlarkError } from '../errors.ts';
import { quoted } from '../repr.ts';
import { isIterable } from '../iterate.ts';
import {
  Builtin,
  type Dict,
  type Kwargs,
  type List,
  type Range,
  StarlarkFunction,
  type StringIterable,
  type Tuple,
  type Value,
} from '../values.ts';
import { typeName } from '../kinds.ts';

/** What a built-in may ask of an argument, and the type that it then has. */
interface KindValues {
  readonly any: Value;
  readonly string: string;
  readonly bool: boolean;
  /** An int that fits into 64 bits. */
  readonly int: number | bigint;
  readonly callable: StarlarkFunction | Builtin;
  readonly iterable: List | Tuple | Dict | Range | StringIterable;
}

type Kind = keyof KindValues;

/** A parameter of a built-in that takes its arguments also by name. */
interface Parameter {
  readonly name: string;
  readonly kind: Kind;
  readonly optional?: true;
}

type Required<K extends readonly Kind[]> = { readonly [I in keyof K]: KindValues[K[I]] };
type Optional<K extends readonly Kind[]> = { readonly [I in keyof K]?: KindValues[K[I]] };
type Positional<R extends readonly Kind[], O extends readonly Kind[]> = readonly [
  ...Required<R>,
  ...Optional<O>,
];
type Named<P extends readonly Parameter[]> = {
  readonly [I in keyof P]: P[I] extends { optional: true }
    ? KindValues[P[I]['kind']] | undefined
    : KindValues[P[I]['kind']];
};

/**
 * The reader of a built-in's arguments when it takes them by position alone. Made once for each
 * built-in; it answers the arguments themselves, so that a call makes nothing.
 */
export function positional<
  const R extends readonly Kind[],
  const O extends readonly Kind[] = readonly [],
>(
  name: string,
  required: R,
  optional?: O,
): (args: readonly Value[], kwargs: Kwargs) => Positional<R, O> {
  const kinds: readonly Kind[] = [...required, ...(optional ?? [])];
  return (args, kwargs) => {
    if (kwargs !== null && kwargs.size > 0)
      throw new StarlarkError(`${name}: unexpected keyword arguments`);
    if (args.length < required.length || args.length > kinds.length)
      refuseCount(name, args.length, required.length, kinds.length);
    for (let index = 0; index < args.length; index++) {
      // Both have the index: it is below args.length, which is at most kinds.length.
      const [arg, kind] = [args[index] as Value, kinds[index] as Kind];
      if (kind !== 'any' && !isOfKind(arg, kind))
        throw new StarlarkError(`${name}: for parameter ${index + 1}: ${mismatch(arg, kind)}`);
    }
    // Count and kinds were checked above, one by one.
    return args as unknown as Positional<R, O>;
  };
}

/** The reader of a built-in's arguments when it takes them by position and by name. */
export function named<const P extends readonly Parameter[]>(
  name: string,
  parameters: P,
): (args: readonly Value[], kwargs: Kwargs) => Named<P> {
  return (args, kwargs) => {
    if (args.length > parameters.length)
      throw new StarlarkError(
        `${name}: got ${args.length} arguments, want at most ${parameters.length}`,
      );
    const found: (Value | undefined)[] = [...args];
    args.forEach((arg, index) => checkParameter(name, parameters[index], arg, false));
    for (const [key, value] of kwargs ?? []) takeNamed(name, parameters, { found, key, value });
    for (const [index, parameter] of parameters.entries()) {
      if (parameter.optional === undefined && found[index] === undefined)
        throw new StarlarkError(`${name}: missing argument for ${parameter.name}`);
    }
    // Each was checked against its parameter's kind, and the required ones are there.
    return parameters.map((_, index) => found[index]) as unknown as Named<P>;
  };
}

interface NamedArgument {
  readonly found: (Value | undefined)[];
  readonly key: string;
  readonly value: Value;
}

function takeNamed(
  name: string,
  parameters: readonly Parameter[],
  { found, key, value }: NamedArgument,
): void {
  const index = parameters.findIndex((parameter) => parameter.name === key);
  if (index < 0) throw new StarlarkError(`${name}: unexpected keyword argument ${quoted(key)}`);
  if (found[index] !== undefined)
    throw new StarlarkError(`${name}: got multiple values for keyword argument "${key}"`);
  checkParameter(name, parameters[index], value, true);
  found[index] = value;
}

/**
 * A parameter given by name is quoted in the message, one given by position is not: so the
 * reference writes them.
 */
function checkParameter(
  name: string,
  parameter: Parameter | undefined,
  value: Value,
  byName: boolean,
): void {
  if (parameter === undefined || isOfKind(value, parameter.kind)) return;
  const label = byName ? `"${parameter.name}"` : parameter.name;
  throw new StarlarkError(`${name}: for parameter ${label}: ${mismatch(value, parameter.kind)}`);
}

/** Throws when a built-in that words it that way is called with named arguments. */
export function refuseKwargs(name: string, kwargs: Kwargs): void {
  if (kwargs !== null && kwargs.size > 0)
    throw new StarlarkError(`${name} does not accept keyword arguments`);
}

function refuseCount(name: string, count: number, least: number, most: number): never {
  const [word, wanted] = count < least ? ['at least ', least] : ['at most ', most];
  throw new StarlarkError(
    `${name}: got ${count} arguments, want ${least === most ? '' : word}${wanted}`,
  );
}

function isOfKind(value: Value, kind: Kind): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return (
        typeof value === 'number' ||
        (typeof value === 'bigint' && BigInt.asIntN(64, value) === value)
      );
    case 'callable':
      return value instanceof StarlarkFunction || value instanceof Builtin;
    case 'iterable':
      return isIterable(value);
  }
}

function mismatch(value: Value, kind: Kind): string {
  if (typeof value === 'bigint' && kind === 'int')
    return `${value} out of range (want value in signed 64-bit range)`;
  return `got ${typeName(value)}, want ${kind}`;
}
