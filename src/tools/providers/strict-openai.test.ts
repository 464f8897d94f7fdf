import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { fromProviderArgs } from './provider-messages.ts';
import { isSchemaObject, listIn, mapIn } from '../parameters/local-ref.ts';
import { toOpenAiStrict } from './strict-openai.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const strict = (schema: JsonSchema): JsonSchema => toOpenAiStrict(schema, 'subject');
const withValue = (value: JsonValue): JsonSchema => ({
  type: 'object',
  properties: { value },
  required: ['value'],
});
/** What becomes of one required property. */
const strictValue = (value: JsonValue): JsonValue | undefined =>
  mapIn(strict(withValue(value)), 'properties').value;
/** What becomes of one optional property. */
const strictOptional = (value: JsonValue): JsonValue | undefined =>
  mapIn(strict({ properties: { value } }), 'properties').value;

function refusal(schema: JsonSchema): string {
  try {
    return JSON.stringify(strict(schema));
  } catch (error) {
    return isAlliumError(error, 'ERR_SCHEMA_UNSUPPORTED') ? error.message : String(error);
  }
}

describe('toOpenAiStrict', () => {
  it('closes objects and requires every property', () => {
    const schema = {
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a'],
    };

    expect(strict(schema)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: ['number', 'null'] } },
      required: ['a', 'b'],
      additionalProperties: false,
    });
  });

  it('takes a tool without parameters', () => {
    expect(strict({ type: 'object' })).toEqual({
      type: 'object',
      properties: {},
      required: [],
      additionalProperties: false,
    });
  });

  it.each<[string, JsonValue, JsonValue]>([
    [
      'a plain type',
      { type: 'string', description: 'D' },
      { type: ['string', 'null'], description: 'D' },
    ],
    ['a list of types', { type: ['string', 'number'] }, { type: ['string', 'number', 'null'] }],
    ['a nullable type', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    ['an enum', { enum: ['x', 'y'] }, { type: ['string', 'null'], enum: ['x', 'y', null] }],
    [
      'a const',
      { const: 'x', title: 'T' },
      { title: 'T', anyOf: [{ type: 'string', const: 'x' }, { type: 'null' }] },
    ],
    [
      'a union',
      { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }, { type: 'null' }],
      },
    ],
    [
      'a nullable union',
      { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
      { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
    ],
  ])('makes an optional property nullable: %s', (_, value, wanted) => {
    expect(strictOptional(value)).toEqual(wanted);
  });

  it('keeps references and their definitions, wherever they stood', () => {
    const Point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] };
    const result = strict({
      properties: {
        from: { $ref: '#/definitions/Point' },
        to: { $ref: '#/properties/from', description: 'D' },
      },
      required: ['from'],
      definitions: { Point },
    });

    expect(result.properties).toEqual({
      from: { $ref: '#/$defs/Point' },
      to: { description: 'D', anyOf: [{ $ref: '#/$defs/from' }, { type: 'null' }] },
    });
    expect(result.$defs).toEqual({
      Point: { ...Point, additionalProperties: false },
      from: { $ref: '#/$defs/Point' },
    });
  });

  it('tells definitions of one name apart', () => {
    const schema = {
      properties: { a: { $ref: '#/$defs/X' }, b: { $ref: '#/definitions/X' } },
      required: ['a', 'b'],
      $defs: { X: { type: 'string' } },
      definitions: { X: { type: 'number' } },
    };

    expect(strict(schema)).toMatchObject({
      properties: { a: { $ref: '#/$defs/X' }, b: { $ref: '#/$defs/X_' } },
      $defs: { X: { type: 'string' }, X_: { type: 'number' } },
    });
  });

  it('ignores what stands beside a reference in draft-07', () => {
    const P = { type: 'object', properties: { a: { type: 'string' } } };
    const result = strict({
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/definitions/P',
      properties: { z: { type: 'string' } },
      definitions: { P },
    });

    expect(result.required).toEqual(['a']);
  });

  it('leaves out enum values the type rules out', () => {
    expect(strictValue({ type: 'string', enum: ['a', 1] })).toEqual({
      type: 'string',
      enum: ['a'],
    });
  });

  it('takes recursion', () => {
    const result = strict({
      type: 'object',
      properties: { kids: { type: 'array', items: { $ref: '#' } } },
      required: ['kids'],
    });

    expect(result.properties).toEqual({ kids: { type: 'array', items: { $ref: '#' } } });
  });

  it('puts the target of a root reference in its place', () => {
    const result = strict({
      $ref: '#/$defs/Node',
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
    });

    expect(result).toMatchObject({
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } },
    });
    expect(Object.keys(mapIn(result, '$defs'))).toEqual(['Node']);
  });

  it('turns oneOf into anyOf and splits types that hold others', () => {
    expect(strictValue({ oneOf: [{ type: 'string' }, { type: 'number' }] })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'number' }],
    });
    expect(
      strictValue({ type: ['array', 'null'], items: { type: 'string' }, description: 'D' }),
    ).toEqual({
      description: 'D',
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
    });
  });

  it('deals what stands beside a union out to its branches', () => {
    const value = {
      type: 'string',
      description: 'D',
      oneOf: [
        { const: 'a', title: 'A' },
        { const: 'b', title: 'B' },
      ],
    };

    expect(strictValue(value)).toEqual({
      description: 'D',
      anyOf: [
        { type: 'string', title: 'A', const: 'a' },
        { type: 'string', title: 'B', const: 'b' },
      ],
    });
  });
});

