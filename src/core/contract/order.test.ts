import { describe, expect, it } from 'vitest';
import type { OrderRule, ToolLayer } from './layer.ts';
import { demandOrder, describeFinding, orderFindings } from './order.ts';

const layer = (name: string, ...order: readonly OrderRule[]): ToolLayer => ({
  name,
  caller: (call, next) => next(call),
  order,
});
const outside: OrderRule = { outsideOf: 'b', level: 'must', because: 'first things first' };
const inside: OrderRule = { insideOf: 'b', level: 'should', because: 'it is warmer there' };

describe('orderFindings', () => {
  it.each<[string, readonly ToolLayer[], number]>([
    ['outside, as it must', [layer('a', outside), layer('b')], 0],
    ['inside, although it must be outside', [layer('b'), layer('a', outside)], 1],
    ['inside, as it should', [layer('b'), layer('a', inside)], 0],
    ['outside, although it should be inside', [layer('a', inside), layer('b')], 1],
    ['alone', [layer('a', outside, inside)], 0],
    ['between two of the other', [layer('b'), layer('a', outside), layer('b')], 1],
    ['inside of two of the other', [layer('b'), layer('b'), layer('a', outside)], 2],
    ['beside one of its own name', [layer('b', outside), layer('b', outside)], 1],
  ])('looks at every pair: %s', (_, layers, count) => {
    expect(orderFindings(layers)).toHaveLength(count);
  });

  it('says who, where and why', () => {
    const [finding] = orderFindings([layer('b'), layer('a', outside)]);

    expect(finding).toEqual({
      level: 'must',
      layer: 'a',
      other: 'b',
      expected: 'outside',
      because: 'first things first',
    });
    expect(finding && describeFinding(finding)).toBe(
      '"a" must stand outside "b": first things first',
    );
  });
});

describe('demandOrder', () => {
  it('throws for a broken must, with the place', () => {
    const demand = () => demandOrder([layer('b'), layer('a', inside, outside)]);

    expect(demand).toThrow(
      expect.objectContaining({
        code: 'ERR_LAYER_ORDER',
        details: { layer: 'a', expected: 'outside b' },
      }),
    );
  });

  it('lets a broken should pass', () => {
    expect(() => demandOrder([layer('a', inside), layer('b')])).not.toThrow();
  });
});
