import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { checkSchema } from './check-schema.ts';
import { validateJson } from './validator.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const plain = fc.constantFrom('a', 'b', 'c', 'ab');
const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 0, 1, 2, 1.5, '', 'a', 'ab', '1', 'ab-12'),
  fc.integer(),
  fc.string(),
);

/** Values whose members have these names. */
const valuesOf = (name: fc.Arbitrary<string>): fc.Arbitrary<JsonValue> =>
  fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;

const values = valuesOf(plain);
const listOf = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue[]> =>
  fc.array(schema, { minLength: 1, maxLength: 3 });
const mapOf = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
  fc.dictionary(plain, schema, { noNullPrototype: true });
const names = fc.uniqueArray(plain);

/** Keywords that both dialects read alike. */
const common = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject>[] => [
  fc.record({
    type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'object', 'array', 'null'),
  }),
  fc.record({
    type: fc.uniqueArray(fc.constantFrom('string', 'integer', 'object', 'array', 'null'), {
      minLength: 1,
    }),
  }),
  fc.record({
    enum: fc.uniqueArray(values, {
      minLength: 1,
      maxLength: 3,
      selector: (item) => JSON.stringify(item),
    }),
  }),
  fc.record({ const: values }),
  fc.record({
    minimum: fc.integer({ min: -2, max: 2 }),
    exclusiveMaximum: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record({ multipleOf: fc.constantFrom(1, 2, 0.5) }),
  fc.record({ minLength: fc.nat(3), maxLength: fc.nat(3) }),
  fc.record({ pattern: fc.constantFrom('^a', 'b$', '^[a-z]{1,2}$', '\\d', '^(?:a|b)*$', '\\s') }),
  fc.record({ minItems: fc.integer({ min: 1, max: 2 }), uniqueItems: fc.boolean() }),
  fc.record({ items: schema }),
  // Plain ajv takes an empty list for one that contains almost anything.
  fc.record({ contains: schema, minItems: fc.constant(1) }),
  fc.record({ required: names, maxProperties: fc.nat(3) }),
  fc.record({ properties: mapOf(schema), additionalProperties: schema }),
  fc.record({
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'o', '.'), schema),
    propertyNames: schema,
  }),
  fc.record({ anyOf: listOf(schema) }),
  fc.record({ oneOf: listOf(schema) }),
  fc.record({ allOf: listOf(schema) }),
  fc.record({ oneOf: listOf(values.map((value) => ({ const: value, title: 'a constant' }))) }),
  fc.record({ not: schema }),
  fc.record({ if: schema, then: schema, else: schema }),
  fc.constant({ properties: { a: { $ref: '#' } } }),
  fc.constant({ items: { $ref: '#/$defs/other' } }),
  fc.constant({ $ref: '#/$defs/leaf' }),
];

const modern = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject>[] => [
  fc.record({ prefixItems: listOf(schema), items: schema }),
  fc.record({
    contains: schema,
    minContains: fc.nat(2),
    maxContains: fc.nat(3),
    minItems: fc.constant(1),
  }),
  fc.record({ properties: mapOf(schema), unevaluatedProperties: schema }),
  fc.record({ dependentRequired: fc.dictionary(plain, names), dependentSchemas: mapOf(schema) }),
];

const draft07 = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject>[] => [
  fc.record({ items: listOf(schema), additionalItems: schema }),
  fc.record({ dependencies: fc.dictionary(plain, fc.oneof(schema, names)) }),
  fc.record({
    prefixItems: listOf(schema),
    minContains: fc.nat(3),
    dependentRequired: fc.dictionary(plain, names),
  }),
];

/** Whole schemas of two or three keywords, nested, with references. */
function documents(dialect: typeof modern): fc.Arbitrary<JsonObject> {
  const keyword = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
    fc.oneof(...common(schema), ...dialect(schema));
  const two = (schema: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
    fc.tuple(keyword(schema), keyword(schema)).map(([one, other]) => ({ ...one, ...other }));
  const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
    schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), keyword(fc.constant(true)), two(tie('schema'))),
  }));
  return fc
    .tuple(two(schema), schema)
    .map(([root, other]) => ({ ...root, $defs: { leaf: { type: ['string', 'object'] }, other } }));
}

/** Plain ajv's opinion, and none where the function it wrote throws. */
function opinion(validate: (value: unknown) => unknown, value: JsonValue): unknown {
  try {
    return validate(value);
  } catch {
    return undefined;
  }
}

const OPTIONS = { strict: false, logger: false, meta: false, validateSchema: false } as const;

describe('validateJson', () => {
  it('agrees with plain ajv on 2020-12', () => {
    fc.assert(
      fc.property(
        documents(modern),
        fc.array(values, { minLength: 1, maxLength: 6 }),
        (document, samples) => {
          const schema = checkSchema(document, 'test');
          const theirs = new Ajv2020(OPTIONS).compile(document);
          for (const value of samples)
            expect([validateJson(schema, value).length === 0, undefined]).toContain(
              opinion(theirs, value),
            );
        },
      ),
      { numRuns: howMany(100, 200) },
    );
  });

  it('agrees with plain ajv on draft-07', () => {
    fc.assert(
      fc.property(
        documents(draft07),
        fc.array(values, { minLength: 1, maxLength: 6 }),
        (document, samples) => {
          const schema = checkSchema(
            { $schema: 'http://json-schema.org/draft-07/schema#', ...document },
            'test',
          );
          const theirs = new Ajv(OPTIONS).compile(document);
          for (const value of samples)
            expect([validateJson(schema, value).length === 0, undefined]).toContain(
              opinion(theirs, value),
            );
        },
      ),
      { numRuns: howMany(100, 200) },
    );
  });

  it.each([
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
  ])('finds nothing in an empty list, whatever it is to contain: %s', ($schema) => {
    const schema = checkSchema({ $schema, contains: { anyOf: [true] } }, 'test');

    expect(validateJson(schema, [])).toHaveLength(1);
    expect(validateJson(schema, [1])).toEqual([]);
  });

  it('takes any text for the name of a property', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom('"', "'", '\\', '`${1}`', '*/', '\u2028', '__proto__'),
    );

    fc.assert(
      fc.property(text, (name) => {
        const schema = checkSchema(
          { properties: Object.fromEntries([[name, { type: 'string' }]]), required: [name] },
          'test',
        );
        const [good, bad] = ['x', 1].map((value) => Object.fromEntries([[name, value]]));
        expect(
          [good, bad, {}].map((value) => validateJson(schema, value ?? null).length === 0),
        ).toEqual([true, false, false]);
      }),
    );
  });

  it('never throws, whatever a value calls its members', () => {
    const odd = fc.oneof(
      plain,
      fc.constantFrom('__proto__', 'constructor', 'toString', 'valueOf', 'toJSON', 'length', ''),
      fc.string(),
    );

    fc.assert(
      fc.property(
        documents(modern),
        fc.array(valuesOf(odd), { minLength: 1, maxLength: 6 }),
        (document, samples) => {
          for (const value of samples)
            expect(validateJson(document, value).length).toBeLessThanOrEqual(20);
        },
      ),
      { numRuns: howMany(100, 200) },
    );
  });
});