describe('toOpenAiStrict on constraints', () => {
  it('keeps what OpenAI enforces', () => {
    const value = { type: 'number', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 };

    expect(strictValue(value)).toEqual(value);
    expect(strictValue({ type: 'string', pattern: '^a', format: 'uuid' })).toEqual({
      type: 'string',
      pattern: '^a',
      format: 'uuid',
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['lengths', { type: 'string', minLength: 3 }, { minLength: 3 }],
    ['an unknown format', { type: 'string', format: 'uri' }, { format: 'uri' }],
    ['a lookahead', { type: 'string', pattern: '^(?!x)' }, { pattern: '^(?!x)' }],
    [
      'uniqueness',
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
      { uniqueItems: true },
    ],
    ['a default', { type: 'string', default: 'x' }, { default: 'x' }],
    ['a negation', { type: 'string', not: { const: 'x' } }, { not: { const: 'x' } }],
    [
      'a dependency',
      { properties: { a: { type: 'string' } }, dependentRequired: { a: ['a'] } },
      { dependentRequired: { a: ['a'] } },
    ],
  ])('tells the model what nobody else enforces: %s', (_, value, told) => {
    const result = strictValue({ ...value, description: 'D' });

    expect(result).toMatchObject({
      description: `D\n\nFurther rules, as JSON Schema: ${JSON.stringify(told)}`,
    });
    for (const keyword of Object.keys(told)) expect(result).not.toHaveProperty(keyword);
  });

  it('tells the places of a tuple', () => {
    const tuple = [{ type: 'string' }, { type: 'number' }];

    expect(strictValue({ type: 'array', prefixItems: tuple })).toEqual({
      type: 'array',
      description: `Further rules, as JSON Schema: ${JSON.stringify({ prefixItems: tuple })}`,
      items: { anyOf: tuple },
    });
  });

  it('tells which properties must come together, also at the root', () => {
    const anyOf = [{ required: ['a'] }, { required: ['b'] }];
    const result = strict({ properties: { a: { type: 'string' }, b: { type: 'string' } }, anyOf });

    expect(result.description).toBe(`Further rules, as JSON Schema: ${JSON.stringify({ anyOf })}`);
    expect(result.anyOf).toBeUndefined();
  });

  it('says nothing of keywords that mean nothing here', () => {
    expect(
      strictValue({ type: 'string', minimum: 3, $comment: 'c', 'x-order': 1, readOnly: true }),
    ).toEqual({ type: 'string' });
  });
});

describe('toOpenAiStrict on allOf', () => {
  it('merges objects and joins what both describe', () => {
    const first = {
      properties: { a: { type: 'number', minimum: 1 }, b: { type: 'string' } },
      required: ['a'],
    };
    const second = {
      properties: { a: { type: 'integer', minimum: 2, maximum: 9 } },
      required: ['b'],
    };

    expect(strict({ allOf: [first, { $ref: '#/$defs/second' }], $defs: { second } })).toEqual({
      type: 'object',
      properties: { a: { type: 'integer', minimum: 2, maximum: 9 }, b: { type: 'string' } },
      required: ['a', 'b'],
      additionalProperties: false,
    });
  });

  it('keeps the description beside a single branch', () => {
    expect(
      strictValue({ description: 'D', allOf: [{ type: 'string', description: 'inner' }] }),
    ).toEqual({
      type: 'string',
      description: 'D',
    });
  });

  it.each<[string, JsonValue, string]>([
    ['two types', { allOf: [{ type: 'string' }, { type: 'number' }] }, 'two types'],
    ['two patterns', { allOf: [{ type: 'string', pattern: 'a' }, { pattern: 'b' }] }, '"pattern"'],
    ['no common value', { allOf: [{ enum: ['a'] }, { enum: ['b'] }] }, 'enum'],
    [
      'a closed object and another',
      {
        allOf: [{ properties: { a: {} }, additionalProperties: false }, { properties: { b: {} } }],
      },
      'closed object',
    ],
    [
      'another object and a closed one',
      {
        allOf: [{ properties: { b: {} } }, { properties: { a: {} }, additionalProperties: false }],
      },
      'closed object',
    ],
    ['an impossible branch', { allOf: [false] }, 'accepts nothing'],
  ])('refuses %s', (_, value, rule) => {
    expect(refusal(withValue(value))).toContain(rule);
  });
});

describe('toOpenAiStrict refuses', () => {
  const nested = (levels: number): JsonSchema =>
    levels === 0 ? { type: 'string' } : { properties: { a: nested(levels - 1) } };
  const many = (count: number, name = (index: number) => `p${index}`): JsonSchema => ({
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [name(index), { type: 'string' }]),
    ),
  });
  const choice = (count: number, length: number): JsonSchema =>
    withValue({
      enum: Array.from({ length: count }, (_, index) => String(index).padStart(length, '0')),
    });
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `d${index}`,
      { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  );

  it.each<[string, JsonSchema, string]>([
    [
      'a union at the root',
      { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
      'root must not be a union',
    ],
    [
      'two unions at once',
      withValue({ anyOf: [{ type: 'string' }], oneOf: [{ type: 'string' }] }),
      'side by side',
    ],
    ['a value of any type', withValue({}), 'must have a type'],
    ['a boolean schema', withValue(true), 'must have a type'],
    ['a list of anything', withValue({ type: 'array' }), 'items of a list'],
    ['free keys', withValue({ type: 'object' }), 'free keys'],
    ['a map', withValue({ type: 'object', additionalProperties: { type: 'string' } }), 'free keys'],
    ['free keys at the root', { additionalProperties: true }, 'free keys'],
    ['an enum of objects', withValue({ enum: [{ a: 1 }] }), 'plain values'],
    ['a required property nobody declares', { required: ['a'] }, 'must be declared'],
    [
      'a reference to elsewhere',
      withValue({ $ref: 'https://example.test/x' }),
      'references must lead',
    ],
    [
      'a schema that is part of itself',
      { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } },
      'part of itself',
    ],
    ['an inner id', withValue({ $id: 'x', type: 'string' }), 'an id'],
    [
      'references that double at every step',
      { $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'object' } } },
      'branches too often',
    ],
    ['too many levels', nested(11), '10 levels'],
    ['too many properties', many(5_001), '5000 properties'],
    [
      'too many characters',
      many(2_000, (index) => `${'x'.repeat(60)}${index}`),
      '120000 characters',
    ],
    ['too many enum values', choice(1_001, 4), '1000 enum values'],
    ['a long enum', choice(251, 60), '15000 characters'],
  ])('%s', (_, schema, rule) => {
    expect(refusal(schema)).toContain('tool "subject" cannot be strict for openai: ');
    expect(refusal(schema)).toContain(rule);
  });

  it('nothing that is just within the limits', () => {
    for (const schema of [nested(10), many(5_000), choice(1_000, 4), choice(250, 60)])
      expect(() => strict(schema)).not.toThrow();
  });
});

