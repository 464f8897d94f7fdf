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
  openCopy,
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

describe('copies in between', () => {
  it('find their own way, and leave that of the copy under way as it was', () => {
    const refusals: string[] = [];
    const given = {
      list: [
        {
          get inner() {
            refusals.push(refusalOf({ own: [{ way: 1n }] }).message);
            return { ok: snapshot([{}]), bad: Number.NaN };
          },
        },
      ],
    };

    refusals.push(refusalOf(given).message);

    expect(refusals).toEqual([
      'own[0].way is a bigint',
      'list[0].inner.bad is not a finite number',
    ]);
  });

  it('may copy again what is open around them, which is no cycle', () => {
    const given = {
      depth: 0,
      get again(): JsonValue {
        given.depth += 1;
        return given.depth < 3 ? snapshot(given) : null;
      },
    };

    expect(snapshot(given)).toEqual({
      depth: 0,
      again: { depth: 1, again: { depth: 2, again: null } },
    });
  });

  it('come right after one that failed at any depth', () => {
    const thrower = {
      get a(): never {
        throw new Error('mine');
      },
    };
    for (const bad of [1n, thrower]) expect(() => snapshot({ a: [[bad]] })).toThrow();

    expect(refusalOf({ b: [Number.NaN] }).message).toBe('b[0] is not a finite number');
    expect(snapshot(nested(MAX_JSON_DEPTH))).toEqual(nested(MAX_JSON_DEPTH));
  });
});

describe('openCopy', () => {
  it('freezes all but the outermost object, and marks nothing', () => {
    const known = snapshot({ k: 1 });
    const copy = openCopy({ a: { b: [1] }, known, gone: undefined });

    expect(copy).toStrictEqual({ a: { b: [1] }, known: { k: 1 } });
    expect(Object.isFrozen(copy)).toBe(false);
    expect(Object.values(copy).every(frozenInDepth)).toBe(true);
    expect(isSnapshot(copy) || isSnapshot(copy['a'] as object)).toBe(false);
    expect(copy['known']).toBe(known);
  });

  it('reads a getter once, and refuses what is not JSON or no object', () => {
    let reads = 0;
    const given = {
      get a() {
        reads += 1;
        return reads;
      },
    };

    expect([openCopy(given), reads]).toEqual([{ a: 1 }, 1]);
    expect(() => openCopy({ a: { b: 1n } })).toThrow('a.b is a bigint');
    expect(() => openCopy([1])).toThrow('the value is not an object');
  });
});

describe('a limit', () => {
  it('counts what is copied and what was copied before, itself included', () => {
    const known = snapshot([1, [2]]);

    expect(snapshot({ a: 1, known }, 6)).toEqual({ a: 1, known: [1, [2]] });
    expect(() => snapshot({ a: 1, known }, 5)).toThrow('too many values');
    expect(() => snapshot({ known, a: 1 }, 5)).toThrow('too many values');
    expect(() => snapshot({ a: [1, 2, 3] }, 4)).toThrow('too many values');
  });

  it('is on the length of a list before any place is made for it', () => {
    expect(() => snapshot({ a: new Array(2 ** 31) }, 100)).toThrow('too many values');
  });

  it('is on depth, too, where something stands that was copied before', () => {
    const known = snapshot([[1]]);

    expect(snapshot({ known }, 100, 3)).toEqual({ known: [[1]] });
    expect(() => snapshot({ known }, 100, 2)).toThrow('nests deeper than 2');
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

  it('leaves alone what every object inherits', () => {
    const inherited = { deep: {} };
    Object.assign(Object.prototype, { inherited });

    const frozen = freezeParsed({ a: 1 });
    Reflect.deleteProperty(Object.prototype, 'inherited');

    expect([Object.isFrozen(frozen), Object.isFrozen(inherited)]).toEqual([true, false]);
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
