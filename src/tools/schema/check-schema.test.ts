import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { isSnapshot } from '../../core/json/json.ts';
import { type CheckSchemaOptions, checkSchema } from './check-schema.ts';
import { countCompilations, isCompiled } from './validator.ts';

function refusal(schema: unknown, options?: CheckSchemaOptions): AlliumError {
  try {
    checkSchema(schema, 'tool "t"', options);
  } catch (thrown) {
    if (thrown instanceof AlliumError) return thrown;
    throw thrown;
  }
  throw new Error('the schema was taken');
}

describe('checkSchema', () => {
  it('answers with a frozen copy that says the same', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', title: 'A', 'x-own': [1] } },
    };
    const copy = checkSchema(schema, 'tool "t"');

    expect(copy).toEqual(schema);
    expect(copy).not.toBe(schema);
    expect(isSnapshot(copy) && Object.isFrozen(copy['properties'])).toBe(true);
  });

  it('gives back the same object when it is asked again', () => {
    const copy = checkSchema({ type: 'object' }, 'tool "t"');

    expect(checkSchema(copy, 'tool "u"')).toBe(copy);
  });

  it('compiles nothing', () => {
    const before = countCompilations();
    const copy = checkSchema({ properties: { 'checked only': { pattern: '^a+$' } } }, 'tool "t"');

    expect([countCompilations() - before, isCompiled(copy)]).toEqual([0, false]);
  });

  it('names who owns the schema and the place in it', () => {
    const error = refusal({ properties: { 'a/b': { items: { type: 'strng' } } } });

    expect(error.code).toBe('ERR_SCHEMA_UNSUPPORTED');
    expect(error.message).toMatch(
      /^tool "t": the schema at \/properties\/a~1b\/items\/type must be one or several of string/,
    );
    expect(error.details).toEqual({ path: '/properties/a~1b/items/type' });
  });

  it('keeps control characters of foreign names out of its message', () => {
    expect(refusal({ properties: { 'a\nb': { type: 1 } } }).message).not.toContain('\n');
  });
});

describe('checkSchema, what is a schema and what is data,', () => {
  const remote = { $ref: 'http://example.invalid/schema' };

  it.each<[string, object]>([
    ['a property called $ref', { properties: { $ref: { type: 'string' } } }],
    [
      'a property called pattern',
      { properties: { pattern: { type: 'string' }, enum: {}, properties: {} } },
    ],
    ['an enum', { enum: [remote, { pattern: '(' }] }],
    ['a const', { const: remote }],
    ['a default', { default: remote }],
    ['examples', { examples: [remote, { type: 'strng' }] }],
    ['an unknown keyword', { 'x-meta': remote, discriminator: { propertyName: 'kind' } }],
  ])('takes %s', (_what, schema) => {
    expect(checkSchema(schema, 'tool "t"')).toEqual(schema);
  });

  it.each([
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
    'items',
    'additionalItems',
    'unevaluatedItems',
    'contains',
    'contentSchema',
    'not',
    'if',
    'then',
    'else',
  ])('looks into %s', (keyword) => {
    expect(refusal({ [keyword]: remote }).details.path).toBe(`/${keyword}/$ref`);
  });

  it.each(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])(
    'looks into the list %s',
    (keyword) => {
      expect(refusal({ [keyword]: [{}, remote] }).details.path).toBe(`/${keyword}/1/$ref`);
    },
  );

  it.each([
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentSchemas',
    'dependencies',
  ])('looks into the map %s', (keyword) => {
    expect(refusal({ [keyword]: { a: remote } }).details.path).toBe(`/${keyword}/a/$ref`);
  });

  it('reads what a reference finds outside all schema positions', () => {
    const schema = {
      $ref: '#/components/a',
      components: { a: { pattern: '(?=x)' }, unread: { pattern: '(?=x)' } },
    };

    expect(refusal(schema).details.path).toBe('/$ref/pattern');
    expect(checkSchema({ ...schema, $ref: '#/components' }, 'tool "t"')).toBeTruthy();
  });
});

