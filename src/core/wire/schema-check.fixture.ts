/**
 * Holds published schemas to what they promise: they compile where a validator is strict, and one
 * broken field is enough.
 */

import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../contract/call.ts';

/** No formats, no unions, no unknown words: whoever compiles it elsewhere gets no warning. */
export function strictCheck(schema: JsonSchema): (value: unknown) => readonly string[] {
  const validate = new Ajv2020({ strict: true, allErrors: true }).compile(schema);
  return (value) => {
    // As a reader gets it: through JSON.
    const read: unknown = JSON.parse(JSON.stringify(value));
    return validate(read)
      ? []
      : (validate.errors ?? []).map(
          (error: ErrorObject) => `${error.instancePath} ${error.message ?? ''}`,
        );
  };
}

/** Paths of properties that nobody has described. */
export function undescribed(schema: unknown, path = ''): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    const below = undescribed(value, `${path}/${key}`);
    if (key !== 'properties' || path.includes('/anyOf/')) return below;
    const bare = Object.entries(
      value as Readonly<Record<string, { description?: unknown }>>,
    ).filter(
      ([, property]) => typeof property.description !== 'string' || property.description === '',
    );
    return [...bare.map(([name]) => `${path}/${name}`), ...below];
  });
}

type Members = Readonly<Record<string, unknown>>;

/** Copies of a record, each with one member gone, of another kind, or too many. */
export function brokenCopies(
  record: Members,
  optional: readonly string[] = [],
): readonly (readonly [what: string, copy: Members])[] {
  return [
    ...Object.keys(record)
      .filter((name) => !optional.includes(name))
      .map((name) => [`without ${name}`, without(record, name)] as const),
    // A list stands nowhere at the top of a record, except where there is one.
    ...Object.keys(record).map(
      (name) =>
        [
          `a wrong ${name}`,
          { ...record, [name]: Array.isArray(record[name]) ? {} : [[]] },
        ] as const,
    ),
    ['one more', { ...record, surplus: 1 }],
  ];
}

const without = (record: Members, name: string): Members =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));
