import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { checkSchema } from './check-schema.ts';
import { validateJson } from './validator.ts';

const name = fc.constantFrom('a', 'b', 'c', 'ab');
const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 0, 1, 2, -1, 1.5, '', 'a', 'ab', '1', 'ab-12'),
  fc.integer(),
  fc.string(),
);

const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

const keywords = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'object', 'array', 'null') }),
    fc.record({ type: fc.uniqueArray(fc.constantFrom('string', 'integer', 'object', 'array', 'null'), { minLength: 1 }) }),
    fc.record({ enum: fc.uniqueArray(anyValue, { minLength: 1, maxLength: 3, selector: (item) => JSON.stringify(item) }) }),
    fc.record({ const: anyValue }),
    fc.record({ minimum: fc.integer({ min: -2, max: 2 }) }),
    fc.record({ multipleOf: fc.constantFrom(1, 2, 0.5) }),
    fc.record({ minLength: fc.nat(3), maxLength: fc.nat(3) }),
    fc.record({ pattern: fc.constantFrom('^a', 'b$', '^[a-z]{1,2}$', '\\d', '^(?:a|b)*$', '\\s') }),
    fc.record({ minItems: fc.nat(2), uniqueItems: fc.boolean() }),
    fc.record({ items: schema, prefixItems: fc.array(schema, { minLength: 1, maxLength: 2 }) }),
    fc.record({ contains: schema, minContains: fc.nat(2), maxContains: fc.nat(3) }),
    fc.record({ contains: schema }),
    fc.record({ required: fc.uniqueArray(name), maxProperties: fc.nat(3) }),
    fc.record({ properties: fc.dictionary(name, schema), additionalProperties: schema }),
    fc.record({ properties: fc.dictionary(name, schema), unevaluatedProperties: schema }),
    fc.record({ patternProperties: fc.dictionary(fc.constantFrom('^a', 'o', '.'), schema), propertyNames: schema }),
    fc.record({ dependentRequired: fc.dictionary(name, fc.uniqueArray(name)), dependentSchemas: fc.dictionary(name, schema) }),
    fc.record({ anyOf: fc.array(schema, { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(schema, { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(schema, { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: schema }),
    fc.record({ if: schema, then: schema, else: schema }),
    fc.record({ properties: fc.record({ a: fc.constant({ $ref: '#' }) }) }),
    fc.record({ items: fc.constant({ $ref: '#/$defs/other' }) }),
    fc.record({ $ref: fc.constant('#/$defs/leaf') }),
  );

const { schema: anySchema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    keywords(fc.constant(true)),
    fc.tuple(keywords(tie('schema')), keywords(tie('schema'))).map(([one, two]) => ({ ...one, ...two })),
  ),
}));

const anyDocument = fc.tuple(keywords(anySchema), keywords(anySchema), anySchema).map(
  ([one, two, other]): JsonObject => ({
    ...one,
    ...two,
    $defs: { leaf: { type: ['string', 'object'] }, other },
  }),
);

describe('validateJson', () => {
  it('never throws, whatever the value and the schema, and says as much as plain ajv', () => {
    let refused = 0;
    fc.assert(
      fc.property(anyDocument, fc.array(anyValue, { minLength: 1, maxLength: 8 }), (document, values) => {
        let schema: JsonObject;
        try {
          schema = checkSchema(document, 'test');
        } catch {
          refused += 1;
          return;
        }
        const plain = new Ajv2020({ strict: false, logger: false, ownProperties: true }).compile(schema);
        for (const value of values) expect(validateJson(schema, value).length === 0).toBe(plain(value));
      }),
      { numRuns: 2000 },
    );
    console.log('refused', refused);
  });
});
