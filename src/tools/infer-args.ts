/**
 * Argument types from a JSON Schema literal or a schema library. Shallow on purpose: what it cannot
 * read is `unknown`.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { AlliumError, describeThrown, oneLine } from '../core/contract/errors.ts';
import type { ParsedArgs } from './tool.ts';

/** A JSON Schema as people write it down. */
export type SchemaLiteral = { readonly [key: string]: unknown };

/** How a tool's arguments may be described: as JSON Schema, or by a schema library. */
export type ToolInputSchema = SchemaLiteral | StandardSchemaV1;

/** The type of the values a schema describes. */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer B)[] }
      ? FromSchema<B>
      : S extends { readonly oneOf: readonly (infer B)[] }
        ? FromSchema<B>
        : S extends { readonly type: infer T }
          ? FromType<T, S>
          : unknown;

type FromType<T, S> = T extends readonly (infer U)[]
  ? FromType<U, S>
  : T extends 'string'
    ? string
    : T extends 'number' | 'integer'
      ? number
      : T extends 'boolean'
        ? boolean
        : T extends 'null'
          ? null
          : T extends 'array'
            ? S extends { readonly items: infer I }
              ? readonly FromSchema<I>[]
              : readonly unknown[]
            : T extends 'object'
              ? FromObject<S>
              : unknown;

type FromObject<S> = S extends { readonly properties: infer P }
  ? Flat<
      { readonly [K in RequiredKey<S> & keyof P]: FromSchema<P[K]> } & {
        readonly [K in Exclude<keyof P, RequiredKey<S>>]?: FromSchema<P[K]>;
      }
    >
  : Readonly<Record<string, unknown>>;

type RequiredKey<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;
type Flat<T> = { [K in keyof T]: T[K] };

/** What `execute` gets for its first parameter. */
export type InferArgs<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : FromSchema<S>;

/** Whether a schema comes from a library that speaks Standard Schema. */
export const isStandardSchema = (schema: unknown): schema is StandardSchemaV1 =>
  schema !== null &&
  (typeof schema === 'object' || typeof schema === 'function') &&
  '~standard' in schema;

/**
 * The JSON Schema of what the library's check takes: the arguments that are sent in, or the value
 * that a tool answers with.
 */
export function jsonSchemaOf(schema: StandardSchemaV1, toolName: string): Record<string, unknown> {
  const { jsonSchema, vendor } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema === undefined) {
    const advice = vendor === 'zod' ? '; zod 4.2 and later can' : '';
    throw new AlliumError(
      'ERR_INVALID_TOOL',
      `tool "${toolName}": ${oneLine(vendor)} schemas of this version cannot be written as JSON Schema${advice}`,
      { toolName },
    );
  }
  try {
    return jsonSchema.input({ target: 'draft-2020-12' });
  } catch (thrown) {
    const message = `tool "${toolName}": its ${oneLine(vendor)} schema cannot be written as JSON Schema: ${describeThrown(thrown)}`;
    throw new AlliumError('ERR_INVALID_TOOL', message, { toolName }, { cause: thrown });
  }
}

/** The library's own check as a function. Its messages are kept, its values are not. */
export function parserOf(schema: StandardSchemaV1): (value: unknown) => Promise<ParsedArgs> {
  return async (value) => {
    const checked = await schema['~standard'].validate(value);
    // The schema of arguments answers with an object: anything else was refused when its JSON
    // Schema was read. Of an output only `problems` are used.
    if (checked.issues === undefined)
      return { value: checked.value as Readonly<Record<string, unknown>> };
    return {
      problems: checked.issues.map(({ message, path }) => ({
        path: pointer(path),
        message: oneLine(message),
      })),
    };
  };
}

const pointer = (path: StandardSchemaV1.Issue['path']): string =>
  (path ?? []).map((part) => `/${String(typeof part === 'object' ? part.key : part)}`).join('');
