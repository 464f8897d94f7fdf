import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { AlliumError } from './errors.ts';
import { checkOptions, type Expectation, expected, option, optionsSchema } from './options.ts';

function refusalOf(
  options: unknown,
  expectations: Readonly<Record<string, Expectation>>,
): AlliumError {
  try {
    checkOptions('timeout', options, expectations);
  } catch (error) {
    if (error instanceof AlliumError && error.code === 'ERR_INVALID_OPTION') return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const accepts = (expectation: Expectation, value: unknown): boolean => {
  try {
    checkOptions('timeout', { option: value }, { option: expectation });
    return true;
  } catch {
    return false;
  }
};

const sparse: unknown[] = [];
sparse[1] = 'a';

describe('expected', () => {
  it.each<[string, Expectation, readonly unknown[], readonly unknown[]]>([
    ['string', expected.string, ['a', ' '], ['', 1, null, ['a'], Object('a')]],
    ['boolean', expected.boolean, [true, false], [0, 1, 'true', null]],
    ['function', expected.function, [() => {}, Date], [{}, 'f', null]],
    ['object', expected.object, [{}, Object.create(null)], [[], null, 'a', () => {}]],
    [
      'integer(1)',
      expected.integer(1),
      [1, 2 ** 53 - 1],
      [0, -1, 1.5, 2 ** 53, Number.NaN, Infinity, '1', 1n, null],
    ],
    ['integer(0)', expected.integer(0), [0, -0], [-1]],
    ['oneOf', expected.oneOf('in', 'out'), ['in', 'out'], ['IN', '', ['in'], null, 0]],
    ['oneOf()', expected.oneOf(), [], ['', 'a']],
    [
      'listOf',
      expected.listOf(expected.string),
      [[], ['a']],
      ['a', [''], ['a', 1], { 0: 'a', length: 1 }, sparse],
    ],
    [
      'mapOf',
      expected.mapOf(expected.integer(1)),
      [{}, { a: 1 }],
      [{ a: 0 }, [1], 'a', null, JSON.parse('{"__proto__":0}')],
    ],
    ['integer(1, 3)', expected.integer(1, 3), [1, 3], [0, 4, 2.5]],
    [
      'either',
      expected.either('1 or a flag', expected.integer(1), expected.boolean),
      [1, true],
      [0, 'true', null],
    ],
    ['made', expected.made('a store', 'get'), [new Map(), { get() {} }], [{}, { get: 1 }, null]],
    ['expiry', expected.expiry, [1, 2 ** 31 - 1, 'never'], [0, 2 ** 31, 'ever', null]],
  ])('%s tells right from wrong', (_, expectation, right, wrong) => {
    expect(right.map((value) => accepts(expectation, value))).toEqual(right.map(() => true));
    expect(wrong.map((value) => accepts(expectation, value))).toEqual(wrong.map(() => false));
  });

  it('required takes away the right to be absent and nothing else', () => {
    const expectation = expected.required(expected.integer(1));

    expect([
      accepts(expectation, 1),
      accepts(expectation, 0),
      accepts(expectation, undefined),
    ]).toEqual([true, false, false]);
    expect(accepts(expected.integer(1), undefined)).toBe(true);
  });

  it('says what it expects', () => {
    const texts = [
      expected.oneOf('in', 'out'),
      expected.listOf(expected.string),
      expected.mapOf(expected.boolean),
    ].map(({ text }) => text);

    expect(texts).toEqual([
      'one of "in", "out"',
      'a list, each a non-empty string',
      'an object, each value true or false',
    ]);
  });
});

describe('checkOptions', () => {
  const expectations = {
    maxMs: expected.required(expected.integer(1)),
    message: expected.string,
    perTool: expected.mapOf(expected.integer(1)),
  };

  it('lets good options through, with or without the optional ones', () => {
    expect(() => checkOptions('timeout', { maxMs: 1 }, expectations)).not.toThrow();
    expect(() =>
      checkOptions('timeout', { maxMs: 1, message: undefined, perTool: { a: 2 } }, expectations),
    ).not.toThrow();
  });

  it('names owner, option, expected and got', () => {
    const refusal = refusalOf({ maxMs: 0 }, expectations);

    expect(refusal.message).toBe('timeout: "maxMs" must be a whole number of at least 1, got 0');
    expect(refusal.details).toEqual({
      layer: 'timeout',
      option: 'maxMs',
      expected: 'a whole number of at least 1',
      got: '0',
    });
  });

  it('says what is missing', () => {
    expect(refusalOf({}, expectations).message).toBe(
      'timeout: "maxMs" must be a whole number of at least 1, got nothing',
    );
  });

  it('asks "did you mean" for a misspelt option', () => {
    const refusal = refusalOf({ maxms: 1 }, expectations);

    expect(refusal.message).toBe('timeout has no option "maxms"; did you mean "maxMs"?');
    expect(refusal.details).toEqual({
      layer: 'timeout',
      option: 'maxms',
      expected: 'maxMs | message | perTool',
      got: 'maxms',
    });
  });

  it('asks "did you mean" for a misspelt choice, without repeating what came', () => {
    const choices = { mode: expected.oneOf('effect', 'result') };

    expect(refusalOf({ mode: 'efect' }, choices).message).toBe(
      'timeout: "mode" must be one of "effect", "result", got a string; did you mean "effect"?',
    );
    expect(refusalOf({ mode: 'hunter2' }, choices).message).not.toMatch(/hunter2|mean/);
  });

  it('lists what there is for an option that resembles none', () => {
    expect(refusalOf({ retries: 1 }, expectations).message).toBe(
      'timeout has no option "retries"; it takes maxMs, message, perTool',
    );
  });

  it.each<[unknown, string]>([
    [null, 'null'],
    [['hunter2'], 'a list'],
    [{ secret: 'hunter2' }, 'an object'],
    ['hunter2', 'a string'],
    [424242, 'a number'],
    [424242n, 'a bigint'],
    [Symbol('hunter2'), 'a symbol'],
    [() => 'hunter2', 'a function'],
  ])('never shows the value: case %#', (value, got) => {
    const refusal = refusalOf({ flag: value }, { flag: { text: 'a flag', test: () => false } });

    expect(refusal.message).toBe(`timeout: "flag" must be a flag, got ${got}`);
    expect(JSON.stringify(refusal)).not.toMatch(/hunter2|424242/);
  });

  it.each([
    [undefined, 'nothing'],
    [null, 'null'],
    [[], 'a list'],
    ['text', 'a string'],
    [5, 'a number'],
  ])('refuses %j for options', (options, got) => {
    expect(refusalOf(options, {}).message).toBe(`timeout: "options" must be an object, got ${got}`);
  });

  it('takes neither options nor expectations from a prototype', () => {
    expect(refusalOf(Object.create({ maxMs: 1 }), expectations).message).toContain('got nothing');
    expect(refusalOf({ maxMs: 1, constructor: 1 }, expectations).message).toContain(
      'has no option "constructor"',
    );
    expect(refusalOf(JSON.parse('{"maxMs":1,"__proto__":1}'), expectations).message).toContain(
      'has no option "__proto__"',
    );
  });
});

describe('optionsSchema', () => {
  const { either, expiry, integer, listOf, mapOf, object, oneOf, required, string } = expected;
  const kinds = {
    string,
    flag: expected.boolean,
    object,
    whole: integer(1, 3),
    word: oneOf('in', 'out'),
    list: listOf(string),
    map: mapOf(integer(0)),
    choice: either('1 or a word', integer(1), string),
    expiry,
  };

  it.each(Object.entries(kinds))('and the check take the same values for %s', (_, kind) => {
    const validate = new Ajv2020({ strictTypes: false }).compile(
      optionsSchema({ value: option(kind, 'a value', 'none') }),
    );
    const values = ['', 'a', 'in', 'never', true, 0, 1, 2.5, 4, 2 ** 31, null, [], ['a'], [1]];
    const objects = [{}, { a: 1 }, { a: 'b' }];

    for (const value of [...values, ...objects])
      expect([value, validate({ value })]).toEqual([value, kind.test(value)]);
  });

  it('says what each option is, which are required, and that there are no others', () => {
    const table = {
      maxMs: option(required(integer(1)), 'time for a call'),
      message: option(string, 'how the error begins', '`too slow`'),
    };

    expect(optionsSchema(table)).toMatchObject({
      properties: {
        maxMs: { type: 'integer', description: 'time for a call' },
        message: { description: 'how the error begins (default: `too slow`)' },
      },
      required: ['maxMs'],
      additionalProperties: false,
    });
  });

  it('lets a file hold anything where a kind does not say what', () => {
    const own = { text: 'an even number', test: (value: unknown) => Number(value) % 2 === 0 };

    expect(optionsSchema({ size: option(own, 'a size', '2') }).properties).toEqual({
      size: { description: 'a size (default: 2)' },
    });
  });
});
