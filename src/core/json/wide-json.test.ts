import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessage } from '../wire/json-rpc.ts';
import { headOfWide, holdsMoreThan, MAX_WIRE_VALUES } from './wide-json.ts';

const countOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, item) => sum + countOf(item), 1)
    : 1;

const wide = (values: number) => `[${'0,'.repeat(values)}0]`;

describe('holdsMoreThan', () => {
  it('counts at least the values that are parsed, and of those no more than twice as many', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 1, 2), (text, space) => {
        const written = JSON.stringify(JSON.parse(text), null, space);
        const values = countOf(JSON.parse(text));

        expect(holdsMoreThan(written, values - 1)).toBe(true);
        expect(holdsMoreThan(written, values * 2)).toBe(false);
      }),
    );
  });

  it.each([
    ['a text of commas', JSON.stringify(',[{'.repeat(100))],
    ['escaped quotes', JSON.stringify('\\",[{"'.repeat(100))],
  ])('takes %s for one value', (_name, text) => {
    expect(holdsMoreThan(text, 1)).toBe(false);
  });

  it.each([[''], ['"'], ['"\\'], ['[{'], ['"\\"']])(
    'comes to an end on %j, which is no JSON',
    (text) => {
      expect(holdsMoreThan(text, 10)).toBe(false);
    },
  );
});

describe('headOfWide', () => {
  it('finds nothing where a text holds no more than a message may', () => {
    expect(headOfWide(wide(MAX_WIRE_VALUES - 2))).toBeNull();
    expect(headOfWide(wide(MAX_WIRE_VALUES - 1))).toEqual({});
  });

  it.each([
    ['in front', `{"jsonrpc":"2.0","id":7,"result":${wide(100)}}`, 7],
    ['behind', `{"result":${wide(100)}, "id" : "a\\"b" ,"jsonrpc":"2.0"}`, 'a"b'],
    ['spelt with an escape', `{"\\u0069d":7,"result":${wide(100)}}`, 7],
    ['beside one that stands inside', `{"result":{"id":3,"x":${wide(100)}},"id":7}`, 7],
    ['twice, of which the last counts', `{"id":3,"result":${wide(100)},"id":7}`, 7],
  ])('finds an id %s', (_name, text, id) => {
    expect(headOfWide(text, 50)).toMatchObject({ id });
  });

  it('finds nothing in half a message', () => {
    expect(headOfWide(`{"result":${wide(100)},"id":`, 50)).toEqual({});
  });
});

describe('a message that is too wide', () => {
  const values = wide(MAX_WIRE_VALUES);

  it('is refused for the request it answers, so that the one who waits hears why', () => {
    expect(readMessage(`{"jsonrpc":"2.0","id":7,"result":${values}}`)).toEqual({
      problem: `more than ${MAX_WIRE_VALUES} values (ask for less at a time)`,
      id: 7,
      isAnswer: true,
    });
  });

  it.each([
    ['a request', `{"id":7,"method":"ping","params":${values}}`, { id: 7, isAnswer: false }],
    ['a message without an id', `{"result":${values}}`, { isAnswer: true }],
  ])('is refused as %s', (_name, text, expected) => {
    expect(readMessage(text)).toMatchObject(expected);
  });
});
