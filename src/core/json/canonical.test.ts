import { runInNewContext } from 'node:vm';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { JsonValue } from './json-value.ts';
import { canonicalJson } from './canonical.ts';
import { AlliumError } from '../contract/errors.ts';
import { freezeParsed, MAX_JSON_DEPTH, snapshot } from './json.ts';
import { writesSoFar } from './json-bytes.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** What is usually done instead; kept to show what it gets wrong. */
const naive = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort())
      : item,
  );

function refusalOf(value: unknown): AlliumError {
  try {
    canonicalJson(value);
  } catch (error) {
    if (error instanceof AlliumError && error.code === 'ERR_NOT_JSON') return error;
    throw error;
  }
  throw new Error('it was accepted');
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** The same value with the members of every object the other way round. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => [
    name,
    reversed(item),
  ]);
  return Object.fromEntries(entries.reverse());
}

/**
 * Names that trip sorted clones (integers), serialisers (`toJSON`) and comparers (astral before
 * private use).
 */
const memberName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }).filter((name) => name !== '__proto__'),
  fc.nat({ max: 200 }).map(String),
  fc.constantFrom(
    'toJSON',
    'constructor',
    '\u{1f600}',
    '\ufb33',
    '\u20ac',
    '\r',
    '',
    '-1',
    '01',
    '4294967295',
  ),
);

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -0),
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(memberName, tie('json'), { maxKeys: 6 }),
  ),
}));

describe('canonicalJson', () => {
  it('writes the sample of RFC 8785', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;

    expect(canonicalJson(JSON.parse(sample))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts names by UTF-16 code units', () => {
    const value = {
      '€': 'Euro',
      '\r': 'Return',
      '\ufb33': 'Dalet',
      1: 'One',
      '😀': 'Emoji',
      '\u0080': 'Control',
      ö: 'Latin',
    };
    const text =
      '{"\\r":"Return","1":"One","\u0080":"Control","ö":"Latin","€":"Euro","😀":"Emoji","\ufb33":"Dalet"}';

    expect(canonicalJson(value)).toBe(text);
  });

  it('sorts names that look like integers as text', () => {
    expect(canonicalJson({ 9: 'nine', 10: 'ten', a: 'letter' })).toBe(
      '{"10":"ten","9":"nine","a":"letter"}',
    );
    expect(naive({ 9: 'nine', 10: 'ten', a: 'letter' })).toBe(
      '{"9":"nine","10":"ten","a":"letter"}',
    );
  });

  it.each([
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'], // What a parser makes of 9007199254740993, too.
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
  ])('writes the number with the bits %s as %s', (bits, text) => {
    const number = Buffer.from(bits, 'hex').readDoubleBE();

    expect([canonicalJson(number), canonicalJson({ n: number })]).toEqual([text, `{"n":${text}}`]);
  });

  it.each(['{}', '[]', 'null', '""', '{"":{}}', '[[],{},[[]]]'])(
    'writes the empty value %s',
    (text) => {
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    },
  );

  it('escapes what JSON must escape and nothing else', () => {
    const characters = '"\\\b\t\n\f\r\u0000\u001f\u007f\u2028/é😀';
    const text = '"\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f\u007f\u2028/é😀"';

    expect(canonicalJson({ [characters]: [characters] })).toBe(`{${text}:[${text}]}`);
  });

  it('agrees with another implementation', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: howMany(500, 2_000) },
    );
  });

  it('gives equal values, and only them, equal bytes', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);

        expect(canonicalJson(reversed(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: howMany(250, 1_000) },
    );
  });

  it('writes values longer than one piece, wherever the pieces end', () => {
    const tail = { n: [1, [], [[2]], {}], o: { a: [], b: {} } };

    for (let length = 8120; length < 8200; length += 1) {
      const value = ['x'.repeat(length), tail, { text: 'x'.repeat(length), u: tail, v: [3] }];
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }
  });

  it('tells more shapes apart than it remembers', () => {
    const shapes = Array.from({ length: 700 }, (_, index) => ({
      [`z${index % 90}`]: 1,
      [`y${index}`]: 2,
      x: { [`w${index}`]: 3, a: 4 },
    }));

    for (const shape of [...shapes, ...shapes])
      expect(canonicalJson(shape)).toBe(canonicalize(shape));
  });

  it('computes the text of a snapshot once', () => {
    const value = snapshot({ b: [{ c: 1 }], a: 2 });
    const text = canonicalJson(value);
    const keys = vi.spyOn(Object, 'keys');

    const again = canonicalJson(value);
    const reads = keys.mock.calls.length;
    keys.mockRestore();

    expect({ again, reads }).toEqual({ again: text, reads: 0 });
  });

  it('writes the text of a snapshot once, unless it is long', () => {
    const [short, long] = [snapshot({ a: [1] }), snapshot({ a: 'x'.repeat(5_000) })];
    const writes = (value: JsonValue): number => {
      const before = writesSoFar;
      canonicalJson(value);
      return writesSoFar - before;
    };

    expect([short, short, long, long].map(writes)).toEqual([1, 0, 1, 1]);
  });

  it('remembers nothing about values that can still change', () => {
    const inner = { a: 1 };
    const shallow = Object.freeze({ inner });
    expect(canonicalJson(shallow)).toBe('{"inner":{"a":1}}');

    inner.a = 2;

    expect(canonicalJson(shallow)).toBe('{"inner":{"a":2}}');
  });
});

