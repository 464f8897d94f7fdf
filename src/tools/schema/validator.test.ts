import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { checkSchema } from './check-schema.ts';
import { countCompilations, isCompiled, validateJson } from './validator.ts';

const fits = (schema: JsonObject, value: JsonValue): boolean =>
  validateJson(checkSchema(schema, 'test'), value).length === 0;
// Every text below is an object. A literal could not have a member called __proto__.
const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

describe('validateJson', () => {
  it('answers with an empty list when the value fits', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };

    expect(validateJson(checkSchema(schema, 'test'), { a: 'x' })).toEqual([]);
    expect(validateJson(schema, { a: 'x' })).toEqual([]);
  });

  it.each<[string, JsonValue]>([
    ['integer', '1'],
    ['integer', 1.5],
    ['integer', true],
    ['number', '1e9'],
    ['number', ' 5'],
    ['boolean', 'true'],
    ['boolean', 1],
    ['string', null],
    ['string', 1],
    ['null', ''],
    ['null', 0],
    ['array', 'a'],
    ['array', { length: 0 }],
    ['object', []],
    ['object', null],
  ])('does not take for %s the value %j', (type, value) => {
    expect(fits({ type }, value)).toBe(false);
  });

  it('takes 1.0 for an integer', () => {
    expect(fits({ type: 'integer' }, 1.0)).toBe(true);
  });

  it('fills in no default and leaves the value as it is', () => {
    const value = { b: '1' };
    validateJson({ properties: { a: { default: 7 }, b: { type: 'integer' } } }, value);

    expect(value).toEqual({ b: '1' });
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'])(
    'asks for an own property %s',
    (name) => {
      const own = parsed(`{"${name}":"x"}`);
      const wrong = parsed(`{"${name}":7}`);
      const schema = parsed(
        `{"properties":{"${name}":{"type":"string"}},"required":["${name}"],"additionalProperties":false}`,
      );

      expect([fits(schema, {}), fits(schema, own), fits(schema, wrong)]).toEqual([
        false,
        true,
        false,
      ]);
      expect([
        fits({ additionalProperties: false }, own),
        fits(parsed(`{"patternProperties":{"${name}":false}}`), own),
      ]).toEqual([false, false]);
    },
  );

  it('leaves Object.prototype alone', () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    const schema = parsed(
      '{"properties":{"__proto__":{"properties":{"polluted":{"default":1}}}},"unevaluatedProperties":false}',
    );
    validateJson(
      schema,
      parsed('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    );

    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  });

  it('compares values that bring their own toString', () => {
    expect(fits({ const: { a: 1 } }, { toString: 1 })).toBe(false);
    expect(fits({ enum: [{ toString: 1 }] }, { toString: 1 })).toBe(true);
    expect(fits({ uniqueItems: true }, [{ toString: 1 }, { valueOf: 1 }])).toBe(true);
  });
});

describe('validateJson, dialects,', () => {
  const tuple = [{ type: 'string' }, { type: 'integer' }];

  it('reads prefixItems in 2020-12 and where no dialect is named', () => {
    for (const head of [{}, { $schema: 'https://json-schema.org/draft/2020-12/schema' }]) {
      const schema = { ...head, prefixItems: tuple, items: false };
      expect([fits(schema, ['a', 1]), fits(schema, [1, 'a']), fits(schema, ['a', 1, 2])]).toEqual([
        true,
        false,
        false,
      ]);
    }
  });

  it('reads a list of items in draft-07, 2019-09 and where no dialect is named', () => {
    for (const head of [
      {},
      { $schema: DRAFT_07 },
      { $schema: 'https://json-schema.org/draft/2019-09/schema' },
    ]) {
      const schema = { ...head, items: tuple, additionalItems: false };
      expect([fits(schema, ['a', 1]), fits(schema, [1, 'a']), fits(schema, ['a', 1, 2])]).toEqual([
        true,
        false,
        false,
      ]);
    }
  });

  it('follows references into definitions', () => {
    const schema = {
      $schema: DRAFT_07,
      $ref: '#/definitions/a',
      definitions: { a: { $id: '#here', items: { $ref: '#here' }, type: 'array' } },
    };

    expect([fits(schema, [[], [[]]]), fits(schema, [[1]])]).toEqual([true, false]);
  });

  it('ignores in draft-07 what draft-07 does not know', () => {
    const schema = {
      prefixItems: [{ type: 'string' }],
      unevaluatedProperties: false,
      dependentRequired: { a: ['b'] },
    };

    expect([fits({ $schema: DRAFT_07, ...schema }, [1]), fits(schema, [1])]).toEqual([true, false]);
    expect([fits({ $schema: DRAFT_07, ...schema }, { a: 1 }), fits(schema, { a: 1 })]).toEqual([
      true,
      false,
    ]);
  });

  it('reads the dependencies of draft-07', () => {
    const schema = { $schema: DRAFT_07, dependencies: { a: ['b'], c: { required: ['d'] } } };

    expect([
      fits(schema, { a: 1, b: 1 }),
      fits(schema, { a: 1 }),
      fits(schema, { c: 1 }),
      fits(schema, {}),
    ]).toEqual([true, false, false, true]);
  });

  it('resolves anchors, dynamic and recursive references within the document', () => {
    const schemas: JsonObject[] = [
      { $ref: '#a', $defs: { x: { $anchor: 'a', type: 'array' } } },
      { type: 'array', $dynamicAnchor: 'a', items: { $dynamicRef: '#a' } },
      { type: 'array', items: { $recursiveRef: '#' }, $recursiveAnchor: true },
    ];

    for (const schema of schemas)
      expect([fits(schema, [[]]), fits(schema, 'a')]).toEqual([true, false]);
    for (const schema of schemas.slice(1)) expect(fits(schema, [[1]])).toBe(false);
  });

  it('lets nullable of OpenAPI add null to a type, and mean nothing alone', () => {
    const schema = { type: 'string', nullable: true };

    expect([
      fits(schema, null),
      fits(schema, 'a'),
      fits(schema, 1),
      fits({ nullable: true }, 1),
    ]).toEqual([true, true, false, true]);
  });
});