describe('checkSchema, references,', () => {
  it.each([
    'http://127.0.0.1:9/s',
    'https://example.invalid/s#/a',
    'file:///etc/passwd',
    'data:application/json,{}',
    'other.json',
    '//host/s',
    '',
  ])('refuses to fetch %j', (reference) => {
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      expect(refusal({ items: { [keyword]: reference } }).message).toMatch(
        /refers to another document/,
      );
    }
  });

  it.each([
    '#/$defs/b',
    '#/$defs/a/type',
    '#/properties/toString',
    '#b',
    '#/%E0%A4%A',
    '#/$defs/constructor',
    '#/__proto__',
  ])('refuses %s, which is not there', (reference) => {
    expect(
      refusal({ $ref: reference, properties: {}, $defs: { a: { type: 'string', $anchor: 'a' } } })
        .message,
    ).toMatch(/that is not there$/);
  });

  it.each<[string, JsonObject]>([
    ['a pointer', { $ref: '#/$defs/a', $defs: { a: {} } }],
    ['an escaped pointer', { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': {} } }],
    ['a pointer to true', { $ref: '#/$defs/a', $defs: { a: true } }],
    ['a pointer into a list', { items: { $ref: '#/anyOf/0' }, anyOf: [{}] }],
    ['an anchor', { $ref: '#here', $defs: { a: { $anchor: 'here' } } }],
    ['an anchor of draft-07', { $ref: '#here', definitions: { a: { $id: '#here' } } }],
    ['a dynamic anchor', { items: { $dynamicRef: '#here' }, $dynamicAnchor: 'here' }],
    ['a recursive reference', { items: { $recursiveRef: '#' }, $recursiveAnchor: true }],
    ['recursion into members', { properties: { next: { $ref: '#' } } }],
    [
      'mutual recursion into members',
      {
        $ref: '#/$defs/a',
        $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { items: { $ref: '#/$defs/a' } } },
      },
    ],
  ])('takes %s', (_what, schema) => {
    expect(checkSchema(schema, 'tool "t"')).toEqual(schema);
  });

  it.each<[string, JsonObject]>([
    ['to the schema itself', { $ref: '#' }],
    ['through allOf', { allOf: [{ anyOf: [{ $ref: '#' }] }] }],
    ['through a dependency', { dependentSchemas: { a: { $ref: '#' } } }],
    [
      'in a circle',
      {
        items: { $ref: '#/$defs/a' },
        $defs: { a: { $ref: '#/$defs/b' }, b: { not: { $ref: '#/$defs/a' } } },
      },
    ],
  ])('refuses a loop that stays at one value: %s', (_what, schema) => {
    expect(refusal(schema).message).toMatch(/refers to itself without going into a member/);
  });

  it('refuses what a second $id makes ambiguous, and takes one that nothing needs', () => {
    const inner = { $id: 'http://example.invalid/inner', $defs: { b: {} } };

    expect(refusal({ properties: { a: { ...inner, $ref: '#/$defs/b' } } }).message).toMatch(
      /below a second \$id/,
    );
    expect(refusal({ properties: { a: { ...inner, items: { $anchor: 'x' } } } }).message).toMatch(
      /below a second \$id/,
    );
    expect(
      checkSchema(
        { $id: 'http://example.invalid/', properties: { a: inner, b: { $ref: '#/properties/a' } } },
        't',
      ),
    ).toBeTruthy();
  });

  it('refuses two places with one name', () => {
    expect(refusal({ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }).message).toMatch(
      /name that is taken/,
    );
  });
});

describe('checkSchema, keywords,', () => {
  it.each<[string, JsonObject, string]>([
    ['an unknown type', { type: ['string', 'text'] }, '/type'],
    ['no type at all', { type: [] }, '/type'],
    ['a boolean limit of draft-04', { minimum: 1, exclusiveMinimum: true }, '/exclusiveMinimum'],
    ['a negative count', { minLength: -1 }, '/minLength'],
    ['a fraction of an item', { maxItems: 1.5 }, '/maxItems'],
    ['multiples of nothing', { multipleOf: 0 }, '/multipleOf'],
    ['required as a flag', { properties: { a: { required: true } } }, '/properties/a/required'],
    ['an empty enum', { enum: [] }, '/enum'],
    ['an empty list of alternatives', { anyOf: [] }, '/anyOf'],
    ['a text for a schema', { items: 'string' }, '/items'],
    ['a list for properties', { properties: ['a'] }, '/properties'],
    ['a pattern that is no text', { pattern: 1 }, '/pattern'],
    ['$data in a limit', { minimum: { $data: '1/a' } }, '/minimum'],
    ['$data in a const', { const: { $data: '1/a' } }, '/const'],
    [
      'a dependency on __proto__',
      { dependentRequired: Object.fromEntries([['__proto__', ['a']]]) },
      '/dependentRequired',
    ],
    ['a dependency that is no name', { dependencies: { a: [1] } }, '/dependencies'],
    ['the demand for an empty name, which ajv forgets', { required: ['a', ''] }, '/required'],
    ['a dependency on an empty name', { dependentRequired: { a: [''] } }, '/dependentRequired'],
  ])('refuses %s', (_what, schema, path) => {
    expect(refusal(schema).details.path).toBe(path);
  });

  it.each(['(?=a)', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(', 'a**', 'x'.repeat(2001)])(
    'refuses the pattern %j',
    (pattern) => {
      expect(refusal({ pattern }).details.path).toBe('/pattern');
      expect(refusal({ patternProperties: { [pattern]: {} } }).message).toMatch(
        /cannot be used: the pattern/,
      );
    },
  );

  it('ignores formats it does not know', () => {
    expect(checkSchema({ format: 'constructor' }, 'tool "t"')).toEqual({ format: 'constructor' });
  });

  it.each([
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2019-09/schema#',
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-06/schema',
  ])('takes the dialect %s', ($schema) => {
    expect(checkSchema({ $schema }, 'tool "t"')).toEqual({ $schema });
  });

  it.each(['http://json-schema.org/draft-04/schema#', 'http://example.invalid/schema', '', 7])(
    'refuses the dialect %j',
    ($schema) => {
      expect(refusal({ $schema }).details.path).toBe('/$schema');
    },
  );
});

describe('checkSchema, the root,', () => {
  it.each([true, false, null, 'object', [], undefined])('refuses %j', (schema) => {
    expect(refusal(schema).message).toBe('tool "t": the schema must be an object');
  });

  it('must allow an object where arguments are described', () => {
    for (const schema of [{}, { type: 'object' }, { type: ['null', 'object'] }]) {
      expect(checkSchema(schema, 'tool "t"', { objectRoot: true })).toEqual(schema);
    }
    for (const type of ['string', ['array', 'null']]) {
      expect(refusal({ type }, { objectRoot: true }).message).toMatch(/must allow an object$/);
      expect(checkSchema({ type }, 'tool "t"')).toEqual({ type });
    }
  });

  it('must be JSON, whatever reading it brings about', () => {
    const angry = Object.defineProperty({}, 'type', {
      enumerable: true,
      get: () => expect.fail('read'),
    });

    for (const schema of [angry, { const: 1n }, { default: () => 1 }, { minimum: Number.NaN }]) {
      expect(refusal(schema).message).toMatch(/^tool "t": the schema is not JSON: /);
    }
  });
});
