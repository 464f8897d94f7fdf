import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, settle } from '../../../conformance/test-kit.ts';
import { runnerOf } from '../../core/onion/compose.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { toolOutput } from '../../tools/tool.ts';
import { limitStage } from './admission.ts';
import { type CallCounter, createCallCounter, createSemaphore, type Semaphore } from './limits.ts';
import { setup, storyOf } from '../testing.fixture.ts';
import { createTurnMemory } from './shown-tools.ts';

/** A tool that waits until it is let go, and the most that waited at once. */
function waitingTool() {
  const waiting: (() => void)[] = [];
  const peak = { now: 0, most: 0 };
  const tool = defineTool({
    name: 'wait',
    description: '',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    async execute({ n }) {
      peak.now += 1;
      peak.most = Math.max(peak.most, peak.now);
      await new Promise<void>((resolve) => waiting.push(resolve));
      peak.now -= 1;
      return n;
    },
  });
  return {
    tool,
    peak,
    letOne: () => waiting.shift()?.(),
    letLast: () => waiting.pop()?.(),
    waiting,
  };
}

describe('limits', () => {
  it.each([
    ['maxCallsPerRun', { runId: 'r1' }, { runId: 'r2' }],
    ['maxCallsPerSession', { sessionId: 's1' }, { sessionId: 's2' }],
  ])('%s lets that many calls through and counts each name apart', async (limit, turn, other) => {
    const { governed, ran } = setup({ limits: { [limit]: 2 } });
    const statuses = [];
    for (let n = 0; n < 4; n += 1)
      statuses.push((await governed.call({ name: 'echo', arguments: {} }, { turn })).status);

    expect(statuses).toEqual(['ok', 'ok', 'limit_exceeded', 'limit_exceeded']);
    expect((await governed.call({ name: 'echo', arguments: {} }, { turn: other })).status).toBe(
      'ok',
    );
    expect(ran).toHaveLength(3);
  });

  it('of a run holds for calls that name none', async () => {
    const { governed } = setup({ limits: { maxCallsPerRun: 1 } });

    expect((await governed.call({ name: 'echo', arguments: {} })).status).toBe('ok');
    expect((await governed.call({ name: 'echo', arguments: {} })).status).toBe('limit_exceeded');
  });

  it('of nothing lets nothing through', async () => {
    const { governed, events } = setup({ limits: { maxCallsPerSession: 0 } });

    expect((await governed.call({ name: 'echo', arguments: {} })).status).toBe('limit_exceeded');
    expect(storyOf(events)).toEqual(['pending', 'audit', 'failed']);
  });

  it('are not used up by calls that were turned away before', async () => {
    const { governed } = setup({ limits: { maxCallsPerSession: 1 } });
    await governed.call({ name: 'nobody', arguments: {} });
    await governed.call({ name: 'echo', arguments: { text: 5 } });

    expect((await governed.call({ name: 'echo', arguments: {} })).status).toBe('ok');
  });

  it('cannot be passed by claiming to be a resumed call', async () => {
    const { governed } = setup({ limits: { maxCallsPerSession: 0 } });

    expect(
      (await governed.call({ name: 'echo', arguments: {} }, { turn: { resumes: 1 } })).status,
    ).toBe('limit_exceeded');
  });

  it('admit exactly their number of ten thousand calls at once', async () => {
    const { governed, ran } = setup({ limits: { maxCallsPerSession: 100 } });
    const results = await Promise.all(
      Array.from({ length: 10_000 }, () => governed.call({ name: 'echo', arguments: {} })),
    );

    expect(results.filter((result) => result.ok)).toHaveLength(100);
    expect(ran).toHaveLength(100);
  });

  it('of concurrency make calls wait in order instead of failing', async () => {
    const { tool, peak, letOne } = waitingTool();
    const { governed } = setup({ toolList: () => [tool], limits: { maxConcurrent: 2 } });
    const done: unknown[] = [];
    const calls = [1, 2, 3, 4, 5].map((n) =>
      governed.call({ name: 'wait', arguments: { n } }).then(({ result }) => done.push(result)),
    );

    for (let n = 0; n < 5; n += 1) {
      await settle();
      letOne();
    }
    await Promise.all(calls);

    expect(peak.most).toBe(2);
    expect(done).toEqual([1, 2, 3, 4, 5]);
  });

  it('of concurrency do not lock out the calls a tool makes itself', async () => {
    const inner = defineTool({
      name: 'inner',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => 'inside',
    });
    const outer = defineTool({
      name: 'outer',
      description: '',
      inputSchema: { type: 'object' },
      execute: async (_args, { call }) => (await call({ name: 'inner', arguments: {} })).result,
    });
    const { governed } = setup({ toolList: () => [inner, outer], limits: { maxConcurrent: 1 } });

    expect((await governed.call({ name: 'outer', arguments: {} })).result).toBe('inside');
  });

  it('let a call go that is cancelled while it waits', async () => {
    const { tool, letOne } = waitingTool();
    const { governed } = setup({ toolList: () => [tool], limits: { maxConcurrent: 1 } });
    const controller = new AbortController();
    const first = governed.call({ name: 'wait', arguments: {} });
    const second = governed.call({ name: 'wait', arguments: {} }, { signal: controller.signal });
    await settle();

    controller.abort();
    expect(await second).toMatchObject({ status: 'cancelled', executed: 'no' });
    letOne();
    expect((await first).status).toBe('ok');
  });

  it('refuse to be misspelt or negative', () => {
    expect(() => setup({ limits: { maxCalls: 1 } as never })).toThrow('maxCalls');
    expect(() => setup({ limits: { maxConcurrent: 0 } })).toThrow('at least 1');
  });
});

