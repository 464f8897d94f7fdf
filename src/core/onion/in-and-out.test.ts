import { describe, expect, it } from 'vitest';
import { annotate, ok, refuse } from './results.ts';
import { withCall } from './own-call.ts';
import { unhandledDuring } from '../../../conformance/benches/fuzz/watch-process.ts';
import { echoExecutor, makeCall, settle } from '../../../conformance/test-kit.ts';
import type { ToolCall } from '../contract/call.ts';
import { composeToolCallers } from './compose.ts';
import {
  defineLayer,
  type Next,
  type ToolCaller,
  type ToolLayer,
  when,
} from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { inSteps, type Onward, type Step } from '../../../conformance/benches/fuzz/random-steps.ts';

const layer = (name: string, step: Step): ToolLayer => defineLayer({ name, caller: inSteps(step) });
const onward = (call: ToolCall, leave: Onward['leave'] = (result) => result): Onward => ({
  call,
  leave,
});
const lineOf = (result: ToolResult, name: string) =>
  result.audit?.layers.find((line) => line.name === name);

/** Waits on the way in, on the way out, on both, or on neither. */
const paces: readonly (readonly [string, boolean, boolean])[] = [
  ['at once', false, false],
  ['after a wait on the way in', true, false],
  ['after a wait on the way out', false, true],
  ['after waits on both ways', true, true],
];

function paced(name: string, waitsIn: boolean, waitsOut: boolean, trace: string[]): ToolLayer {
  const leave = (result: ToolResult): ToolResult => {
    trace.push(`${name} out`);
    return annotate(result, { [name]: 'was here' }, { status: `${name} left` });
  };
  return layer(name, (call) => {
    trace.push(`${name} in`);
    const step = onward(
      call,
      waitsOut ? async (result) => settle().then(() => leave(result)) : leave,
    );
    return waitsIn ? settle().then(() => step) : step;
  });
}

