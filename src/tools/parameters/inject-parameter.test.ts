import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import { declaresParameter, injectParameter } from './inject-parameter.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const REASON: JsonSchema = { type: 'string', minLength: 1 };
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

const toolWith = (inputSchema: JsonSchema): ToolSpec => ({
  name: 'subject',
  description: 'A tool.',
  inputSchema,
  annotations: {},
});

const inject = (schema: JsonSchema, options: { required?: boolean } = {}): JsonSchema =>
  injectParameter(toolWith(schema), 'reason', REASON, options).inputSchema;

// Draft-07 says that what stands beside a `$ref` is ignored; ajv has to be told.
const ajv2020 = new Ajv2020({ strict: false, logger: false });
// oxlint-disable-next-line typescript/no-deprecated -- only this option makes ajv follow draft-07 here
const ajv07 = new Ajv({ strict: false, logger: false, ignoreKeywordsWithRef: true });

function accepts(schema: JsonSchema, args: JsonObject): boolean {
  const ajv = schema.$schema === DRAFT_07 ? ajv07 : ajv2020;
  return ajv.validate<JsonObject>(schema, args);
}

function codeOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return isAlliumError(error) ? error.code : error;
  }
}

/** Both schemas must agree about these arguments, and so must their versions with the parameter. */
function expectFaithful(schema: JsonSchema, samples: readonly JsonObject[]): void {
  const injected = inject(schema);
  for (const sample of samples) {
    const wanted = accepts(schema, sample);
    expect(accepts(injected, { ...sample, reason: 'why' }), JSON.stringify(sample)).toBe(wanted);
    expect(accepts(injected, sample)).toBe(false);
  }
}

describe('injectParameter', () => {
  it('adds the parameter to properties and required', () => {
    const injected = inject({
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
    });

    expect(injected).toEqual({
      type: 'object',
      properties: { a: { type: 'number' }, reason: REASON },
      required: ['a', 'reason'],
    });
  });

  it('fills in a missing type and missing properties', () => {
    expect(inject({})).toEqual({
      type: 'object',
      properties: { reason: REASON },
      required: ['reason'],
    });
  });

  it('leaves required alone for an optional parameter', () => {
    expect(inject({ type: 'object' }, { required: false })).toEqual({
      type: 'object',
      properties: { reason: REASON },
    });
  });

  it('returns a frozen spec and does not touch the one it got', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' } },
      allOf: [{ additionalProperties: false, properties: { a: {} } }],
    };
    const before = structuredClone(schema);
    const spec = injectParameter(toolWith(schema), 'reason', REASON);

    expect(schema).toEqual(before);
    expect(Object.isFrozen(schema)).toBe(false);
    expect(Object.isFrozen(spec)).toBe(true);
    expect(Object.isFrozen(spec.inputSchema.allOf)).toBe(true);
  });

  it('keeps members of the spec it does not know', () => {
    const tool = { ...toolWith({ type: 'object' }), timeoutMs: 5 };

    expect(injectParameter(tool, 'reason', REASON)).toMatchObject({
      name: 'subject',
      timeoutMs: 5,
    });
  });

  it('returns the same spec the second time', () => {
    const once = injectParameter(toolWith({ additionalProperties: false }), 'reason', REASON);

    expect(injectParameter(once, 'reason', { type: 'number' })).toBe(once);
  });
});

