/** Argument types from a JSON Schema literal or a schema library. Shallow on purpose: what it cannot read is `unknown`. */

import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A JSON Schema as people write it down. */
export type SchemaLiteral = { readonly [key: string]: unknown };

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
