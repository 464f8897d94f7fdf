/**
 * The few shapes that the schema of a file is made of. `title` is how an error names what is
 * expected.
 */

import type { JsonObject } from '../../index.ts';

export const TEXT: JsonObject = { type: 'string', minLength: 1, title: 'a non-empty string' };
/** A function, as data can name one. */
export const FUNCTION: JsonObject = { $ref: '#/$defs/function' };

export const whole = (minimum: number): JsonObject => ({
  type: 'integer',
  minimum,
  title: `a whole number of at least ${minimum}`,
});

export const oneOf = (...values: readonly string[]): JsonObject => ({
  enum: values,
  title: `one of ${values.map((value) => `"${value}"`).join(', ')}`,
});

export const listOf = (items: JsonObject): JsonObject => ({
  type: 'array',
  items,
  title: 'a list',
});

export const mapOf = (additionalProperties: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties,
  title: 'an object',
});

export const either = (title: string, ...anyOf: readonly JsonObject[]): JsonObject => ({
  title,
  anyOf,
});

/** An object with these members and no others. */
export const members = (
  properties: Readonly<Record<string, JsonObject>>,
  required: readonly string[] = [],
): JsonObject => ({
  type: 'object',
  title: 'an object',
  properties,
  additionalProperties: false,
  ...(required.length === 0 ? {} : { required }),
});

/** With the sentence that editors show. */
export const said = (description: string, schema: JsonObject): JsonObject => ({
  ...schema,
  description,
});