describe('limits on the number of values', () => {
  const wide = (values: number) =>
    Object.fromEntries(Array.from({ length: values - 1 }, (_, nth) => [`k${nth}`, nth]));
  /** Small to write down, and with no end to walk over. */
  const bomb = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner, inner], 0);
  const answering = (answer: () => unknown) =>
    defineTool({
      name: 'answer',
      description: '',
      inputSchema: { type: 'object' },
      execute: answer,
    });
  const call = (answer: () => unknown, args: object | string = {}, limits = {}) =>
    setup({ toolList: () => [answering(answer)], limits }).governed.call({
      name: 'answer',
      arguments: args,
    });

  it('maxResultValues keeps a result that fits, and not one with a value more', async () => {
    const limits = { maxResultValues: 100 };

    expect(await call(() => wide(100), {}, limits)).toMatchObject({ status: 'ok' });
    expect(await call(() => wide(101), {}, limits)).toMatchObject({
      status: 'executor_error',
      errorCategory: 'result_too_large',
      errorClass: 'repairable',
      executed: 'yes',
      result: null,
      error: 'answer answered with more than 100 values. Ask for less at a time.',
    });
  });

  it.each([
    ['members', () => wide(60_000)],
    ['a list that holds a list twice, forty times over', () => bomb],
    [
      'blocks',
      () =>
        toolOutput({
          content: Array.from({ length: 30_000 }, () => ({ type: 'text' as const, text: '' })),
        }),
    ],
    ['structured content', () => toolOutput({ content: [], structuredContent: wide(60_000) })],
  ])('hold for %s by default', async (_name, answer) => {
    expect(await call(answer)).toMatchObject({
      status: 'executor_error',
      errorCategory: 'result_too_large',
    });
  });

  it('hold for a value that is put together from results of other calls', async () => {
    const part = defineTool({
      name: 'part',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => wide(10_000),
    });
    const whole = defineTool({
      name: 'whole',
      description: '',
      inputSchema: { type: 'object' },
      async execute(_args, context) {
        const { result } = await context.call({ name: 'part', arguments: {} });
        return Array.from({ length: 10 }, () => result);
      },
    });
    const { governed } = setup({ toolList: () => [part, whole] });

    expect(await governed.call({ name: 'whole', arguments: {} })).toMatchObject({
      errorCategory: 'result_too_large',
    });
  });

  it.each([
    ['an object', wide(101)],
    ['text', JSON.stringify(wide(101))],
    ['a list that holds a list twice, forty times over', { bomb }],
  ])('maxArgsValues refuses arguments as %s, and nothing runs', async (_name, args) => {
    let ran = 0;
    const result = await call(() => (ran += 1), args, { maxArgsValues: 100 });

    expect(result).toMatchObject({
      status: 'schema_violation',
      errorClass: 'repairable',
      executed: 'no',
    });
    expect(result.error).toContain('at most 100 are taken; send less at a time');
    expect(ran).toBe(0);
  });
});

describe('a call that was interrupted and taken up again', () => {
  it.each([
    [1, 'ok'],
    [0, 'limit_exceeded'],
  ])('takes nothing from a limit: with %i resumptions it ends as %s', async (resumes, status) => {
    const none = createCallCounter(0);
    const stage = limitStage({
      limits: {},
      perRun: none,
      perSession: none,
      semaphore: null,
      onStart: () => {},
    });

    const call = makeCall({ turn: { resumes } }, { host: { seats: [] } });
    expect(await runnerOf([stage])(call, echoExecutor())).toMatchObject({ status });
  });
});

describe('tools that call tools', () => {
  it('go through the same stack and end at a fixed depth', async () => {
    let deepest = 0;
    const digger = defineTool({
      name: 'dig',
      description: '',
      inputSchema: { type: 'object', properties: { depth: { type: 'number' } } },
      async execute({ depth = 0 }, { call }) {
        deepest = Math.max(deepest, depth);
        return (await call({ name: 'dig', arguments: { depth: depth + 1 } })).status;
      },
    });
    const { governed, events } = setup({ toolList: () => [digger] });

    await governed.call({ name: 'dig', arguments: {} });

    expect(deepest).toBe(8);
    expect(
      events.filter(
        (event) => event.type === 'tool_call_update' && event.error_category === 'limit_exceeded',
      ),
    ).toHaveLength(1);
  });
});

