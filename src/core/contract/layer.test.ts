import { describe, expect, it } from 'vitest';
import { refuse } from '../onion/results.ts';
import { echoExecutor, makeCall } from '../../../conformance/test-kit.ts';
import { composeToolCallers } from '../onion/compose.ts';
import {
  defineLayer,
  type OrderRule,
  passThrough,
  type ToolCaller,
  type ToolLayer,
  when,
} from './layer.ts';

const caller: ToolCaller = (call, next) => next(call);
const rule: OrderRule = { outsideOf: 'consent', level: 'must', because: 'it says so' };
const invalid = (pattern: RegExp): unknown =>
  expect.objectContaining({
    code: 'ERR_INVALID_LAYER',
    message: expect.stringMatching(pattern) as string,
  });

describe('defineLayer', () => {
  it('freezes a copy, rules included', () => {
    const given = { name: 'a', caller, order: [{ ...rule }] };
    const layer = defineLayer(given);
    given.order.length = 0;

    expect(layer).toMatchObject({ name: 'a', order: [rule] });
    expect([layer, layer.order, layer.order?.[0]].every(Object.isFrozen)).toBe(true);
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /must be an object/],
    ['a list', [], /must be an object/],
    ['no name', { caller }, /needs a name/],
    ['an empty name', { name: '', caller }, /needs a name/],
    ['a name that is no text', { name: 5, caller }, /"name" must be a string, got number/],
    ['no caller', { name: 'a' }, /layer "a": a layer needs a name and a caller/],
    [
      'a caller that cannot be called',
      { name: 'a', caller: {} },
      /"caller" must be a function, got object/,
    ],
    [
      'a misspelt member',
      { name: 'a', caller, observe: true },
      /layer "a": a layer has no "observe"/,
    ],
    [
      'a mistyped member',
      { name: 'a', caller, observes: 'yes' },
      /"observes" must be a boolean, got string/,
    ],
    ['an order that is null', { name: 'a', caller, order: null }, /"order" must be a list/],
    ['an order that is no list', { name: 'a', caller, order: {} }, /"order" must be a list/],
    ['a rule that is null', { name: 'a', caller, order: [null] }, /an order rule/],
    [
      'a rule without a side',
      { name: 'a', caller, order: [{ level: 'must', because: 'b' }] },
      /an order rule/,
    ],
    [
      'a rule with two sides',
      { name: 'a', caller, order: [{ ...rule, insideOf: 'b' }] },
      /an order rule/,
    ],
    [
      'a rule without a reason',
      { name: 'a', caller, order: [{ ...rule, because: '' }] },
      /an order rule/,
    ],
    [
      'a rule with an unknown level',
      { name: 'a', caller, order: [{ ...rule, level: 'may' }] },
      /an order rule/,
    ],
  ])('refuses %s', (_, layer, pattern) => {
    expect(() => defineLayer(layer as ToolLayer)).toThrow(invalid(pattern)); // Not a layer: that is the case.
  });

  it('takes an absent member for absent', () => {
    const layer = { name: 'a', caller, scrub: undefined, order: undefined } as unknown as ToolLayer; // As JavaScript writes it.

    expect(() => defineLayer(layer)).not.toThrow();
  });
});

describe('passThrough', () => {
  it('hands every call on as it is', async () => {
    const executor = echoExecutor();
    const result = await composeToolCallers([passThrough])(
      makeCall({ toolArgs: { a: 1 } }),
      executor,
    );

    expect(result).toMatchObject({ ok: true, result: { a: 1 } });
    expect(executor.calls).toHaveLength(1);
  });
});

describe('when', () => {
  const blocking: ToolLayer = {
    name: 'blocking',
    caller: (call) => refuse(call, 'policy_blocked', 'No.'),
  };

  it('applies the layer where the predicate says so, under its own name', async () => {
    const stack = composeToolCallers([
      when(({ annotations }) => annotations.destructive === true, blocking),
    ]);
    const harmless = await stack(makeCall({ annotations: { readOnly: true } }), echoExecutor());
    const harmful = await stack(makeCall(), echoExecutor());

    expect([harmless.status, harmful.status]).toEqual(['ok', 'policy_blocked']);
    expect(harmful.audit?.layers[0]?.name).toBe('blocking');
  });

  it('shows the predicate the tool and nothing else', async () => {
    const seen: object[] = [];
    const layer = when((tool) => seen.push(tool) > 0, {
      ...blocking,
      schemaTransform: (tool) => tool,
    });
    await composeToolCallers([layer])(makeCall({ toolArgs: { secret: 1 } }), echoExecutor());
    layer.schemaTransform?.({ name: 'echo', description: '', inputSchema: {}, annotations: {} });

    expect(seen.map((tool) => Object.keys(tool).sort())).toEqual(
      Array(2).fill(['annotations', 'description', 'schema', 'toolName']),
    );
    expect(seen.every(Object.isFrozen)).toBe(true);
  });

  it('keeps rules, scrub and traits for the whole stack', () => {
    const scrub = (text: string) => text;

    expect(when(() => false, { ...blocking, scrub, order: [rule], rewrites: true })).toMatchObject({
      scrub,
      order: [rule],
      rewrites: true,
    });
  });

  it('fails closed when the predicate throws', async () => {
    const executor = echoExecutor();
    const bad = when(() => {
      throw new Error('cannot tell');
    }, blocking);
    const result = await composeToolCallers([bad])(makeCall(), executor);

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'no' });
    expect(executor.calls).toEqual([]);
  });

  it('refuses to be built without a predicate or a layer', () => {
    expect(() => when('echo' as unknown as () => boolean, blocking)).toThrow(
      invalid(/"predicate" must be a function/),
    ); // Somebody without types.
    expect(() => when(() => true, caller as unknown as ToolLayer)).toThrow(
      invalid(/must be an object/),
    ); // A function is no layer.
  });
});
