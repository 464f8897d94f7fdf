import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsMoreThan, MAX_WIRE_VALUES, parseWire } from './wide-json.ts';

const countOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((sum, item) => sum + countOf(item), 1) : 1;

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

  it.each([[''], ['"'], ['"\\'], ['[{'], ['"\\"']])('comes to an end on %j, which is no JSON', (text) => {
    expect(holdsMoreThan(text, 10)).toBe(false);
  });
});

describe('parseWire', () => {
  it('gives what JSON.parse gives, and throws what it throws', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseWire(text)).toEqual({ value: JSON.parse(text) as unknown, isReplaced: false });
      }),
    );
    expect(() => parseWire('{"a":')).toThrow(SyntaxError);
  });

  it.each([
    ['in front', `{"jsonrpc":"2.0","id":7,"result":${wide(100)}}`, 7],
    ['behind', `{"result":${wide(100)}, "id" : "a\\"b" ,"jsonrpc":"2.0"}`, 'a"b'],
    ['spelt with an escape', `{"\\u0069d":7,"result":${wide(100)}}`, 7],
    ['beside one that stands inside', `{"result":{"id":3,"x":${wide(100)}},"id":7}`, 7],
    ['twice, of which the last counts', `{"id":3,"result":${wide(100)},"id":7}`, 7],
  ])('answers for an answer that is too wide, with its id %s', (_name, text, id) => {
    const { value, isReplaced } = parseWire(text, 50);

    expect(isReplaced).toBe(true);
    expect(value).toMatchObject({ jsonrpc: '2.0', id, error: { code: -32_000 } });
    expect(JSON.stringify(value)).toContain('Ask for less at a time');
  });

  it.each([
    ['a request', `{"id":7,"method":"ping","params":${wide(100)}}`],
    ['a message without an id', `{"result":${wide(100)}}`],
    ['a list', wide(100)],
    ['half a message', `{"result":${wide(100)},"id":`],
  ])('throws for %s that is too wide', (_name, text) => {
    expect(() => parseWire(text, 50)).toThrow(RangeError);
  });

  it('lets through as much as the bound, and one more not', () => {
    expect(parseWire(wide(MAX_WIRE_VALUES - 2)).isReplaced).toBe(false);
    expect(() => parseWire(wide(MAX_WIRE_VALUES - 1))).toThrow(RangeError);
  });
});