describe('a layer that goes in, waits for next, and comes out', () => {
  it.each(paces)('goes in and out %s', async (_, waitsIn, waitsOut) => {
    const trace: string[] = [];
    const stack = ['a', 'b', 'c'].map((name) => paced(name, waitsIn, waitsOut, trace));
    const executor = echoExecutor();
    const result = await composeToolCallers(stack)(makeCall(), executor);

    expect(trace).toEqual(['a in', 'b in', 'c in', 'c out', 'b out', 'a out']);
    expect(executor.calls).toHaveLength(1);
    expect(result.audit?.layers.map(({ name, status }) => [name, status])).toEqual([
      ['c', 'c left'],
      ['b', 'b left'],
      ['a', 'a left'],
    ]);
    expect(result.audit).toMatchObject({ a: 'was here', b: 'was here', c: 'was here' });
  });

  it('mixes with layers that await next', async () => {
    const trace: string[] = [];
    const awaiting: ToolCaller = async (call, next) => {
      trace.push('awaiting in');
      const result = await next(call);
      trace.push('awaiting out');
      return result;
    };
    const stack = [
      paced('a', false, false, trace),
      awaiting,
      paced('b', true, false, trace),
      awaiting,
      paced('c', false, true, trace),
    ];
    await composeToolCallers(stack)(makeCall(), echoExecutor());

    expect(trace).toEqual([
      ...['a in', 'awaiting in', 'b in', 'awaiting in', 'c in'],
      ...['c out', 'awaiting out', 'b out', 'awaiting out', 'a out'],
    ]);
  });

  it.each([
    ['at once', (call: ToolCall) => refuse(call, 'policy_blocked', 'No.')],
    ['later', async (call: ToolCall) => refuse(call, 'policy_blocked', 'No.')],
  ])('answers %s without going on, and layers outside are left', async (_, step) => {
    const trace: string[] = [];
    const executor = echoExecutor();
    const result = await composeToolCallers([
      paced('outer', false, false, trace),
      layer('door', step),
    ])(makeCall(), executor);

    expect(result).toMatchObject({ status: 'policy_blocked', executed: 'no' });
    expect(executor.calls).toEqual([]);
    expect(trace).toEqual(['outer in', 'outer out']);
    expect(result.audit?.layers.map(({ name }) => name)).toEqual(['door', 'outer']);
  });

  it('goes on with the call it names', async () => {
    const executor = echoExecutor();
    const rewriting = layer('rewriting', (call) =>
      onward(withCall(call, { toolArgs: { other: true } })),
    );
    await composeToolCallers([rewriting])(makeCall(), executor);

    expect(executor.calls[0]?.toolArgs).toEqual({ other: true });
  });

  it.each<[string, Step]>([
    ['on the way in', () => thrown('in')],
    ['on the way in, later', async () => thrown('in')],
    ['on the way out', (call) => onward(call, () => thrown('out'))],
    ['on the way out, later', (call) => onward(call, async () => thrown('out'))],
  ])('is blamed for what it throws %s', async (_, step) => {
    const result = await composeToolCallers([
      layer('outer', (call) => onward(call)),
      layer('bad', step),
    ])(makeCall(), echoExecutor());

    expect(result.status).toBe('tool_middleware_exception');
    expect(lineOf(result, 'bad')?.status).toBe('exception');
    expect(lineOf(result, 'bad')?.error).toMatch(/^(?:in|out)$/);
    expect(lineOf(result, 'outer')).toMatchObject({ status: 'tool_middleware_exception' });
  });

  it('keeps what has run when it throws on the way out', async () => {
    const result = await composeToolCallers([
      layer('bad', (call) => onward(call, () => thrown('out'))),
    ])(makeCall(), echoExecutor());

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'yes' });
  });

  it.each<[string, (call: ToolCall) => unknown]>([
    ['nothing', () => undefined],
    ['a hand-made result', (call) => ({ ...ok(call, 1) })],
    ['a step whose call is none', () => ({ call: 'call', leave: (result: ToolResult) => result })],
    ['a step that cannot be read', () => new Proxy({}, { has: () => thrown('touched') })],
    ['a promise of nothing', async () => undefined],
    [
      'a promise of a step whose call cannot be read',
      async () => Object.defineProperty({ leave: () => {} }, 'call', { get: () => thrown('read') }),
    ],
  ])('does not go on with %s', async (_, step) => {
    const executor = echoExecutor();
    const unhandled = await unhandledDuring(async () => {
      const result = await composeToolCallers([
        layer('outer', (call) => onward(call)),
        layer('odd', step as Step),
      ])(makeCall(), executor);
      expect(result.status).toBe('tool_middleware_exception');
    });

    expect(executor.calls).toEqual([]);
    expect(unhandled).toEqual([]);
  });

  it('takes nothing but a result of this call on the way out', async () => {
    const foreign = ok(makeCall({ callId: 'another' }), 'not yours');
    const result = await composeToolCallers([layer('odd', (call) => onward(call, () => foreign))])(
      makeCall(),
      echoExecutor(),
    );

    expect(result).toMatchObject({
      status: 'tool_middleware_exception',
      toolCallId: 'call-1',
      executed: 'yes',
    });
  });

  it('goes on behind next once, also when the layer outside has left', async () => {
    let left = 0;
    let answer: (result: ToolResult) => void = () => {};
    const slow: Next = () => new Promise((resolve) => (answer = resolve));
    const leaving: ToolCaller = (call, next) => {
      const own = new AbortController();
      void next(withCall(call, { signal: own.signal }));
      own.abort();
      return refuse(call, 'timeout', 'Too slow.');
    };
    const counting: ToolCaller = async (call, next) => {
      const result = await next(call);
      left += 1;
      return result;
    };
    const seen: ToolCall[] = [];
    const executor: Next = (call) => (seen.push(call), slow(call));
    const result = await composeToolCallers([leaving, counting])(makeCall(), executor);
    expect(left).toBe(0);
    answer(ok(seen[0] ?? makeCall(), 'late'));
    await settle();

    expect(result).toMatchObject({ status: 'timeout', executed: 'unknown' });
    expect(left).toBe(1);
  });

  it('is an ordinary caller for whoever calls it', async () => {
    const inner = layer('inner', (call) =>
      onward(call, (result) => annotate(result, { inner: true })),
    );
    const wrapped = defineLayer({
      ...inner,
      name: 'wrapped',
      caller: async (call, next) => annotate(await inner.caller(call, next), { wrapped: true }),
    });
    const result = await composeToolCallers([wrapped])(makeCall(), echoExecutor());

    expect(result.audit).toMatchObject({ inner: true, wrapped: true });
  });

  it('is replaced by the caller that somebody puts into a copy of the layer', async () => {
    const inner = layer('door', (call) => refuse(call, 'policy_blocked', 'No.'));
    const result = await composeToolCallers([
      defineLayer({ ...inner, caller: (call, next) => next(call) }),
    ])(makeCall(), echoExecutor());

    expect(result.status).toBe('ok');
  });

  it('holds for the tools that a predicate names', async () => {
    const door = when(
      ({ toolName }) => toolName === 'other',
      layer('door', (call) => refuse(call, 'policy_blocked', 'No.')),
    );
    const caller = composeToolCallers([door]);

    expect((await caller(makeCall(), echoExecutor())).status).toBe('ok');
    expect((await caller(makeCall({ toolName: 'other' }), echoExecutor())).status).toBe(
      'policy_blocked',
    );
  });

  it('does not turn a cancelled call into a success', async () => {
    const own = new AbortController();
    const hopeful = layer('hopeful', (call) => onward(call, () => ok(call, 'all is well')));
    const executor: Next = async () => {
      own.abort();
      throw new Error('gone');
    };
    const result = await composeToolCallers([hopeful])(makeCall({ signal: own.signal }), executor);

    expect(result).toMatchObject({ ok: false, status: 'cancelled', executed: 'unknown' });
    expect(lineOf(result, 'hopeful')).toMatchObject({
      error: 'turned a cancelled call into a success',
    });
  });
});

function thrown(text: string): never {
  throw new Error(text);
}
