import { describe, expect, it } from 'vitest';
import type { Next } from '../../../src/core/contract/layer.ts';
import { type Composer, fuzzOnion } from './fuzz-onion.ts';
import { createRandom } from './random.ts';
import { unhandledDuring, watchPrototypes } from './watch-process.ts';
import { howMany } from '../../how-many.fixture.ts';

/** What a composer looks like when nobody has thought about what can go wrong. */
const naiveCompose: Composer = (layers) => {
  const chain = (executor: Next): Next =>
    layers.reduceRight<Next>((inner, layer) => async (call) => layer.caller(call, inner), executor);
  return (call, next) => chain(next)(call);
};

describe('fuzzOnion', () => {
  it('finds nothing wrong with composeToolCallers', async () => {
    const calls = howMany(3_000, 50_000);
    const figures = await fuzzOnion({ calls, seed: 20_260_101 });

    expect(figures.violations).toEqual({});
    expect(figures).toMatchObject({ calls, stacks: calls / 50, unhandled: 0 });
    expect(figures.executorRuns).toBeGreaterThan(calls / 5);
    expect(figures.raised).toBeGreaterThan(calls / 50);
  });

  it('finds what is wrong with a composer without guards', async () => {
    const { violations, unhandled } = await fuzzOnion({
      calls: 500,
      seed: 7,
      compose: naiveCompose,
    });

    expect(unhandled).toBeGreaterThan(0);
    expect(Object.keys(violations)).toEqual(
      expect.arrayContaining([
        'left a rejection that nobody handled',
        'threw something that is no raise',
        'answered with something that is no result',
        'a late next was accepted',
        'the executor was entered after the answer',
        'ran the tool for a caller that had gone',
        'says the tool did not run, but it did',
        'lacks the line of the outermost layer',
      ]),
    );
  });

  it('repeats itself with the same seed', async () => {
    const first = await fuzzOnion({ calls: 500, seed: 42 });
    const again = await fuzzOnion({ calls: 500, seed: 42 });
    const other = await fuzzOnion({ calls: 500, seed: 43 });

    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it('reports how far it has come', async () => {
    const seen: number[] = [];
    await fuzzOnion({ calls: 120, seed: 1, onProgress: (done) => seen.push(done) });

    expect(seen).toEqual([50, 100, 120]);
  });
});

describe('createRandom', () => {
  it('spreads over the whole range', () => {
    const random = createRandom(3);
    const counts = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 10_000; draw += 1)
      counts[random.below(10)] = (counts[random.below(10)] ?? 0) + 1;

    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(() => random.pick([])).toThrow(RangeError);
  });
});

describe('unhandledDuring', () => {
  it('counts rejections that nobody handles and gives the listeners back', async () => {
    const before = process.listeners('unhandledRejection');
    const unhandled = await unhandledDuring(() => void Promise.reject(new Error('nobody listens')));

    expect(unhandled).toHaveLength(1);
    expect(process.listeners('unhandledRejection')).toEqual(before);
  });
});

describe('watchPrototypes', () => {
  it('names a member that was added, and one that was replaced', () => {
    const changed = watchPrototypes();
    const original = Reflect.getOwnPropertyDescriptor(Array.prototype, 'at') ?? {};
    Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
    Object.defineProperty(Array.prototype, 'at', { ...original, value: () => undefined });
    const found = changed();
    Reflect.deleteProperty(Object.prototype, 'polluted');
    Object.defineProperty(Array.prototype, 'at', original);

    expect(found).toEqual(['Object.prototype.polluted', 'Array.prototype.at']);
    expect(changed()).toEqual([]);
  });
});
