import { describe, expect, it } from 'vitest';
import type { JsonValue } from './json-value.ts';
import { AlliumError } from '../contract/errors.ts';
import {
  freezeParsed,
  isDeeperThan,
  isObject,
  isSnapshot,
  MAX_JSON_DEPTH,
  notJson,
  snapshot,
  snapshotObject,
} from './json.ts';

function refusalOf(value: unknown): AlliumError {
  try {
    snapshot(value);
  } catch (error) {
    if (error instanceof AlliumError && error.code === 'ERR_NOT_JSON') return error;
    throw error;
  }
  throw new Error('it was accepted');
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const frozenInDepth = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(frozenInDepth));

describe('snapshot', () => {
  it('copies JSON and freezes the copy in depth', () => {
    const given = { text: 'a', list: [1, { deep: null }], no: false };
    const copy = snapshot(given);

    expect(copy).toEqual(given);
    expect(frozenInDepth(copy)).toBe(true);
    expect(Object.isFrozen(given) || Object.isFrozen(given.list)).toBe(false);
  });

  it('does not follow later changes of what it copied', () => {
    const given = { list: [1] };
    const copy = snapshot(given);
    given.list.push(2);

    expect(copy).toEqual({ list: [1] });
  });

  it('keeps the order of members', () => {
    expect(JSON.stringify(snapshot({ b: 1, a: 2 }))).toBe('{"b":1,"a":2}');
  });

  it('gives a snapshot back as it is, also from inside another value', () => {
    const inner = snapshot({ a: [1] });
    const outer = snapshotObject({ inner });

    expect(snapshot(inner)).toBe(inner);
    expect(outer['inner']).toBe(inner);
  });

  it('does not take any frozen object for a snapshot', () => {
    const shallow = Object.freeze({ inner: { a: 1 } });

    expect(isSnapshot(shallow)).toBe(false);
    expect(snapshot(shallow)).not.toBe(shallow);
  });

  it('leaves undefined members out and keeps every other empty value', () => {
    expect(snapshot({ a: undefined, zero: 0, text: '', no: false, none: null })).toStrictEqual({
      zero: 0,
      text: '',
      no: false,
      none: null,
    });
  });

  it('reads a getter once', () => {
    let reads = 0;
    const given = {
      get path() {
        reads += 1;
        return reads === 1 ? '/allowed' : '/etc/shadow';
      },
    };

    expect(snapshot(given)).toEqual({ path: '/allowed' });
    expect(reads).toBe(1);
  });

  it('reads every member of a proxy once', () => {
    const reads: PropertyKey[] = [];
    const target = { a: 1, list: [2] };
    const proxy = new Proxy(target, {
      get(_, name) {
        reads.push(name);
        return Reflect.get(target, name) as unknown;
      },
    });

    expect(snapshot(proxy)).toEqual({ a: 1, list: [2] });
    expect(reads).toEqual(['a', 'list']);
  });

  it('treats an own toJSON as data', () => {
    expect(snapshot({ toJSON: 'data' })).toEqual({ toJSON: 'data' });
    expect(refusalOf({ toJSON: () => 'called' }).message).toBe('toJSON is a function');
    expect(refusalOf(Object.assign(new Date(0), { toJSON: () => 'called' })).message).toBe(
      'toJSON is a function',
    );
  });

  it('asks an inherited toJSON, once', () => {
    let asked = 0;
    class Money {
      readonly #cents = 150;
      get toJSON() {
        asked += 1;
        return () => ({ cents: this.#cents });
      }
    }

    expect(snapshot({ price: new Money(), at: new Date(0) })).toEqual({
      price: { cents: 150 },
      at: '1970-01-01T00:00:00.000Z',
    });
    expect(asked).toBe(1);
  });

  it('keeps a member called __proto__ as data', () => {
    const copy = snapshot(JSON.parse('{"__proto__":{"admin":true},"a":1}'));

    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true},"a":1}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect((copy as { admin?: unknown }).admin).toBeUndefined();
  });

  it('copies a value that occurs twice, because that is no cycle', () => {
    const shared = { a: 1 };

    expect(snapshot([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'the value is undefined'],
    ['an undefined item', { a: [undefined] }, 'a[0] is undefined'],
    ['a hole', { a: Array(2) }, 'a[0] is undefined'],
    ['NaN', { a: { b: Number.NaN } }, 'a.b is not a finite number'],
    ['an infinity', [Infinity], '[0] is not a finite number'],
    ['a bigint', { a: 1n }, 'a is a bigint'],
    ['a function', { a: () => 'secret' }, 'a is a function'],
    ['a symbol', { a: Symbol('secret') }, 'a is a symbol'],
    ['a Map', { a: new Map([['secret', 1]]) }, 'a is a Map'],
    ['a Set', { a: new Set(['secret']) }, 'a is a Set'],
    ['a promise', { a: Promise.resolve('secret') }, 'a is a Promise'],
  ])('refuses %s', (_, value, message) => {
    expect(refusalOf(value).message).toBe(message);
  });

  it('refuses a cycle, and a toJSON that answers itself', () => {
    const cycle: Record<string, unknown> = {};
    cycle['list'] = [{ cycle }];
    const endless = Object.create({ toJSON: () => endless }) as object;

    expect(refusalOf(cycle).message).toBe('list[0].cycle contains itself');
    expect(refusalOf({ endless }).message).toBe('endless has a toJSON that answers itself');
  });

  it('refuses what is too deep for recursion with its own error', () => {
    expect(snapshot(nested(MAX_JSON_DEPTH))).toEqual(nested(MAX_JSON_DEPTH));
    expect(refusalOf(nested(MAX_JSON_DEPTH + 1)).message).toMatch(/nests deeper than 512$/);
    expect(refusalOf(nested(100_000)).message).toMatch(/nests deeper than 512$/);
  });
});

describe('snapshotObject', () => {
  it.each([[[1]], ['text'], [null], [new Date(0)]])('refuses %j', (value) => {
    expect(() => snapshotObject(value)).toThrow('the value is not an object');
  });
});

describe('freezeParsed', () => {
  it('freezes in place, in depth, and makes snapshots of all parts', () => {
    const parsed = JSON.parse('{"list":[{"a":1}],"__proto__":{"b":2}}') as { list: [object] };
    const frozen = freezeParsed(parsed as unknown as JsonValue);

    expect(frozen).toBe(parsed);
    expect(frozenInDepth(frozen)).toBe(true);
    expect(isSnapshot(parsed.list[0]) && snapshot(frozen) === frozen).toBe(true);
  });

  it('gives scalars back', () => {
    expect([freezeParsed('a'), freezeParsed(1), freezeParsed(null)]).toEqual(['a', 1, null]);
  });
});

describe('isDeeperThan', () => {
  it('counts arrays and objects, not leaves', () => {
    expect([
      isDeeperThan(1, 0),
      isDeeperThan([], 0),
      isDeeperThan([], 1),
      isDeeperThan([{}], 1),
    ]).toEqual([false, true, false, true]);
    expect([isDeeperThan(nested(64), 64), isDeeperThan(nested(65), 64)]).toEqual([false, true]);
  });

  it('answers for what no recursion survives', () => {
    const text = '['.repeat(100_000) + ']'.repeat(100_000);

    expect(isDeeperThan(JSON.parse(text), 64)).toBe(true);
    expect(isDeeperThan(JSON.parse(text), 100_000)).toBe(false);
  });

  it('answers at once for a value that contains itself many times', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle, cycle, cycle);

    expect(isDeeperThan(cycle, MAX_JSON_DEPTH)).toBe(true);
  });
});

describe('isObject', () => {
  it('is true for objects that are neither null nor lists', () => {
    expect([{}, Object.create(null), [], null, 'a', undefined].map(isObject)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('notJson', () => {
  it('keeps a name from forging a line in a log', () => {
    const { message, details } = notJson('a\nERROR forged', 'is undefined');

    expect(message).toBe('a ERROR forged is undefined');
    expect(details.path).toBe('a ERROR forged');
  });
});