describe('injectParameter on closed schemas', () => {
  const samples = [
    {},
    { a: 1 },
    { a: 'x' },
    { b: 1 },
    { a: 1, b: 1 },
    { a: 1, b: 'x' },
    { a: 1, b: 1, c: 1 },
  ];
  const closed = {
    type: 'object',
    properties: { a: { type: 'number' } },
    additionalProperties: false,
  };

  it.each<[string, JsonSchema]>([
    ['additionalProperties: false', closed],
    [
      'additionalProperties with a schema',
      { properties: { a: {} }, additionalProperties: { type: 'number' } },
    ],
    [
      'unevaluatedProperties: false',
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    ],
    ['a closed allOf branch', { allOf: [closed] }],
    [
      'closed oneOf branches',
      { oneOf: [closed, { properties: { b: {} }, additionalProperties: false, required: ['b'] }] },
    ],
    [
      'closed anyOf branches, nested',
      { anyOf: [{ anyOf: [{ allOf: [closed] }] }, { required: ['c'] }] },
    ],
    ['a closed branch below not', { not: closed }],
    ['a closed condition', { if: closed, then: { required: ['a'] }, else: { required: ['c'] } }],
    [
      'a closed dependent schema',
      { dependentSchemas: { a: { properties: { a: {}, b: {} }, additionalProperties: false } } },
    ],
    ['propertyNames', { propertyNames: { enum: ['a', 'b'] } }],
    ['maxProperties', { maxProperties: 2 }],
    ['minProperties', { minProperties: 2 }],
    ['counts in a branch', { anyOf: [{ maxProperties: 1 }, { minProperties: 3 }] }],
    ['a field that is forbidden', { not: { required: ['reason'] } }],
    [
      'a dependency on the field',
      { not: { minProperties: 2 }, dependentRequired: { reason: ['z'] } },
    ],
  ])('accepts the same calls as before plus the parameter: %s', (_, schema) => {
    expectFaithful(schema, samples);
  });

  it('is needed: adding to the root alone breaks a closed branch', () => {
    const naive = { allOf: [closed], properties: { reason: REASON }, required: ['reason'] };

    expect(accepts({ allOf: [closed] }, { a: 1 })).toBe(true);
    expect(accepts(naive, { a: 1, reason: 'why' })).toBe(false);
  });

  it('counts a required parameter without asking whether it is there', () => {
    const injected = inject({ minProperties: 1, maxProperties: 2 });

    expect(injected).toMatchObject({ minProperties: 2, maxProperties: 3 });
    expect(injected.allOf).toBeUndefined();
  });

  it('counts an optional parameter only when it is there', () => {
    const injected = inject({ maxProperties: 1, minProperties: 1 }, { required: false });

    expect(accepts(injected, { a: 1 })).toBe(true);
    expect(accepts(injected, { a: 1, reason: 'why' })).toBe(true);
    expect(accepts(injected, { a: 1, b: 1 })).toBe(false);
    expect(accepts(injected, { reason: 'why' })).toBe(false);
  });

  it('puts the whole schema into a closed branch, because some clients refuse `true` there', () => {
    expect(inject({ allOf: [closed] }).allOf).toEqual([
      { ...closed, properties: { a: { type: 'number' }, reason: REASON } },
    ]);
  });
});