describe('canonicalJson on hostile values', () => {
  it('writes a member called toJSON as data and calls none', () => {
    Object.defineProperty(Object.prototype, 'toJSON', {
      value: () => 'polluted',
      configurable: true,
    });

    const texts = [canonicalJson({ toJSON: 'mine', list: [{}] }), naive([{}])];
    Reflect.deleteProperty(Object.prototype, 'toJSON');

    expect(texts).toEqual(['{"list":[{}],"toJSON":"mine"}', '"polluted"']);
  });

  it('writes a member called __proto__ as data', () => {
    expect(canonicalJson(JSON.parse('{"z":1,"__proto__":{"admin":true}}'))).toBe(
      '{"__proto__":{"admin":true},"z":1}',
    );
  });

  it('reads every member once', () => {
    let reads = 0;
    const value = {
      get b() {
        reads += 1;
        return reads;
      },
      a: [0],
    };

    expect(canonicalJson(value)).toBe('{"a":[0],"b":1}');
  });

  it('accepts what another realm made', () => {
    expect(canonicalJson(runInNewContext('({ b: [1, { c: null }], a: "x" })'))).toBe(
      '{"a":"x","b":[1,{"c":null}]}',
    );
  });

  it.each<[string, unknown, string]>([
    ['an undefined member', { a: { b: undefined } }, 'a.b is undefined'],
    ['an undefined item', { a: [1, undefined] }, 'a[1] is undefined'],
    ['a hole', Array(1), '[0] is undefined'],
    ['a function', { toJSON: () => 1 }, 'toJSON is a function'],
    ['a symbol', [Symbol('s')], '[0] is a symbol'],
    ['a bigint', { n: 10n }, 'n is a bigint'],
    ['NaN', { n: Number.NaN }, 'n is not a finite number'],
    [
      'an infinity from a parser',
      freezeParsed(JSON.parse('{"n":1e400}') as JsonValue),
      'n is not a finite number',
    ],
    ['a lone surrogate', { a: ['x\ud800'] }, 'a[0] has a lone surrogate'],
    ['a lone surrogate in a snapshot', snapshot({ a: '\udc00x' }), 'a has a lone surrogate'],
    [
      'a lone surrogate in a name',
      { a: { '\ud800': 1 } },
      'a has a member name with a lone surrogate',
    ],
    ['a date', { at: new Date(0) }, 'at is neither a plain object nor a list'],
    [
      'an inherited toJSON',
      Object.create({ toJSON: () => 1 }),
      'the value is neither a plain object nor a list',
    ],
    [
      'a prototype in disguise',
      Object.create({ isPrototypeOf: 1 }),
      'the value is neither a plain object nor a list',
    ],
    [
      'a child of a function',
      Object.create(() => 1),
      'the value is neither a plain object nor a list',
    ],
    ['a boxed string', { s: Object('x') as unknown }, 's is neither a plain object nor a list'],
    [
      'a list of its own class',
      [new (class List extends Array {})()],
      '[0] is neither a plain object nor a list',
    ],
    [
      'a date of another realm',
      runInNewContext('new Date(0)'),
      'the value is neither a plain object nor a list',
    ],
    ['nothing at all', undefined, 'the value is undefined'],
  ])('refuses %s', (_, value, message) => {
    const refusal = refusalOf(value);

    expect(refusal.message).toBe(message);
    expect(refusal.details.path).toBe(/^the value/.test(message) ? '' : message.split(' ')[0]);
  });

  it('refuses a cycle where it closes, however much stands beside it', () => {
    const root: Record<string, unknown> = {
      big: Array.from({ length: 10_000 }, () => 'x'),
      z: { list: [] },
    };
    Object.assign(root, { z: { list: [root] } });

    expect(refusalOf(root).message).toBe('z.list[0] contains itself');
    expect(canonicalJson([root.big, root.big])).toHaveLength(80_005);
  });

  it('accepts the deepest nesting a snapshot has and refuses one more', () => {
    const deepest = nested(MAX_JSON_DEPTH);

    expect(canonicalJson(deepest)).toBe(JSON.stringify(deepest));
    expect(refusalOf(nested(MAX_JSON_DEPTH + 1)).message).toMatch(/ nests deeper than 512$/);
  });

  it('answers a depth that no recursion survives with its own error', () => {
    expect(refusalOf(nested(100_000)).message).toMatch(/ nests deeper than 512$/);
    expect(() => naive(nested(100_000))).toThrow(RangeError);
  });

  it('never shows a value or a control character of a name in its message', () => {
    const { message } = refusalOf({ 'a\nERROR forged': { secret: ['hunter2', undefined] } });

    expect(message).toBe('a ERROR forged.secret[1] is undefined');
  });
});
