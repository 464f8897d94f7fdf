/**
 * What a script called a built-in with, read strictly. Errors name the argument, what was expected
 * and what kind of value came.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { closest } from '../../core/contract/closest.ts';
import { isObject } from '../../core/json/json.ts';
import { HostError } from '../sandbox/host-function.ts';

/**
 * Arguments by name. Each reader takes what stands where nothing was given; without that the
 * argument must be given.
 */
export interface GivenArguments {
  text(name: string, otherwise?: string): string;
  texts(name: string): readonly string[];
  textMap(name: string): Readonly<Record<string, string>>;
  integer(
    name: string,
    range: { readonly min: number; readonly max: number; readonly otherwise?: number },
  ): number;
  object(name: string, otherwise?: JsonObject): JsonObject;
  any(name: string, otherwise?: JsonValue): JsonValue;
}

export function givenArguments(
  builtin: string,
  names: readonly string[],
  args: readonly JsonValue[],
  kwargs: JsonObject,
): GivenArguments {
  const values = byName(builtin, names, args, kwargs);
  const wrong = (name: string, expected: string, value: JsonValue) =>
    new HostError(`${builtin}: "${name}" must be ${expected}, got ${kindOf(value)}`);
  const read = <T extends JsonValue>(
    name: string,
    expected: string,
    fits: (value: JsonValue) => value is T,
    otherwise?: T,
  ): T => {
    const value = values.get(name) ?? otherwise;
    if (value === undefined) {
      if (values.has(name)) throw wrong(name, expected, null);
      throw new HostError(`${builtin}: missing argument "${name}", ${expected}`);
    }
    if (!fits(value)) throw wrong(name, expected, value);
    return value;
  };
  return {
    text: (name, otherwise) => read(name, 'a string', isText, otherwise),
    texts: (name) => read(name, 'a list of strings', isTexts, []),
    textMap: (name) => read(name, 'a dict of strings', isTextMap, {}),
    integer: (name, { min, max, otherwise }) => {
      const isWithin = (value: JsonValue): value is number =>
        Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
      return read(name, `a whole number from ${min} to ${max}`, isWithin, otherwise);
    },
    object: (name, otherwise) =>
      read(name, 'a dict', isObject as (value: JsonValue) => value is JsonObject, otherwise),
    any: (name, otherwise) => values.get(name) ?? otherwise ?? null,
  };
}

/** `None` for an argument that has a default means the default, as in most of Python. */
function byName(
  builtin: string,
  names: readonly string[],
  args: readonly JsonValue[],
  kwargs: JsonObject,
): ReadonlyMap<string, JsonValue> {
  if (args.length > names.length)
    throw new HostError(`${builtin}: takes ${countOf(names)}, got ${args.length}`);
  const values = new Map(args.map((value, index) => [names[index] ?? '', value]));
  for (const [name, value] of Object.entries(kwargs)) {
    if (!names.includes(name)) throw unknownArgument(builtin, name, names);
    if (values.has(name)) throw new HostError(`${builtin}: "${name}" is given twice`);
    values.set(name, value);
  }
  return values;
}

const countOf = (names: readonly string[]): string =>
  names.length === 0
    ? 'no arguments'
    : `at most ${names.length} argument${names.length === 1 ? '' : 's'} (${names.join(', ')})`;

function unknownArgument(builtin: string, name: string, names: readonly string[]): HostError {
  const guess = closest(name, names);
  const hint =
    guess === undefined
      ? `it takes ${names.length === 0 ? 'none' : names.join(', ')}`
      : `did you mean "${guess}"?`;
  return new HostError(`${builtin}: has no argument "${name}"; ${hint}`);
}

const isText = (value: JsonValue): value is string => typeof value === 'string';
const isTexts = (value: JsonValue): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);
const isTextMap = (value: JsonValue): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every(isText);

/** In the words of the language. */
function kindOf(value: JsonValue): string {
  if (value === null) return 'None';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a dict';
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'boolean') return 'a bool';
  return Number.isInteger(value) ? 'an int' : 'a float';
}
