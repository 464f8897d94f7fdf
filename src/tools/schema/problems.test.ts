import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { describeProblems, validateJson } from './validator.ts';

const texts = (schema: JsonObject, value: JsonValue): string[] =>
  validateJson(schema, value).map(({ path, message }) => `${path} ${message}`.trim());

describe('problems', () => {
  it.each<[JsonObject, JsonValue, string]>([
    [{ type: 'string' }, 7, 'must be string, got number'],
    [{ type: ['string', 'null'] }, [1], 'must be string or null, got array'],
    [{ enum: ['red', 2, null] }, 'blue', 'must be one of "red", 2, null, got another string'],
    [{ const: { a: 1 } }, { a: 2 }, 'must be {"a":1}, got another object'],
    [{ required: ['a/b'] }, {}, '/a~1b is required but missing'],
    [
      { properties: { name: {} }, additionalProperties: false },
      { nam: 1 },
      'has the unknown property "nam"; did you mean "name"?',
    ],
    [
      { properties: { name: {}, age: {} }, additionalProperties: false },
      { z: 1 },
      'has the unknown property "z"; it takes "name", "age"',
    ],
    [{ unevaluatedProperties: false }, { z: 1 }, 'has the unknown property "z"; it takes none'],
    [
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      'has the property name "ab", which must have at most 1 characters',
    ],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'needs "b" beside "a"'],
    [{ minimum: 3 }, 2, 'must be at least 3'],
    [{ exclusiveMaximum: 3 }, 3, 'must be less than 3'],
    [{ multipleOf: 2 }, 3, 'must be a multiple of 2'],
    [{ minLength: 2 }, 'a', 'must have at least 2 characters'],
    [{ maxItems: 1 }, [1, 2], 'must have at most 1 items'],
    [{ prefixItems: [{}], items: false }, [1, 2], 'must have at most 1 items'],
    [{ minProperties: 1 }, {}, 'must have at least 1 properties'],
    [{ uniqueItems: true }, [1, 1], 'must not hold the same item twice'],
    [{ contains: { type: 'string' } }, [1], 'does not hold the items it must hold'],
    [{ pattern: '^a$' }, 'b', 'must match the pattern ^a$'],
    [{ format: 'email' }, 'b', 'must have the format "email"'],
    [{ not: { type: 'string' } }, 'b', 'must not be string of this form'],
    [
      { oneOf: [{ type: 'string' }, { minLength: 0 }] },
      'b',
      'must fit exactly one of 2 alternatives, got string that fits several',
    ],
    [{ properties: { a: false } }, { a: 1 }, '/a is not allowed'],
    [{ if: { type: 'string' }, then: { minLength: 2 } }, 'a', 'must have at least 2 characters'],
    [
      { items: { properties: { 'x y': { type: 'null' } } } },
      [{}, { 'x y': 0 }],
      '/1/x y must be null, got number',
    ],
  ])('say for %j and %j what was expected', (schema, value, text) => {
    expect(texts(schema, value)).toContain(text);
  });

  it('put the summary of alternatives first', () => {
    const schema = { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] };

    expect(texts(schema, {})).toEqual([
      'must fit one of 2 alternatives, got object that fits none',
      'must be string, got object',
      '/a is required but missing',
    ]);
  });

  it('are at most twenty, each once', () => {
    const schema = { items: { type: 'string' }, allOf: [{ items: { type: 'string' } }] };
    const problems = validateJson(
      schema,
      Array.from({ length: 30 }, (_, index) => index),
    );

    expect(problems).toHaveLength(20);
    expect(new Set(problems.map(({ path }) => path)).size).toBe(20);
  });

  it('never hold the value', () => {
    const secret = 'hunter2-hunter2';
    const schemas: JsonObject[] = [
      { type: 'number' },
      { enum: ['a'] },
      { const: 'a' },
      { pattern: '^a$' },
      { maxLength: 3 },
      { format: 'email' },
      { not: {} },
    ];
    const values = [secret, { secret }, [secret, secret], [[secret]]];
    const nested = schemas.flatMap((schema) => [
      schema,
      { additionalProperties: schema },
      { items: schema },
      { anyOf: [schema, { items: schema }] },
    ]);

    for (const schema of [...nested, { uniqueItems: true }])
      for (const value of values)
        expect(JSON.stringify(validateJson(schema, value))).not.toContain(secret);
  });

  it('cut names that came with the value and keep them on one line', () => {
    const name = `a\n\u202e${'x'.repeat(200)}`;
    const [unknown] = validateJson({ additionalProperties: false }, { [name]: 1 });
    const [inside] = validateJson({ additionalProperties: { type: 'null' } }, { [name]: 1 });

    for (const text of [unknown?.message, inside?.path]) {
      expect(text).toMatch(/a x{60,62}…/);
      expect(text).not.toMatch(/[\n\u202e]/);
    }
  });
});

describe('describeProblems', () => {
  it('says all in one clause', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['b'] };

    expect(describeProblems(validateJson(schema, { a: 1 }))).toBe(
      '/b is required but missing; /a must be string, got number',
    );
    expect(describeProblems(validateJson(schema, null))).toBe('must be object, got null');
  });

  it('stops after eight', () => {
    const problems = Array.from({ length: 11 }, (_, index) => ({
      path: `/${index}`,
      message: 'is wrong',
    }));

    expect(describeProblems(problems)).toMatch(/^\/0 is wrong; .*\/7 is wrong; and 3 more$/);
  });
});
