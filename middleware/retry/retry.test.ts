import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, type PartialCall, testClock } from '../../conformance/index.ts';
import {
  annotate,
  composeToolCallers,
  defineLayer,
  explainStack,
  fail,
  type Next,
  ok,
  refuse,
  STATUSES,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/index.ts';
import type { FailOptions } from '../../src/layer.ts';
import { timeout } from '../timeout/timeout.ts';
import { type RetryOptions, retry } from './retry.ts';

type Step = (call: ToolCall) => ToolResult;

const broken =
  (
    options: FailOptions = { errorClass: 'retryable', executed: 'unknown' },
    text = 'Connection lost, please try again.',
  ): Step =>
  (call) =>
    fail(call, 'executor_error', null, text, options);
const fine: Step = (call) => ok(call, 'done');
const read: PartialCall = { annotations: { readOnly: true } };
const write: PartialCall = { toolName: 'send_mail' };

/** An executor that goes through the steps and stays with the last one. */
function stepping(...steps: readonly Step[]): Next & { readonly calls: number } {
  let calls = 0;
  const executor: Next = async (call) => {
    const step = steps[Math.min(calls, steps.length - 1)] ?? fine;
    calls += 1;
    return step(call);
  };
  return Object.defineProperty(executor, 'calls', { get: () => calls }) as Next & {
    readonly calls: number;
  };
}

async function run(
  options: RetryOptions,
  call: PartialCall,
  steps: readonly Step[],
  inner: readonly ToolLayer[] = [],
) {
  const clock = testClock();
  const executor = stepping(...steps);
  const calling = composeToolCallers([retry(options), ...inner], { clock })(
    makeCall(call),
    executor,
  );
  await clock.advance(1_000_000);
  const result = await calling;
  return { result, ran: executor.calls, clock, line: result.audit?.layers.at(-1) };
}

describe('retry', () => {
  it('lets an answer through at the first attempt, and writes no details', async () => {
    const { result, ran, line } = await run({}, read, [fine]);

    expect(result).toMatchObject({ status: 'ok', result: 'done' });
    expect(ran).toBe(1);
    expect(line).not.toHaveProperty('attempts');
  });

  it('tries a reading tool again until it answers', async () => {
    const { result, ran, line } = await run({ jitter: false }, read, [broken(), broken(), fine]);

    expect(result).toMatchObject({ status: 'ok', result: 'done' });
    expect(ran).toBe(3);
    expect(line).toMatchObject({ name: 'retry', status: 'ok', attempts: 3, waitedMs: 600 });
  });

  it.each([
    ['reads only', { readOnly: true }],
    ['is idempotent', { idempotent: true }],
  ])('repeats a tool that %s after it may have run', async (_name, annotations) => {
    expect((await run({}, { annotations }, [broken(), fine])).ran).toBe(2);
  });

  it('repeats any tool that has not run', async () => {
    const { result, ran } = await run({}, write, [
      broken({ errorClass: 'retryable', executed: 'no' }),
      fine,
    ]);

    expect([result.status, ran]).toEqual(['ok', 2]);
  });

  it('never repeats what failed for good', async () => {
    const { ran, line } = await run({}, read, [broken({ errorClass: 'fatal' }), fine]);

    expect(ran).toBe(1);
    expect(line).not.toHaveProperty('attempts');
  });

  it('gives the last answer when all attempts failed', async () => {
    const { result, ran, line } = await run({ jitter: false }, read, [broken()]);

    expect(result).toMatchObject({ status: 'executor_error', errorClass: 'retryable' });
    expect(ran).toBe(3);
    expect(line).toMatchObject({ attempts: 3, waitedMs: 600, gaveUp: 'attempts' });
  });
});

describe('retry of a write', () => {
  /** Repeats whatever calls itself retryable, as most retry loops do. */
  const naive = defineLayer({
    name: 'naive',
    async caller(call, next) {
      const first = await next(call);
      return first.errorClass === 'retryable' ? next(call) : first;
    },
  });

  const transfers = (): { readonly made: string[]; readonly executor: Next } => {
    const made: string[] = [];
    return {
      made,
      async executor(call) {
        made.push(call.toolName);
        return broken()(call);
      },
    };
  };

  it('does not happen twice, which it does with a layer that looks at the error alone', async () => {
    const [ours, theirs] = [transfers(), transfers()];
    await composeToolCallers([retry({ backoffMs: 0 })])(makeCall(write), ours.executor);
    await composeToolCallers([naive])(makeCall(write), theirs.executor);

    expect([ours.made.length, theirs.made.length]).toEqual([1, 2]);
  });

  it.each(['yes', 'unknown'] as const)(
    'is not repeated after executed %s, and the model is not told to',
    async (executed) => {
      const { result, ran, line } = await run({}, write, [
        broken({ errorClass: 'retryable', executed }),
        fine,
      ]);

      expect(ran).toBe(1);
      expect(result).toMatchObject({ status: 'executor_error', executed, errorClass: 'fatal' });
      expect(result.error).toContain('check what it did before you call it again');
      expect(
        JSON.stringify([result.renderedResult, result.observation, result.content]),
      ).not.toContain('try again');
      expect(line).toMatchObject({ status: 'not_repeated', attempts: 1, waitedMs: 0 });
    },
  );

  it('is not repeated after a first attempt that did not run and a second one that may have', async () => {
    const { result, ran } = await run({}, write, [
      broken({ errorClass: 'retryable', executed: 'no' }),
      broken(),
      fine,
    ]);

    expect([result.executed, result.errorClass, ran]).toEqual(['unknown', 'fatal', 2]);
  });

  it('says to look first also where its status is not one to try again', async () => {
    const { result } = await run({ on: ['rate_limited'] }, write, [broken()]);

    expect(result).toMatchObject({
      errorClass: 'fatal',
      error: expect.stringContaining('check what it did') as string,
    });
  });

  it('that timed out is not repeated, and a read that timed out is', async () => {
    const limit = timeout({ maxMs: 10, graceMs: 0 });
    const outcomes = await Promise.all(
      [write, read].map(async (call) => {
        const clock = testClock();
        const attempts: string[] = [];
        const stuck: Next = ({ toolName }) => {
          attempts.push(toolName);
          return new Promise(() => {});
        };
        const calling = composeToolCallers([retry({ maxAttempts: 2 }), limit], { clock })(
          makeCall(call),
          stuck,
        );
        await clock.advance(10_000);
        return [(await calling).errorClass, attempts.length];
      }),
    );

    expect(outcomes).toEqual([
      ['fatal', 1],
      ['retryable', 2],
    ]);
  });

  it('keeps the words of a tool out of every surface', async () => {
    const reported: Step = (call) =>
      withResult(broken({ errorClass: 'retryable', executed: 'yes' })(call), {
        content: [{ type: 'text', text: 'Call me again!' }],
      });

    expect(JSON.stringify((await run({}, write, [reported])).result)).not.toContain('again!');
  });
});

describe('retry options', () => {
  it('maxAttempts counts the first one', async () => {
    expect((await run({ maxAttempts: 1 }, read, [broken()])).ran).toBe(1);
    expect((await run({ maxAttempts: 5 }, read, [broken()])).ran).toBe(5);
  });

  it('backoffMs doubles, up to maxBackoffMs', async () => {
    const clock = testClock();
    const starts: number[] = [];
    const executor: Next = async (call) => {
      starts.push(clock.monotonic());
      return broken()(call);
    };
    const options = { maxAttempts: 6, backoffMs: 100, maxBackoffMs: 500, jitter: false };
    const calling = composeToolCallers([retry(options)], { clock })(makeCall(read), executor);
    await clock.advance(10_000);
    await calling;

    expect(starts).toEqual([0, 100, 300, 700, 1200, 1700]);
  });

  it('backoffMs of 0 does not wait, however many attempts', async () => {
    const { ran, line } = await run({ maxAttempts: 1100, backoffMs: 0 }, read, [broken()]);

    expect(ran).toBe(1100);
    expect(line).toMatchObject({ waitedMs: 0 });
  });

  it('maxBackoffMs is also the longest wait a result may ask for', async () => {
    const later =
      (retryAfterMs: number): Step =>
      (call) =>
        refuse(call, 'rate_limited', 'Later.', { retryAfterMs });
    const patient = await run({ jitter: false }, read, [later(10_000), fine]);
    const hasty = await run({}, read, [later(10_001), fine]);

    expect(patient.line).toMatchObject({ attempts: 2, waitedMs: 10_000 });
    expect(hasty.result).toMatchObject({
      status: 'rate_limited',
      metadata: { retryAfterMs: 10_001 },
    });
    expect(hasty.line).toMatchObject({ attempts: 1, gaveUp: 'wait' });
  });

  it('maxElapsedMs keeps attempts from beginning later', async () => {
    const options = { maxAttempts: 100, backoffMs: 100, jitter: false };

    expect((await run({ ...options, maxElapsedMs: 300 }, read, [broken()])).ran).toBe(3);
    expect((await run({ ...options, maxElapsedMs: 299 }, read, [broken()])).line).toMatchObject({
      attempts: 2,
      gaveUp: 'elapsed',
    });
  });

  it.each([
    [0, 0],
    [0.5, 150],
    [1, 300],
    [Number.NaN, 300],
    [-1, 300],
    [7, 300],
  ])('random: with jitter, %d of the wait is %d ms', async (chance, waitedMs) => {
    const { line } = await run({ backoffMs: 300, random: () => chance, maxAttempts: 2 }, read, [
      broken(),
    ]);

    expect(line).toMatchObject({ waitedMs });
  });

  it('jitter is on and never cuts short what a result asks for', async () => {
    const asks: Step = (call) => withResult(broken()(call), { metadata: { retryAfterMs: 250.2 } });

    expect((await run({ random: () => 0, maxAttempts: 2 }, read, [asks])).line).toMatchObject({
      waitedMs: 251,
    });
  });

  it.each([[-5], ['soon'], [null], [{}]])('takes %j for no wish', async (retryAfterMs) => {
    const asks: Step = (call) => withResult(broken()(call), { metadata: { retryAfterMs } });

    expect((await run({ backoffMs: 0 }, read, [asks, fine])).line).toMatchObject({
      attempts: 2,
      waitedMs: 0,
    });
  });

  it.each([
    [{ only: ['echo'] }, 2],
    [{ only: ['e*'] }, 2],
    [{ only: [] }, 1],
    [{ except: ['echo'] }, 1],
    [{ only: ['e*'], except: ['echo'] }, 1],
    [{ only: ['constructor'] }, 1],
  ])('only and except: with %j an unsteady tool runs %i times', async (options, times) => {
    expect((await run(options, read, [broken(), fine])).ran).toBe(times);
  });

  it('on names statuses and error classes', async () => {
    const wrong = broken({ errorClass: 'repairable' });

    expect((await run({ on: ['executor_error'] }, read, [wrong, fine])).ran).toBe(2);
    expect((await run({ on: ['repairable'] }, read, [wrong, fine])).ran).toBe(2);
    expect((await run({ on: [] }, read, [broken(), fine])).ran).toBe(1);
    expect((await run({ on: ['timeout'] }, read, [broken(), fine])).ran).toBe(1);
  });
});

const refusals = Object.entries(STATUSES)
  .filter(
    ([status, row]) =>
      !row.ok &&
      !['executor_error', 'timeout', 'rate_limited', 'circuit_open', 'audit_unavailable'].includes(
        status,
      ),
  )
  .map(([status]) => status);

describe('retry takes for final', () => {
  it.each(refusals)('%s, even if it calls itself retryable', async (status) => {
    const no = defineLayer({
      name: 'no',
      caller: async (call, next) =>
        withResult(annotate(await next(call), {}), { ok: false, status, errorClass: 'retryable' }),
    });
    const { result, ran, line } = await run(
      { on: ['retryable', 'fatal', 'repairable'] },
      read,
      [fine],
      [no],
    );

    expect([result.status, ran]).toEqual([status, 1]);
    expect(line).not.toHaveProperty('attempts');
  });

  it('an interruption, whatever its status', async () => {
    const waits: Step = (call) =>
      refuse(call, 'rate_limited', 'Somebody is asked.', {
        interruption: {
          kind: 'approval_required',
          id: 'a',
          fingerprint: 'f',
          shown: {},
          options: [],
        },
      });

    expect((await run({}, read, [waits, fine])).ran).toBe(1);
  });

  it('not a status that a layer invented, if it is retryable', async () => {
    const busy: Step = (call) =>
      withResult(refuse(call, 'lock_busy', 'Busy.'), { errorClass: 'retryable' });

    expect((await run({}, read, [busy, fine])).ran).toBe(2);
  });
});

describe('retry and a caller that leaves', () => {
  it('answers cancelled at once while it waits, and keeps what was known to have run', async () => {
    const clock = testClock();
    const controller = new AbortController();
    const executor = stepping(broken(), fine);
    const calling = composeToolCallers([retry({ jitter: false })], { clock })(
      makeCall({ ...read, signal: controller.signal }),
      executor,
    );
    await clock.advance(199);
    controller.abort();
    const result = await calling;

    expect(result).toMatchObject({ status: 'cancelled', executed: 'unknown' });
    expect(result.audit?.layers).toMatchObject([{ name: 'retry', attempts: 1, waitedMs: 0 }]);
    expect([
      executor.calls,
      clock.pending,
      getEventListeners(controller.signal, 'abort').length,
    ]).toEqual([1, 0, 0]);
  });

  it('leaves no timer and no listener behind, whatever happened', async () => {
    const { signal } = new AbortController();
    const ends = [[fine], [broken(), fine], [broken()], [broken({ errorClass: 'fatal' })]];
    const pending = await Promise.all(
      ends.map(async (steps) => (await run({}, { ...read, signal }, steps)).clock.pending),
    );

    expect(pending).toEqual([0, 0, 0, 0]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('retry', () => {
  it.each([['__proto__'], ['constructor'], ['\ud800'], ['x'.repeat(1000)]])(
    'takes any tool name: %j',
    async (toolName) => {
      const { ran, result } = await run({ only: ['*'] }, { ...read, toolName }, [broken(), fine]);

      expect([ran, result.toolName]).toEqual([2, toolName]);
    },
  );

  it('hands the same arguments on at every attempt', async () => {
    const executor = echoExecutor();
    const seen: Next = async (call) =>
      withResult(await executor(call), {
        ok: false,
        status: 'executor_error',
        errorClass: 'retryable',
      });
    await composeToolCallers([retry({ backoffMs: 0 })])(
      makeCall({ ...read, toolArgs: { secret: 's' } }),
      seen,
    );

    expect(new Set(executor.calls.map(({ toolArgs }) => toolArgs)).size).toBe(1);
    expect(executor.calls).toHaveLength(3);
  });

  it('is advised to stand inside consent', () => {
    const layer = defineLayer({ name: 'consent', caller: (call, next) => next(call) });

    expect(explainStack([retry(), layer])).toContain('"retry" should stand inside "consent"');
    expect(explainStack([layer, retry()])).not.toContain('should stand');
  });

  it.each([{ on: ['consent_denied'] }, { on: ['cancelled'] }, { on: ['ok'] }, { maxAttempts: 0 }])(
    'refuses %j',
    (options) => {
      expect(() => retry(options)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
      );
    },
  );
});