describe('injectParameter on references', () => {
  const Point = {
    type: 'object',
    properties: { x: { type: 'number' } },
    required: ['x'],
    additionalProperties: false,
  };
  const samples = [
    {},
    { x: 1 },
    { x: 'a' },
    { x: 1, y: 1 },
    { from: { x: 1 } },
    { from: { x: 1, reason: 'no' } },
  ];

  it('puts the target of a root reference in its place and keeps the definitions', () => {
    const injected = inject({ $ref: '#/$defs/Point', $defs: { Point } });

    expect(injected.$ref).toBeUndefined();
    expect(injected.properties).toEqual({ x: { type: 'number' }, reason: REASON });
    expect(injected.$defs).toEqual({ Point });
  });

  it.each<[string, JsonSchema]>([
    ['a root reference', { $ref: '#/$defs/Point', $defs: { Point } }],
    [
      'a chain of references',
      { $ref: '#/$defs/One', $defs: { One: { $ref: '#/$defs/Point' }, Point } },
    ],
    [
      'a root reference with neighbours',
      { $ref: '#/$defs/Point', maxProperties: 1, $defs: { Point } },
    ],
    [
      'draft-07, where neighbours are ignored',
      { $schema: DRAFT_07, $ref: '#/definitions/Point', maxProperties: 0, definitions: { Point } },
    ],
    ['a branch behind a reference', { allOf: [{ $ref: '#/$defs/Point' }], $defs: { Point } }],
    [
      'a definition used twice',
      {
        anyOf: [
          { $ref: '#/$defs/Point' },
          { properties: { from: { $ref: '#/$defs/Point' } }, required: ['from'] },
        ],
        $defs: { Point },
      },
    ],
    ['an escaped pointer', { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': Point } }],
  ])('accepts the same calls as before plus the parameter: %s', (_, schema) => {
    expectFaithful(schema, samples);
  });

  it('copies a shared definition instead of changing it', () => {
    const injected = inject({
      allOf: [{ $ref: '#/$defs/Point' }],
      properties: { from: { $ref: '#/$defs/Point' } },
      $defs: { Point },
    });

    expect(injected.$defs).toEqual({ Point });
    expect(injected.allOf).toEqual([
      { ...Point, properties: { x: { type: 'number' }, reason: REASON } },
    ]);
    expect(injected.properties).toMatchObject({ from: { $ref: '#/$defs/Point' } });
  });

  it('leaves an open definition where it is', () => {
    const injected = inject({
      allOf: [{ $ref: '#/$defs/Open' }],
      $defs: { Open: { required: ['x'] } },
    });

    expect(injected.allOf).toEqual([{ $ref: '#/$defs/Open' }]);
  });

  it('asks for the parameter at the root of a recursive schema only', () => {
    const tree = {
      type: 'object',
      properties: { kids: { type: 'array', items: { $ref: '#' } } },
      additionalProperties: false,
    };
    const injected = inject(tree);

    expect(accepts(injected, { reason: 'why', kids: [{ kids: [] }] })).toBe(true);
    expect(accepts(injected, { reason: 'why', kids: [{ reason: 'why' }] })).toBe(false);
    expect(accepts(injected, { reason: 'why', kids: [{ other: 1 }] })).toBe(false);
  });

  it('moves a recursive root out of the way of a definition of that name', () => {
    const taken = { type: 'string' };
    const injected = inject({
      properties: { kid: { $ref: '#' }, name: { $ref: '#/$defs/unchanged' } },
      $defs: { unchanged: taken },
    });

    expect(injected.$defs).toMatchObject({ unchanged: taken });
    expect(accepts(injected, { reason: 'why', name: 'x', kid: { name: 'y' } })).toBe(true);
    expect(accepts(injected, { reason: 'why', kid: { name: 1 } })).toBe(false);
  });

  it('leaves the references of an inner document alone', () => {
    const inner = {
      $id: 'https://example.test/inner',
      type: 'object',
      properties: { kid: { $ref: '#' } },
    };

    expect(inject({ properties: { a: inner, b: { $ref: '#' } } }).properties).toMatchObject({
      a: inner,
      b: { $ref: '#/$defs/unchanged' },
    });
  });

  it('does not take data for references', () => {
    const schema = { properties: { a: { const: { $ref: '#' } }, $ref: { type: 'string' } } };

    expect(inject(schema).$defs).toBeUndefined();
    expect(accepts(inject(schema), { reason: 'why', a: { $ref: '#' } })).toBe(true);
  });

  it('drops the id, so that both schemas fit into one validator', () => {
    const ajv = new Ajv2020({ strict: false });
    const schema = { $id: 'https://example.test/tool', type: 'object' };

    ajv.compile(schema);
    expect(() => ajv.compile(inject(schema))).not.toThrow();
  });
});

describe('injectParameter refuses', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `d${index}`,
      { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  );

  it.each<[string, JsonSchema]>([
    ['a root enum', { enum: [{ a: 1 }] }],
    ['a root enum of anything', { enum: ['x'] }],
    ['a root const', { const: { a: 1 } }],
    [
      'an id that is referred to',
      { $id: 'https://example.test/t', properties: { a: { $ref: 'https://example.test/t' } } },
    ],
    ['a const object in a branch', { anyOf: [{ const: { a: 1 } }, {}] }],
    ['a reference to another document', { allOf: [{ $ref: 'https://example.test/x' }] }],
    ['a dangling reference', { $ref: '#/$defs/none' }],
    ['a reference to itself', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }],
    ['a branch that contains itself', { allOf: [{ $ref: '#' }] }],
    ['a dynamic reference', { allOf: [{ $dynamicRef: '#node' }] }],
    ['an anchored root', { $anchor: 'root', properties: { a: { $ref: '#root' } } }],
    ['a pattern that covers the name', { patternProperties: { '^rea': { type: 'number' } } }],
    [
      'a pattern nobody can check in linear time',
      { patternProperties: { '(?=a)b': { type: 'number' } } },
    ],
    [
      'references that double at every step',
      { $ref: '#/$defs/d0', $defs: { ...doubling, d40: { additionalProperties: false } } },
    ],
  ])('%s', (_, schema) => {
    expect(codeOf(() => inject(schema))).toBe('ERR_SCHEMA_UNSUPPORTED');
  });

  it('nothing about a pattern that does not match, or asks for nothing', () => {
    expectFaithful({ patternProperties: { '^x': { type: 'number' }, reason: true } }, [
      { x: 1 },
      { x: 'a' },
      {},
    ]);
  });

  it.each(['', '__proto__', 'constructor', 'prototype'])('the parameter name "%s"', (name) => {
    expect(codeOf(() => injectParameter(toolWith({}), name, REASON))).toBe('ERR_INVALID_OPTION');
  });

  it('a schema that is none, that has references, and unknown options', () => {
    const code = (schema: unknown, options?: object) =>
      codeOf(() => injectParameter(toolWith({}), 'reason', schema as JsonSchema, options));

    expect(code('string')).toBe('ERR_INVALID_OPTION');
    expect(code({ $ref: '#/$defs/a' })).toBe('ERR_INVALID_OPTION');
    expect(code(REASON, { require: true })).toBe('ERR_INVALID_OPTION');
  });
});