describe('the semaphore', () => {
  it('hands a place to whoever waits longest, not to a newcomer', async () => {
    const semaphore = createSemaphore(1);
    const { signal } = new AbortController();
    const order: string[] = [];
    const leave = await semaphore.enter(signal);
    const waiter = semaphore.enter(signal).then((give) => {
      order.push('waiter');
      give?.();
    });

    leave?.();
    const newcomer = semaphore.enter(signal).then(() => order.push('newcomer'));
    await Promise.all([waiter, newcomer]);

    expect(order).toEqual(['waiter', 'newcomer']);
  });
});

describe('sessions at the semaphore', () => {
  /**
   * Whose turn it was, when one session has a thousand calls in front of another one's single call.
   */
  async function turns(semaphore: Semaphore): Promise<readonly string[]> {
    const order: string[] = [];
    const enter = (owner: string) => semaphore.enter(new AbortController().signal, owner);
    const leave = await enter('flooder');
    const visit = async (owner: string) => {
      const give = await enter(owner);
      order.push(owner);
      give?.();
    };
    const all = [...Array.from({ length: 1_000 }, () => visit('flooder')), visit('another')];
    leave?.();
    await Promise.all(all);
    return order;
  }

  it('take turns, so that a thousand calls of one do not keep another one waiting', async () => {
    expect((await turns(createSemaphore(1))).indexOf('another')).toBeLessThanOrEqual(1);
  });

  it('do not where whoever came first goes first, and the same calls find it', async () => {
    const fair = createSemaphore(1);
    const naive: Semaphore = { enter: (signal) => fair.enter(signal) };

    expect((await turns(naive)).indexOf('another')).toBe(1_000);
  });
});

describe('a place at the semaphore', () => {
  it('is not lost on somebody who stopped waiting for it', async () => {
    const semaphore = createSemaphore(1);
    const leaver = new AbortController();
    const leave = await semaphore.enter(new AbortController().signal);
    const gone = semaphore.enter(leaver.signal);
    const waiting = semaphore.enter(new AbortController().signal);

    leaver.abort();
    expect(await gone).toBeNull();
    leave?.();

    expect(await waiting).not.toBeNull();
  });

  it('leaves no listener on the signal of who got it, and none can lose it afterwards', async () => {
    const semaphore = createSemaphore(1);
    const controller = new AbortController();
    const leave = await semaphore.enter(new AbortController().signal);
    const second = semaphore.enter(controller.signal);
    leave?.();
    await second;
    const third = semaphore.enter(new AbortController().signal);

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    (await second)?.();
    expect(await third).not.toBeNull();
  });

  it('is not waited for by a caller that has gone already', async () => {
    const semaphore = createSemaphore(1);
    await semaphore.enter(new AbortController().signal);

    expect(await semaphore.enter(AbortSignal.abort())).toBeNull();
  });
});

describe('the counter', () => {
  const takeOwn = (counter: CallCounter, session: string) => counter.take(session, session);

  it('forgets the session that has been idle longest, and only beyond a hundred thousand', () => {
    const counter = createCallCounter(1);
    takeOwn(counter, 'first');
    takeOwn(counter, 'second');
    for (let key = 0; key < 99_998; key += 1) takeOwn(counter, String(key));

    expect(takeOwn(counter, 'second')).toBe(false);
    takeOwn(counter, 'one more');
    expect(takeOwn(counter, 'second')).toBe(false);
    expect(takeOwn(counter, 'first')).toBe(true);
  });

  it('forgets the runs of the session that makes up so many, and not those of others', () => {
    const counter = createCallCounter(1);
    counter.take('run of another', 'another');
    for (let run = 0; run < 200_000; run += 1) counter.take(`run ${run}`, 'flooder');

    expect(counter.take('run of another', 'another')).toBe(false);
    expect(counter.take('a new run', 'another')).toBe(true);
  });

  it('takes check and count in one step', () => {
    const counter = createCallCounter(1);

    expect(['a', 'a', '__proto__', 'constructor'].map((key) => takeOwn(counter, key))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});

describe('the memory of turns', () => {
  const turn = (turnId: string, sessionId = 's') => ({ turnId, sessionId, iteration: 1 });

  it('gives a turn nothing once its list was forgotten', () => {
    const memory = createTurnMemory(2);

    expect(memory.allows(turn('unknown'), 'echo')).toBe(true);
    for (const id of ['a', 'b', 'c']) memory.remember(turn(id), []);

    expect(memory.allows(turn('a'), 'echo')).toBe(false);
  });

  it('serves a turn that was never advertised for, however many lists were forgotten', () => {
    const memory = createTurnMemory();
    for (let id = 0; id < 100_000; id += 1) memory.remember(turn(String(id)), ['echo']);

    expect(memory.allows(turn('never advertised', 'another'), 'echo')).toBe(true);
    expect([0, 1, 50_000, 89_999].map((id) => memory.allows(turn(String(id)), 'echo'))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('keeps the list of a session while another one is shown a flood of them', () => {
    const memory = createTurnMemory();
    memory.remember(turn('mine', 'another'), ['echo']);
    for (let id = 0; id < 50_000; id += 1) memory.remember(turn(String(id), 'flooder'), []);

    expect([
      memory.allows(turn('mine', 'another'), 'echo'),
      memory.allows(turn('mine', 'another'), 'rm'),
    ]).toEqual([true, false]);
  });
});
