/**
 * The few shapes that the schema of a file is made of. `title` is how an error names what is
 * expected.
 */

import type { JsonObject } from '../../index.ts';

/** What the file may say about one layer. */
export interface LayerSchema {
  readonly description: string;
  readonly options: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
  /** Options of which one at least must be given. */
  readonly needs?: readonly string[];
  /**
   * `false`: the name alone is refused, though no option is required. A gate that says nothing is
   * more likely forgotten than meant.
   */
  readonly bare?: false;
  /** What may stand in the place of the options. */
  readonly instead?: JsonObject;
  /** A function may stand in the place of the options. */
  readonly isFunction?: boolean;
}

export const TEXT: JsonObject = { type: 'string', minLength: 1, title: 'a non-empty string' };
export const FLAG: JsonObject = { type: 'boolean', title: 'true or false' };
/** A function, as data can name one. */
export const FUNCTION: JsonObject = { $ref: '#/$defs/function' };
/** An object that code makes, such as a store. */
export const MADE: JsonObject = { $ref: '#/$defs/made' };

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

/** Whether the name of a layer may stand alone. */
export const standsAlone = ({ required = [], needs, bare }: LayerSchema): boolean =>
  required.length === 0 && needs === undefined && bare === undefined;

/** With the sentence that editors show. */
export const said = (description: string, schema: JsonObject): JsonObject => ({
  ...schema,
  description,
});