describe('validateJson, what a schema cannot do,', () => {
  it.each<[string, JsonObject]>([
    ['$async, which answers every value with a promise', { $async: true, type: 'string' }],
    ['id, which ajv throws at', { id: 'old', type: 'string' }],
    ['a nested id', { properties: { a: { id: 7 } }, type: 'string' }],
    [
      'an unknown keyword with a strange value',
      { discriminator: 7, type: 'string', formatMinimum: {}, alliumSteps: 1e9 },
    ],
  ])('is to switch ajv by %s', (_what, schema) => {
    expect([fits(schema, 7), fits(schema, 'a')]).toEqual([false, true]);
  });

  it('is to stand for another schema of the same $id', () => {
    const $id = 'https://example.invalid/same';

    expect(fits({ $id, type: 'string' }, 'a')).toBe(true);
    expect(fits({ $id, type: 'number' }, 'a')).toBe(false);
    expect(
      fits(
        { properties: { a: { $id, type: 'string' }, b: { $id, type: 'number' } } },
        { a: 'a', b: 1 },
      ),
    ).toBe(true);
  });

  it('is to share a pattern with another', () => {
    const schema = {
      properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } },
      patternProperties: { '^c': false, '^d': { type: 'null' } },
    };

    expect([
      fits(schema, { a: 'a', b: 'b', d: null }),
      fits(schema, { a: 'a', b: 'a' }),
      fits(schema, { d: 1 }),
    ]).toEqual([true, false, false]);
  });

  it('is to be used without having been checked', () => {
    const act = (): unknown => validateJson({ $ref: 'http://example.invalid/' }, 1);

    expect(act).toThrow(/refers to another document/);
    expect(() => validateJson({ type: 'nope' }, 1)).toThrow(
      expect.toSatisfy((thrown) => isAlliumError(thrown, 'ERR_SCHEMA_UNSUPPORTED')),
    );
  });
});

describe('validateJson, compiling,', () => {
  it('waits for the first value and is done once', () => {
    const schema = checkSchema({ properties: { once: { type: 'string' } } }, 'test');
    const before = countCompilations();
    expect(isCompiled(schema)).toBe(false);

    validateJson(schema, { once: 'a' });
    expect([isCompiled(schema), countCompilations() - before]).toEqual([true, 1]);
    validateJson(schema, { once: 'b' });
    expect(countCompilations() - before).toBe(1);
  });

  it('is done a second time for the first value that does not fit', () => {
    const schema = checkSchema({ properties: { twice: { type: 'string' } } }, 'test');
    const before = countCompilations();
    for (const twice of ['a', 1, 2, 'b']) validateJson(schema, { twice });

    expect(countCompilations() - before).toBe(2);
  });

  it('is not repeated for another object with the same text', () => {
    const schema = { properties: { again: { type: 'string' } } };
    validateJson(checkSchema(schema, 'test'), {});
    const before = countCompilations();
    validateJson(checkSchema({ ...schema }, 'test'), {});
    validateJson(structuredClone(schema), {});

    expect(countCompilations() - before).toBe(0);
  });

  it('sees that a schema which is not frozen has changed', () => {
    const schema: Record<string, JsonValue> = { type: 'string' };
    expect(validateJson(schema, 'a')).toEqual([]);
    schema['type'] = 'number';

    expect(validateJson(schema, 'a')).toHaveLength(1);
  });

  it('is forgotten when a thousand others came after', () => {
    const schema = (index: number): JsonObject => ({ title: `forgotten ${index}` });
    validateJson(schema(0), 1);
    expect(isCompiled(schema(0))).toBe(true);
    for (let index = 1; index <= 1000; index += 1) validateJson(schema(index), 1);

    expect([isCompiled(schema(0)), isCompiled(schema(1000))]).toEqual([false, true]);
  });
});