describe('declaresParameter', () => {
  const declared = { properties: { reason: { type: 'string' } } };

  it.each<[string, JsonSchema]>([
    ['its own properties', declared],
    ['an allOf branch', { allOf: [{}, declared] }],
    ['a referenced branch', { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: declared } }],
    ['a root reference', { $ref: '#/definitions/a', definitions: { a: declared } }],
    ['one of several alternatives', { oneOf: [{ required: ['a'] }, declared] }],
    ['a condition', { if: {}, then: declared }],
    ['required alone', { required: ['reason'] }],
  ])('finds it in %s', (_, schema) => {
    expect(declaresParameter(schema, 'reason')).toBe(true);
    expect(injectParameter(toolWith(schema), 'reason', REASON).inputSchema).toBe(schema);
  });

  it.each<[string, JsonSchema]>([
    ['a nested object', { properties: { a: declared } }],
    ['a definition nobody uses', { $defs: { a: declared } }],
    ['what is forbidden', { not: declared }],
    ['what every object inherits', { properties: {} }],
    ['a schema that contains itself', { allOf: [{ $ref: '#' }] }],
  ])('does not find it in %s', (_, schema) => {
    expect(declaresParameter(schema, 'reason')).toBe(false);
    expect(declaresParameter(schema, 'toString')).toBe(false);
  });
});

