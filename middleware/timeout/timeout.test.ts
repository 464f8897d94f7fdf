import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  echoExecutor,
  makeCall,
  type PartialCall,
  settle,
  testClock,
} from '../../conformance/index.ts';
import { composeToolCallers, defineLayer, type Next, ok } from '../../src/index.ts';
import { type TimeoutOptions, timeout } from './timeout.ts';

const never: Next = () => new Promise(() => {});

/** Answers when its signal aborts. */
const heeding: Next = (call) =>
  new Promise((resolve) =>
    call.signal.addEventListener('abort', () => resolve(ok(call, 'in the end'))),
  );

function start(options: TimeoutOptions, executor: Next, call: PartialCall = {}) {
  const clock = testClock();
  const calling = composeToolCallers([timeout(options)], { clock })(makeCall(call), executor);
  return { clock, calling };
}

describe('timeout', () => {
  it('lets a tool answer in time', async () => {
    const executor = echoExecutor();
    const { calling, clock } = start({ maxMs: 100 }, executor);

    expect(await calling).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(executor.calls).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('aborts the signal, waits out the grace, and answers timeout with executed unknown', async () => {
    let heard: unknown = null;
    const { calling, clock } = start({ maxMs: 100 }, (call) => {
      call.signal.addEventListener('abort', () => void (heard = call.signal.reason));
      return never(call);
    });

    await clock.advance(99);
    expect(heard).toBeNull();
    await clock.advance(1);
    expect(heard).toMatchObject({ name: 'TimeoutError' });
    await clock.advance(99);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(clock.pending).toBe(0);

    expect(await calling).toMatchObject({
      ok: false,
      status: 'timeout',
      errorCategory: 'timeout',
      executed: 'unknown',
    });
  });

  it('says that the tool ran if it still answered within `graceMs`', async () => {
    const { calling, clock } = start({ maxMs: 100 }, heeding);
    await clock.advance(100);

    expect(await calling).toMatchObject({ status: 'timeout', executed: 'yes', result: null });
    expect(clock.pending).toBe(0);
  });

  it('says that nothing ran if something inside turned the call away', async () => {
    const clock = testClock();
    const slowNo = defineLayer({
      name: 'slowNo',
      caller: (call) =>
        new Promise((resolve) => call.signal.addEventListener('abort', () => resolve(ok(call)))),
    });
    const calling = composeToolCallers([timeout({ maxMs: 10 }), slowNo], { clock })(
      makeCall(),
      never,
    );
    await clock.advance(10);

    expect(await calling).toMatchObject({ status: 'timeout', executed: 'no' });
  });

  it('answers cancelled, not timeout, when the caller went first', async () => {
    const controller = new AbortController();
    const { calling, clock } = start({ maxMs: 1000 }, never, { signal: controller.signal });
    await settle();
    controller.abort();
    await clock.advance(100);

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'unknown' });
  });

  it.each([
    ['by name', { slow: 500 }, 500],
    ['by glob', { 's*': 500 }, 500],
    ['the first that matches', { 's*': 300, slow: 500 }, 300],
    ['not for others', { fast: 500 }, 100],
    ['not for a name every object has', { constructor: 500 }, 100],
    ['not for a glob that is none', { '*w*w*': 500 }, 100],
  ])('perTool counts %s', async (_name, perTool, limit) => {
    const { calling, clock } = start({ maxMs: 100, perTool, graceMs: 0 }, never, {
      toolName: 'slow',
    });
    let ended = false;
    void calling.then(() => (ended = true));

    await clock.advance(limit - 1);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect((await calling).error).toContain(`limit: ${limit} ms`);
  });

  it('begins its error with the `message`, and notes the limit', async () => {
    const { calling, clock } = start({ maxMs: 5, graceMs: 0, message: 'Too slow' }, never);
    await clock.advance(5);
    const result = await calling;

    expect(result.error).toMatch(/^Too slow \(limit: 5 ms\)/);
    expect(result.audit?.layers).toMatchObject([
      { name: 'timeout', status: 'timeout', limitMs: 5 },
    ]);
  });

  it('lets the smaller of two limits win', async () => {
    const clock = testClock();
    const calling = composeToolCallers([timeout({ maxMs: 500 }), timeout({ maxMs: 50 })], {
      clock,
    })(makeCall(), heeding);
    await clock.advance(50);

    expect((await calling).error).toContain('limit: 50 ms');
  });

  it.each(['__proto__', 'constructor', 'toString', '\ud800'])(
    'perTool counts for a tool called %j, if it is listed',
    async (toolName) => {
      const perTool = Object.fromEntries([[toolName, 30]]);
      const { calling, clock } = start({ maxMs: 10_000, perTool, graceMs: 0 }, never, {
        toolName,
        toolArgs: { text: 'x'.repeat(1_000_000) },
      });
      await clock.advance(30);

      expect((await calling).error).toContain('limit: 30 ms');
    },
  );

  it('is not changed by what becomes of its options', async () => {
    const perTool: Record<string, number> = { echo: 30 };
    const layer = timeout({ maxMs: 10_000, perTool, graceMs: 0 });
    perTool.echo = 5_000;
    const clock = testClock();
    const calling = composeToolCallers([layer], { clock })(makeCall(), never);
    await clock.advance(30);

    expect((await calling).status).toBe('timeout');
  });

  it('maxMs may be more than one timer can hold', async () => {
    const { calling, clock } = start({ maxMs: 2 ** 40, graceMs: 0 }, never);
    await clock.advance(2 ** 40 - 1);
    expect(clock.pending).toBe(1);
    await clock.advance(1);

    expect((await calling).status).toBe('timeout');
  });

  it('graceMs is waited out once, also for a caller that leaves in it', async () => {
    const controller = new AbortController();
    const { calling, clock } = start({ maxMs: 10, graceMs: 50 }, never, {
      signal: controller.signal,
    });
    await clock.advance(59);
    controller.abort();
    expect(clock.pending).toBe(1);
    await clock.advance(1);

    expect(await calling).toMatchObject({ status: 'timeout' });
    expect(clock.pending).toBe(0);
  });

  it('sets no timer for a tool that answers at once, and one for any number that do not', async () => {
    const clock = testClock();
    const caller = composeToolCallers([timeout({ maxMs: 1000 })], { clock });
    await caller(makeCall(), async (call) => {
      expect(clock.pending).toBe(0);
      return ok(call);
    });
    const { signal } = new AbortController();
    const slow = Array.from({ length: 50 }, () => caller(makeCall({ signal }), heeding));
    await settle();

    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
    await clock.advance(1000);
    await Promise.all(slow);
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  });

  it('leaves no listener on a long-lived signal, whatever happened', async () => {
    const { signal } = new AbortController();
    const slow = start({ maxMs: 5, graceMs: 5 }, never, { signal });
    await slow.clock.advance(10);
    await slow.calling;
    await start({ maxMs: 5 }, echoExecutor(), { signal }).calling;
    await start({ maxMs: 5 }, () => Promise.reject(new Error('no')), { signal }).calling;

    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(slow.clock.pending).toBe(0);
  });

  it('must stand inside consent', () => {
    const consent = defineLayer({ name: 'consent', caller: (call, next) => next(call) });

    expect(() => composeToolCallers([timeout({ maxMs: 1 }), consent])).toThrow(
      expect.objectContaining({ code: 'ERR_LAYER_ORDER' }) as Error,
    );
    expect(() => composeToolCallers([consent, timeout({ maxMs: 1 })])).not.toThrow();
  });

  it.each([
    [undefined],
    [{}],
    [{ maxMs: 0 }],
    [{ maxMs: 1.5 }],
    [{ maxMs: '5' }],
    [{ maxMs: 5, graceMs: -1 }],
    [{ maxMs: 5, perTool: { a: 0 } }],
  ])('refuses %j', (options) => {
    expect(() => timeout(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
