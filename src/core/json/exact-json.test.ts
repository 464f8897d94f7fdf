import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactLine, readExactBytes, readExactText } from './exact-json.ts';
import { foldedName, readMessage } from '../wire/json-rpc.ts';

const problemOf = (text: string): string | null => {
  const read = readExactText(text);
  return 'problem' in read ? read.problem : null;
};

describe('exact JSON', () => {
  it.each([
    '0',
    '1.0',
    '1e2',
    '-1.50',
    '0.1',
    '9007199254740992',
    '1.7976931348623157e308',
    '5e-324',
    '0.10000000000000001',
    '1E+2',
  ])('takes a number whose value stays: %s', (text) => {
    expect(readExactText(`{"n":[${text}]}`)).toEqual({ value: { n: [Number(text)] } });
  });

  it.each([
    '-0',
    '-0.0',
    '9007199254740993',
    '12345678901234567890',
    '1e400',
    '-1e400',
    '1e-400',
    '1.0000000000000001',
    `0.${'1'.repeat(40)}`,
  ])('refuses a number that would be another one: %s', (text) => {
    expect(problemOf(`{"n":[${text}]}`)).toMatch(/^a number/);
    expect(JSON.stringify(JSON.parse(text))).not.toBe(text);
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[{"x":{"b":1,"c":{},"b":2}}]',
    '{"":1,"":2}',
    '{"a\\"":1,"a\\"":2}',
  ])('refuses a member that stands twice: %s', (text) => {
    expect(problemOf(text)).toBe('a member that stands twice');
  });

  it.each(['"\\ud800"', '{"a":["x\\udc00"]}', '{"\\uD83D":1}'])(
    'refuses half of a surrogate pair: %s',
    (text) => {
      expect(problemOf(text)).toBe('half of a surrogate pair');
    },
  );

  it('takes the same name in other objects, and whole surrogate pairs', () => {
    expect(problemOf('{"a":{"a":[{"a":1},{"a":2}]},"b":"\\ud83d\\ude00 \\"a\\":1, {"}')).toBeNull();
  });

  it('refuses what is no UTF-8, a byte order mark, and nesting that readers do not survive', () => {
    expect(readExactBytes(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toMatchObject({
      problem: 'bytes that are not UTF-8',
    });
    expect(readExactBytes(Buffer.from('\ufeff{}'))).toMatchObject({ problem: 'a byte order mark' });
    expect(problemOf(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toBe(
      'something that nests too deep',
    );
    expect(problemOf('{"a":1}\u2028')).toBe('something that is not JSON');
  });

  it('takes whatever JSON.stringify writes, but for what cannot be told apart, and writes it as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('\\ud') && !text.includes('e-') && !text.includes('-0'));
        expect(readExactText(text)).toEqual({ value: JSON.parse(text) as unknown });
        if (typeof value === 'object' && value !== null)
          expect(JSON.parse(exactLine(value))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('writes one line for every reader, with the same text in it', () => {
    const value = { t: '\r\n\v\f\0\x1c\x1d\x1e\x7f\x85\u2028\u2029\ufeff é', '\u2028': 1 };
    const line = exactLine(value);

    expect(line).not.toMatch(/[\0-\x1f\x7f-\x9f\u2028\u2029\ufeff]/);
    expect(line).toContain('é');
    expect(JSON.parse(line)).toEqual(value);
  });

  it('takes time in proportion to its text, however hostile', () => {
    const texts = [
      `["${'\\\\'.repeat(400_000)}"]`,
      `[${'"a",'.repeat(300_000)}"\\n"]`,
      `[1${'0'.repeat(900_000)}1]`,
      `[${'{"a":1},'.repeat(150_000)}1]`,
    ];
    const started = performance.now();
    for (const text of texts) problemOf(text);

    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('a message that is refused', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1,"a":2}}', { id: 7, isAnswer: false }],
    ['{"jsonrpc":"2.0","id":"x","result":{"n":1e400}}', { id: 'x', isAnswer: true }],
    ['{"id":1,"Method":"m","a":1,"a":1}', { id: 1, isAnswer: false }],
  ])('has the id that every reader gives it: %s', (text, expected) => {
    expect(readMessage(text)).toMatchObject(expected);
  });

  it.each([
    '{"id":1,"id":2,"method":"m"}',
    '{"id":1,"ID":2,"method":"m","a":1,"a":1}',
    '{"id":12345678901234567890,"method":"m"}',
    '{"id":"\\ud800","method":"m"}',
    '{"id":{},"method":"m","a":1,"a":1}',
  ])('has none where readers give it another: %s', (text) => {
    const read = readMessage(text);

    expect(read).toHaveProperty('problem');
    expect(read).not.toHaveProperty('id');
  });

  it('is told without anything of it', () => {
    expect(readMessage('[{"secret":1}]')).toEqual({
      problem: 'a batch of messages',
      isAnswer: false,
    });
    expect(JSON.stringify(readMessage('{"secret":1,"secret":2}'))).not.toContain('secret');
  });
});

describe('folded names', () => {
  it.each(['Method', 'METHOD', ' method', 'method\u200b', '\uff4dethod', 'metho\u0064'])(
    'are one: %j',
    (name) => {
      expect(foldedName(name)).toBe('method');
    },
  );

  it.each([
    ['\u0131d', 'id'],
    ['\u0130D', 'id'],
    ['ta\u017fk', 'task'],
    ['tas\u212a', 'task'],
  ])('are as the most forgiving language has them: %s', (name, folded) => {
    expect(foldedName(name)).toBe(folded);
  });
});
