import { describe, expect, it } from 'vitest';
import { isAlliumError } from '../../core/contract/errors.ts';
import { checkSchema } from './check-schema.ts';

function refusalOf(schema: unknown): string {
  try {
    checkSchema(schema, 'tool "t"');
  } catch (thrown) {
    if (isAlliumError(thrown, 'ERR_SCHEMA_UNSUPPORTED')) return thrown.message;
    throw thrown;
  }
  throw new Error('the schema was taken');
}

const nested = (depth: number): object =>
  depth === 1 ? {} : { properties: { a: nested(depth - 1) } };
const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (count: number, value: object): object =>
  Object.fromEntries(numbered(count, (index) => [`n${index}`, value]));

function circle(): object {
  const schema: Record<string, unknown> = {};
  schema['items'] = schema;
  return schema;
}

/** References that double at every step: 2^n schemas from n. */
const doubling = (n: number, twice: (inner: object) => object): object => ({
  $ref: `#/$defs/d${n}`,
  $defs: {
    d0: { type: 'string' },
    ...Object.fromEntries(
      numbered(n, (index) => [`d${index + 1}`, twice({ $ref: `#/$defs/d${index}` })]),
    ),
  },
});

function sharing(depth: number): object {
  let shared: object = { type: 'string' };
  for (let step = 0; step < depth; step += 1) shared = { allOf: [shared, shared] };
  return shared;
}

const hostile: [string, () => unknown, RegExp][] = [
  [
    '28 doublings by allOf',
    () => doubling(28, (inner) => ({ allOf: [inner, inner] })),
    /more than 20000/,
  ],
  [
    '60 doublings by allOf',
    () => doubling(60, (inner) => ({ allOf: [inner, inner] })),
    /more than 20000/,
  ],
  [
    '60 doublings by properties',
    () => doubling(60, (inner) => ({ properties: { a: inner, b: inner } })),
    /more than 20000/,
  ],
  [
    'a chain of 1000 references',
    () => doubling(999, (inner) => inner),
    /nests deeper than 256 with its references/,
  ],
  ['10 000 definitions', () => ({ $defs: named(10_000, {}) }), /more than 2000 subschemas/],
  [
    'a million values',
    () => ({ enum: numbered(1_000_000, (index) => index) }),
    /more than 50000 values/,
  ],
  ['10 001 values', () => ({ enum: numbered(10_001, (index) => index) }), /more than 10000 values/],
  ['300 KiB of text', () => ({ description: 'x'.repeat(300_000) }), /larger than 256 KiB/],
  ['a depth of 65', () => nested(65), /nests deeper than 64 schemas/],
  [
    'a depth of 10 000',
    () => Array.from({ length: 10_000 }).reduce<object>((inner) => ({ items: inner }), {}),
    /nests deeper than 512 values/,
  ],
  ['a circle', circle, /or contains itself/],
  ['40 objects shared twice each', () => sharing(40), /more than 50000 values/],
  ['1001 properties', () => ({ properties: named(1001, {}) }), /side by side/],
  [
    '100 patterns that repeat',
    () => ({ anyOf: numbered(100, (index) => ({ pattern: `^a{1,64}${index}$` })) }),
    /a pattern too many/,
  ],
  [
    'a pattern that repeats repeats',
    () => ({ pattern: '^(?:(?:a{1,50}){1,50}){1,50}$' }),
    /repeats too much/,
  ],
];

describe('checkSchema, hostile schemas,', () => {
  it.each(hostile)('refuses %s', (_what, make, message) => {
    expect(refusalOf(make())).toMatch(message);
  });

  it.each(hostile)('needs no more than 50 ms for %s', (_what, make) => {
    const times = numbered(5, () => {
      const schema = make();
      const start = process.cpuUsage();
      refusalOf(schema);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    });

    expect(Math.min(...times)).toBeLessThan(50);
  });

  it('takes what stays just below the limits', () => {
    const wide = { properties: named(2, { properties: named(900, {}) }) };

    for (const schema of [
      nested(64),
      wide,
      doubling(12, (inner) => ({ allOf: [inner, inner] })),
      { enum: numbered(10_000, (index) => index) },
    ]) {
      expect(checkSchema(schema, 'tool "t"')).toEqual(schema);
    }
  });

  it('leaves Object.prototype alone', () => {
    const names = Object.getOwnPropertyNames(Object.prototype).sort();
    checkSchema(
      JSON.parse(
        '{"properties":{"__proto__":{"type":"string"},"constructor":{}},"required":["__proto__"]}',
      ),
      'tool "t"',
    );

    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(names);
    expect({}).not.toHaveProperty('type');
  });
});