describe('toOpenAiStrict, for any schema it takes', () => {
  /**
   * A schema, arguments for it, and the same arguments as OpenAI's strict mode would have them
   * written.
   */
  interface Sample {
    readonly schema: JsonObject;
    readonly own: JsonValue;
    readonly sent: JsonValue;
  }

  const plain = (schema: JsonObject, ...values: readonly JsonValue[]): fc.Arbitrary<Sample> =>
    fc.constantFrom(...values).map((value) => ({ schema, own: value, sent: value }));

  const { object } = fc.letrec<{ any: Sample; object: Sample }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      plain({ type: 'string', minLength: 0 }, '', 'x'),
      plain({ type: 'integer', minimum: 0 }, 0, 3),
      plain({ type: ['string', 'null'] }, 'x', null),
      plain({ enum: ['a', null, 2] }, 'a', null, 2),
      plain({ const: 'k' }, 'k'),
      plain({ $ref: '#/$defs/text' }, 't'),
      plain({ oneOf: [{ type: 'string' }, { type: 'boolean' }] }, 'u', true),
      tie('any').chain((item) =>
        fc.nat({ max: 2 }).map((count) => ({
          schema: { type: 'array', items: item.schema },
          own: Array.from({ length: count }, () => item.own),
          sent: Array.from({ length: count }, () => item.sent),
        })),
      ),
      tie('object'),
    ),
    object: fc
      .dictionary(
        fc.constantFrom('a', 'b', 'c', 'constructor'),
        fc.tuple(tie('any'), fc.constantFrom('required', 'given', 'absent')),
        {
          maxKeys: 4,
          minKeys: 1,
        },
      )
      .chain((members) =>
        fc.boolean().map((split) => objectSample(Object.entries(members), split)),
      ),
  }));

  function objectSample(
    members: readonly (readonly [string, readonly [Sample, string]])[],
    split: boolean,
  ): Sample {
    const properties = Object.fromEntries(members.map(([name, [{ schema }]]) => [name, schema]));
    const required = members.filter(([, [, use]]) => use === 'required').map(([name]) => name);
    return {
      schema: split
        ? { allOf: [{ type: 'object', properties }, { required }] }
        : { type: 'object', properties, required, additionalProperties: false },
      own: Object.fromEntries(
        members.filter(([, [, use]]) => use !== 'absent').map(([name, [{ own }]]) => [name, own]),
      ),
      sent: Object.fromEntries(
        members.map(([name, [{ sent }, use]]) => [name, use === 'absent' ? null : sent]),
      ),
    };
  }

  // Without `ownProperties` ajv finds a `constructor` in every object.
  const ajv = new Ajv2020({ strict: false, ownProperties: true });

  function expectStrict(schema: JsonValue | undefined): void {
    if (!isSchemaObject(schema)) return;
    if (schema.type === 'object') {
      expect(schema).toMatchObject({
        additionalProperties: false,
        required: Object.keys(mapIn(schema, 'properties')),
      });
    }
    expect(schema).not.toHaveProperty('allOf');
    for (const inner of [
      ...Object.values(mapIn(schema, 'properties')),
      ...listIn(schema, 'anyOf'),
      schema.items,
    ])
      expectStrict(inner);
  }

  it('takes arguments with nulls for what is absent, and gives them back as the tool accepts them', () => {
    fc.assert(
      fc.property(object, ({ schema, own, sent }) => {
        const root = { ...schema, $defs: { text: { type: 'string' } } };
        const result = strict(root);
        const back = fromProviderArgs(
          { name: 'subject', description: '', inputSchema: root, annotations: {} },
          sent as JsonObject,
        ); // An object by its schema.

        expectStrict(result);
        expect(ajv.validate(root, own)).toBe(true);
        expect(ajv.validate(result, sent), JSON.stringify({ root, result, sent })).toBe(true);
        expect(ajv.validate(root, back), JSON.stringify({ root, sent, back })).toBe(true);
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it('gives the same bytes for the same schema', () => {
    fc.assert(
      fc.property(object, ({ schema }) => {
        const root = { ...schema, $defs: { text: { type: 'string' } } };

        expect(JSON.stringify(strict(root))).toBe(JSON.stringify(strict(structuredClone(root))));
      }),
      { numRuns: 50 },
    );
  });
});