describe('injectParameter, for any schema', () => {
  const KEYS = ['a', 'b', 'c'];
  const keys = fc.uniqueArray(fc.constantFrom(...KEYS), { maxLength: 2 });
  const leaf = fc.constantFrom<JsonValue>(
    {},
    { type: 'number' },
    { type: 'string' },
    { $ref: '#' },
    { $ref: '#/$defs/two' },
    true,
    false,
  );
  const open = { required: ['a'] };
  const keyword = <T>(name: string, value: fc.Arbitrary<T>) =>
    value.map((one) => [name, one] as const);

  /**
   * Up to three keywords at a time: a schema with all of them accepts nothing, and proves nothing.
   */
  const nodeOf = (...refs: readonly string[]) =>
    fc.letrec<{ node: JsonObject }>((tie) => {
      const branch = fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom<JsonObject>(open, ...refs.map(($ref) => ({ $ref }))),
        tie('node'),
      );
      const branches = fc.array(branch, { minLength: 1, maxLength: 2 });
      const entry = fc.oneof(
        keyword('properties', fc.dictionary(fc.constantFrom(...KEYS), leaf, { maxKeys: 3 })),
        keyword('required', keys),
        keyword(
          'additionalProperties',
          fc.constantFrom<JsonValue>(false, true, { type: 'number' }),
        ),
        keyword('unevaluatedProperties', fc.constantFrom<JsonValue>(false, { type: 'string' })),
        keyword(
          'propertyNames',
          fc.constantFrom<JsonValue>({ enum: ['a', 'b'] }, { maxLength: 1 }),
        ),
        keyword('minProperties', fc.nat({ max: 2 })),
        keyword('maxProperties', fc.nat({ max: 3 })),
        keyword('allOf', branches),
        keyword('anyOf', branches),
        keyword('oneOf', branches),
        keyword(
          'not',
          fc.oneof(
            branch,
            fc.constantFrom(
              { required: ['reason'] },
              { properties: { reason: { type: 'number' } } },
            ),
          ),
        ),
        keyword('if', branch),
        keyword('then', branch),
        keyword('else', branch),
        keyword(
          'dependentSchemas',
          fc.dictionary(fc.constantFrom('a', 'reason'), branch, { maxKeys: 1 }),
        ),
        keyword(
          'dependentRequired',
          fc.dictionary(fc.constantFrom('b', 'reason'), keys, { maxKeys: 1 }),
        ),
        keyword(
          'dependencies',
          fc.dictionary(fc.constantFrom('b', 'reason'), fc.oneof(keys, branch), { maxKeys: 1 }),
        ),
        ...(refs.length === 0 ? [] : [keyword('$ref', fc.constantFrom(...refs))]),
      );
      return {
        node: fc
          .uniqueArray(entry, { selector: ([name]) => name, minLength: 1, maxLength: 3 })
          .map(toSchema),
      };
    }).node;

  // What the generator made is JSON.
  const toSchema = (entries: readonly (readonly [string, unknown])[]): JsonObject =>
    Object.fromEntries(entries) as JsonObject;

  const schemas = fc.record({
    root: nodeOf('#/$defs/one', '#/$defs/two'),
    one: nodeOf('#/$defs/two'),
    two: nodeOf(),
  });
  const value = fc.constantFrom<JsonValue>(1, 'x', {}, { a: 1 }, { reason: 'inner' });
  const sample = fc.record({
    rest: fc.dictionary(fc.constantFrom(...KEYS, 'd'), value, { maxKeys: 3 }),
    reason: fc.option(fc.constantFrom<JsonValue>('why', 'why', 'why', '', 7), { nil: undefined }),
  });

  /**
   * Ajv 8.20 forgets evaluated properties when the key of a dependent schema is absent, and counts
   * those of a branch that failed if another one stands in it.
   */
  const mistakenByAjv = (text: string): boolean =>
    text.includes('unevaluatedProperties') &&
    /dependentSchemas|dependencies|"(?:anyOf|oneOf|if)".*"(?:anyOf|oneOf|if)"/.test(text);

  it.each([
    ['2020-12', 'https://json-schema.org/draft/2020-12/schema', true],
    ['2020-12, optional', 'https://json-schema.org/draft/2020-12/schema', false],
    ['draft-07', DRAFT_07, true],
    ['draft-07, optional', DRAFT_07, false],
  ])(
    'arguments fit exactly when the rest fits the original and the parameter its own (%s)',
    (_, $schema, required) => {
      const seen = { accepted: 0, refused: 0 };
      const property = fc.property(
        schemas,
        fc.array(sample, { minLength: 6, maxLength: 6 }),
        ({ root, ...$defs }, samples) => {
          const schema = { $schema, ...root, $defs };
          fc.pre(!declaresParameter(schema, 'reason') && !mistakenByAjv(JSON.stringify(schema)));
          const injected = inject(schema, { required });
          for (const { rest, reason } of samples) {
            const given = reason === undefined ? rest : { ...rest, reason };
            const fits =
              reason === undefined ? !required : typeof reason === 'string' && reason !== '';
            const wanted = fits && accepts(schema, rest);
            seen[wanted ? 'accepted' : 'refused'] += 1;
            expect(accepts(injected, given), JSON.stringify({ given, schema, injected })).toBe(
              wanted,
            );
          }
        },
      );

      fc.assert(property, { numRuns: howMany(100, 250) });
      expect(seen.accepted).toBeGreaterThan(100);
      expect(seen.refused).toBeGreaterThan(100);
    },
  );
});
