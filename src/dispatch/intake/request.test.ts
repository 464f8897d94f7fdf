import { describe, expect, it } from 'vitest';
import { snapshot } from '../../core/json/json.ts';
import { readArguments } from './arguments.ts';

const limits = { maxArgsBytes: 1000, maxArgsDepth: 4, maxArgsValues: 100 };
const problemOf = (given: unknown) => readArguments(given, limits).problem;

describe('readArguments', () => {
  it.each([['{"a": [1, "x", null]}'], [{ a: [1, 'x', null] }]])(
    'takes text and objects alike: %j',
    (given) => {
      const { args, problem } = readArguments(given, limits);

      expect([args, problem]).toEqual([{ a: [1, 'x', null] }, null]);
      expect(Object.isFrozen(args.a)).toBe(true);
    },
  );

  it('does not freeze what belongs to the host', () => {
    const given = { a: [1] };
    readArguments(given, limits);

    expect(Object.isFrozen(given.a)).toBe(false);
  });

  it.each([
    [
      'a depth over the limit, as text',
      '{"a":{"b":{"c":{"d":1}}}, "x":[[[[1]]]]}',
      'nest too deep',
    ],
    ['a depth over the limit, as object', { a: [[[[1]]]] }, 'nest too deep'],
    ['a size over the limit, as text', JSON.stringify({ a: 'x'.repeat(2000) }), 'too large'],
    ['a size over the limit, as object', { a: 'x'.repeat(2000) }, 'too large'],
    [
      'a depth over the limit in what was copied before',
      { a: snapshot({ b: [[[1]]] }) },
      'nest too deep',
    ],
    [
      'too many values in what was copied before',
      { a: snapshot(new Array(100).fill(1)) },
      'too many values',
    ],
    [
      'a byte more than the limit, as object',
      { a: 'x'.repeat(1001 - '{"a":""}'.length) },
      'too large',
    ],
    ['half a character in a name', '{"\\ud800": 1}', 'surrogate'],
    ['half a character in a text', '{"a": "\\ud800"}', 'surrogate'],
    ['half a character, as object', { a: '\ud800' }, 'surrogate'],
    ['half a character in a list, as object', { a: ['x', '\ud800'] }, 'surrogate'],
    ['half a character in a name, as object', { a: { '\ud800': 1 } }, 'surrogate'],
    ['half a character in what was copied before', { a: snapshot(['\ud800']) }, 'surrogate'],
    ['a number without end, as object', { a: [Number.POSITIVE_INFINITY] }, 'not a finite number'],
    ['a name that sets a prototype, as object', JSON.parse('{"a":[{"__proto__":1}]}'), '__proto__'],
    ['a number without end', '{"a": 1e400}', 'too large'],
    ['a name that sets a prototype, deep inside', '{"a": [{"__proto__": 1}]}', '__proto__'],
    ['no object', '[]', 'got a list'],
    ['nothing', undefined, 'got undefined'],
  ])('says what is wrong with %s', (_what, given, words) => {
    expect(problemOf(given)).toContain(words);
  });

  it('says first what is too large, then what cannot be dealt with, in its order', () => {
    const half = 'x\ud800';

    expect(problemOf({ a: half, b: 'x'.repeat(2000) })).toContain('too large');
    expect(problemOf({ a: half, b: JSON.parse('{"__proto__":1}') as object })).toContain(
      'surrogate',
    );
    expect(problemOf({ b: JSON.parse('{"__proto__":1}') as object, a: half })).toContain(
      '__proto__',
    );
  });

  it('holds to what it says where there is no limit on bytes', () => {
    const { problem } = readArguments({ a: '\ud800' }, { ...limits, maxArgsBytes: Infinity });

    expect(problem).toContain('surrogate');
  });

  it('takes what is just within the limits', () => {
    expect(problemOf('{"a":{"b":{"c":1}}}')).toBeNull();
    expect(problemOf({ a: 'x'.repeat(1000 - '{"a":""}'.length) })).toBeNull();
  });
});
