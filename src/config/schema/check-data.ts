/**
 * Holds data to a part of the schema, and says in words what does not fit, for every place at once.
 */

import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { closest } from '../../core/contract/closest.ts';
import { isObject } from '../../core/json/json.ts';
import { isPlain } from '../plain-data.ts';
import type { DataPath, Report } from '../problem.ts';
import { CONFIG_SCHEMA, SCHEMA_ID } from './config-schema.ts';

let shared: Ajv2020 | undefined;

function validators(): Ajv2020 {
  shared ??= new Ajv2020({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    strict: false,
    logger: false,
  }).addSchema(CONFIG_SCHEMA);
  return shared;
}

/**
 * Whether data fits `$defs/<part>`. What does not is reported below `path`; `owner` is who has the
 * members.
 */
export function checkData(
  part: string,
  owner: string,
  data: unknown,
  path: DataPath,
  report: Report,
): boolean {
  const validate = validators().getSchema(`${SCHEMA_ID}#/$defs/${part}`);
  if (validate === undefined) throw new TypeError(`the schema has no "${part}"`);
  if (validate(data) === true) return true;
  const errors = (validate.errors ?? []).filter(
    (error) => !isMade(data, partsOf(error.instancePath)),
  );
  const choices = errors
    .filter(({ keyword }) => keyword === 'anyOf')
    .map(({ instancePath }) => instancePath);
  const isCovered = ({ keyword, instancePath }: ErrorObject) =>
    keyword !== 'anyOf' &&
    choices.some((choice) => instancePath === choice || instancePath.startsWith(`${choice}/`));
  const lines = errors
    .filter((error) => !isCovered(error))
    .map((error) => describe(error, owner, path));
  const meant = new Set(lines.map(({ guess }) => guess));
  const told = new Set<string>();
  for (const { place, message, at, missing } of lines) {
    // Of a misspelt member it need not be said that it is missing, too.
    const isSaid =
      told.has(JSON.stringify([place, message])) || (missing !== undefined && meant.has(missing));
    if (!isSaid) report(place, message, at);
    told.add(JSON.stringify([place, message]));
  }
  return lines.length === 0;
}

/**
 * Forms, functions and what else a program puts there: whoever gets the value checks it, not the
 * schema.
 */
function isMade(data: unknown, parts: readonly string[]): boolean {
  let value = data;
  return parts.some((part) => {
    value = isObject(value) || Array.isArray(value) ? Reflect.get(value, part) : undefined;
    if (typeof value === 'function') return true;
    if (!isObject(value)) return false;
    return (
      !isPlain(value) ||
      Object.entries(value).some(
        ([key, member]) => key.startsWith('$') || typeof member === 'function',
      )
    );
  });
}

const partsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

interface Line {
  readonly place: DataPath;
  readonly message: string;
  readonly at: 'key' | 'value';
  /** The member that is not there. */
  readonly missing?: string;
  /** The member that was meant. */
  readonly guess?: string;
}

function describe(
  { keyword, params, instancePath, parentSchema }: ErrorObject,
  owner: string,
  path: DataPath,
): Line {
  const parts = partsOf(instancePath).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const place = [...path, ...parts];
  const { additionalProperty, missingProperty } = params as {
    additionalProperty?: string;
    missingProperty?: string;
  }; // As ajv documents.
  const holder = holderOf(parts, owner);
  if (keyword === 'additionalProperties' && additionalProperty !== undefined) {
    const properties: unknown = parentSchema?.properties;
    const known = isObject(properties) ? Object.keys(properties) : [];
    const guess = closest(additionalProperty, known);
    const message = `${holder} has no "${additionalProperty}"; ${guess === undefined ? `it takes ${known.join(', ')}` : `did you mean "${guess}"?`}`;
    return {
      place: [...place, additionalProperty],
      message,
      at: 'key',
      ...(guess === undefined ? {} : { guess: pointer([...place, guess]) }),
    };
  }
  if (keyword === 'required' && missingProperty !== undefined) {
    return {
      place,
      message: `${holder} needs "${missingProperty}"`,
      at: 'key',
      missing: pointer([...place, missingProperty]),
    };
  }
  const title: unknown = parentSchema?.title;
  return {
    place,
    message: `${holder} must be ${typeof title === 'string' ? title : 'something else'}`,
    at: 'value',
  };
}

const pointer = (path: DataPath): string => JSON.stringify(path);

function holderOf(parts: DataPath, owner: string): string {
  const last = parts.at(-1);
  if (last === undefined) return owner;
  return typeof last === 'string'
    ? `"${last}"`
    : `an entry of ${holderOf(parts.slice(0, -1), owner)}`;
}
