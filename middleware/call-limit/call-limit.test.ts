import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  echoExecutor,
  makeCall,
  type PartialCall,
  settle,
  testClock,
} from '../../conformance/index.ts';
import {
  type ApprovalPrompt,
  composeToolCallers,
  defineLayer,
  defineTool,
  governTools,
  ok,
  refuse,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';
import { objectionToAsking } from '../../src/layer.ts';
import { type CounterStore, memoryCounters } from '../../src/stores/index.ts';
import { consent, permissions } from '../index.ts';
import { type CallLimitOptions, callLimit } from './call-limit.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

function start(options: CallLimitOptions, inner: readonly ToolLayer[] = []) {
  const executor = echoExecutor();
  const stack = composeToolCallers([callLimit(options), ...inner], { clock: testClock() });
  let calls = 0;
  const call = (partial: PartialCall = {}) =>
    stack(makeCall({ callId: `call-${(calls += 1)}`, ...partial }), executor);
  return { call, runs: () => executor.calls.length };
}

const lineOf = (result: ToolResult) =>
  result.audit?.layers.find(({ name }) => name === 'callLimit');
const gate = (name: string, caller: ToolLayer['caller']) => defineLayer({ name, caller });

/** Puts a question for every call, and a person says yes. */
function person(times = 1) {
  const questions: string[] = [];
  const layer = gate('ask', (call, next) => {
    for (let question = 0; question < times; question += 1) {
      const objection = objectionToAsking(call);
      if (objection !== null) return refuse(call, objection.status, objection.message);
      questions.push(call.callId);
    }
    return next(call);
  });
  return { layer, questions };
}

/** How many of 2 000 calls at once a layer admits. */
async function admittedOf(layer: ToolLayer): Promise<number> {
  const stack = composeToolCallers([layer]);
  let runs = 0;
  await Promise.all(
    Array.from({ length: 2_000 }, () => stack(makeCall(), async (call) => ok(call, (runs += 1)))),
  );
  return runs;
}

/** Looks first and counts when the call has come back. */
function naiveLimit(max: number): ToolLayer {
  let count = 0;
  return gate('naive', async (call, next) => {
    if (count >= max) return refuse(call, 'limit_exceeded', 'no');
    await settle();
    const result = await next(call);
    count += 1;
    return result;
  });
}

describe('callLimit', () => {
  it('lets so many calls through, and counts them on its line', async () => {
    const { call, runs } = start({ maxCalls: 2, perTool: { echo: 5 } });
    const lines = [lineOf(await call()), lineOf(await call())];

    expect(lines).toMatchObject([
      { status: 'ok', count: 1, cap: 2, toolCount: 1, toolCap: 5 },
      { status: 'ok', count: 2, cap: 2, toolCount: 2, toolCap: 5 },
    ]);
    expect(runs()).toBe(2);
  });

  it('refuses the next one, and says what is left to do', async () => {
    const { call, runs } = start({ maxCalls: 1 });
    await call();
    const refused = await call();

    expect(refused).toMatchObject({
      ok: false,
      status: 'limit_exceeded',
      errorCategory: 'limit_exceeded',
      executed: 'no',
    });
    expect(refused.error).toBe(
      'call limit exceeded (cap: 1, count: 1). No more calls in this run. Finish with what you have.',
    );
    expect(lineOf(refused)).toMatchObject({ status: 'blocked', count: 1, cap: 1 });
    expect(runs()).toBe(1);
  });

  it('maxCalls 0 admits nothing', async () => {
    const { call, runs } = start({ maxCalls: 0 });

    expect(await call()).toMatchObject({ status: 'limit_exceeded' });
    expect(runs()).toBe(0);
  });

  it('perTool counts every tool by itself; the first pattern that matches counts', async () => {
    const { call } = start({ perTool: { send_mail: 2, 'send_*': 1, constructor: 0 } });
    const statuses: string[] = [];
    for (const toolName of [
      'send_mail',
      'send_mail',
      'send_mail',
      'send_fax',
      'send_fax',
      'send_sms',
      'read',
      'read',
      'constructor',
    ]) {
      statuses.push((await call({ toolName })).status);
    }

    expect(statuses.map((status) => status === 'ok')).toEqual([
      true,
      true,
      false,
      true,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect((await call({ toolName: 'send_fax' })).error).toBe(
      'call limit exceeded (cap: 1, count: 1). Do not call send_fax again in this run; other tools may still be used.',
    );
  });

  it('takes nothing from the count of all for a call that its tool has no more of', async () => {
    const { call } = start({ maxCalls: 3, perTool: { rare: 1 } });
    for (let tries = 0; tries < 20; tries += 1) await call({ toolName: 'rare' });

    expect([(await call()).ok, (await call()).ok, (await call()).ok]).toEqual([true, true, false]);
  });

  it.each<[string, CallLimitOptions['per'], PartialCall['turn'], boolean]>([
    ["'run' counts each run", 'run', { runId: 'b' }, true],
    [
      "'run' counts one run over all its sessions",
      'run',
      { runId: 'a', sessionId: 'other' },
      false,
    ],
    ["'session' counts each session", 'session', { runId: 'a', sessionId: 'other' }, true],
    ["'session' counts all its runs together", 'session', { runId: 'b' }, false],
    ['a run is what is counted by itself', undefined, { runId: 'b' }, true],
  ])('per: %s', async (_name, per, turn, admitted) => {
    const { call } = start({ maxCalls: 1, ...(per === undefined ? {} : { per }) });
    await call({ turn: { runId: 'a' } });

    expect((await call({ turn: turn ?? {} })).ok).toBe(admitted);
  });

  it('counts calls that name no run by session: leaving the name out lifts no limit', async () => {
    const { call } = start({ maxCalls: 1 });

    expect([
      (await call()).ok,
      (await call()).ok,
      (await call({ turn: { sessionId: 'other' } })).ok,
    ]).toEqual([true, false, true]);
  });

  it('maxPrompts lets so many questions be put, and refuses the call that would need another', async () => {
    const { layer, questions } = person();
    const { call, runs } = start({ maxPrompts: 2 }, [layer]);
    const results = [await call(), await call(), await call()];

    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'limit_exceeded']);
    expect(results[2]?.error).toBe(
      'echo needs an approval, and in this run people are asked no more than 2 times. Go on without it, or finish with what you have.',
    );
    expect(results.map(lineOf)).toMatchObject([
      { prompts: 1, maxPrompts: 2 },
      { prompts: 2 },
      { prompts: 2 },
    ]);
    expect([questions.length, runs()]).toEqual([2, 2]);
  });

  it('maxPrompts counts questions, not calls: two about one call are two, and calls that need none are free', async () => {
    const { layer, questions } = person(2);
    const sometimes = gate('sometimes', (call, next) =>
      call.toolName === 'free' ? next(call) : layer.caller(call, next),
    );
    const { call } = start({ maxPrompts: 3 }, [sometimes]);
    for (let free = 0; free < 10; free += 1) await call({ toolName: 'free' });

    expect([(await call()).ok, (await call()).ok]).toEqual([true, false]);
    expect(questions).toHaveLength(3);
  });

  it('maxPrompts holds for each run, also for questions that are put at once', async () => {
    const { layer, questions } = person();
    const { call } = start({ maxPrompts: 5 }, [layer]);
    await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        call({ turn: { runId: index % 2 === 0 ? 'a' : 'b' } }),
      ),
    );

    expect(questions).toHaveLength(10);
  });

  it('maxPrompts counts a question about a call that a tool makes once', async () => {
    const { layer, questions } = person();
    const inner = defineTool({
      name: 'inner',
      description: 'i',
      inputSchema: { type: 'object' },
      execute: () => 'done',
    });
    const outer = defineTool({
      name: 'outer',
      description: 'o',
      inputSchema: { type: 'object' },
      execute: async (_args, context) =>
        (await context.call({ name: 'inner', arguments: {} })).status,
    });
    const governed = governTools({
      tools: [inner, outer],
      layers: [callLimit({ maxPrompts: 3 }), layer],
    });
    const answers = [
      await governed.call({ name: 'outer', arguments: {} }),
      await governed.call({ name: 'outer', arguments: {} }),
    ];

    expect(answers.map(({ result }) => result)).toEqual(['ok', 'limit_exceeded']);
    expect(questions).toHaveLength(3);
  });

  it('store may be shared, and limits of another size have their own counts', async () => {
    const store = memoryCounters();
    const [first, same, other] = [1, 1, 2].map((maxCalls) => start({ maxCalls, store }));
    await first?.call();

    expect([
      (await same?.call())?.ok,
      (await other?.call())?.ok,
      (await other?.call())?.ok,
    ]).toEqual([false, true, true]);
  });

  it.each<[string, CounterStore['take']]>([
    ['fails', () => Promise.reject(new Error('pin 7391'))],
    ['throws', () => JSON.parse('{') as never],
    ['says nothing', () => undefined as never],
    ['says something else', () => ({ admitted: 'yes', count: 1, retryAfterMs: null }) as never],
    ['does not count', () => ({ admitted: true, retryAfterMs: null }) as never],
    ['says no time to wait', () => ({ admitted: true, count: 1 }) as never],
  ])('store that %s turns the call away', async (_name, take) => {
    const { call, runs } = start({ maxCalls: 5, store: { take } });
    const result = await call();

    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      executed: 'no',
    });
    expect(JSON.stringify([result.error, result.audit])).not.toContain('7391');
    expect(runs()).toBe(0);
  });

  it('message begins the error', async () => {
    expect((await start({ maxCalls: 0, message: 'Enough' }).call()).error).toContain(
      'Enough (cap: 0, count: 0).',
    );
  });

  it('takes nothing when a call that was counted is taken up again, and counts one that never came so far', async () => {
    let isApproved = false;
    const ask = gate('ask', (call, next) =>
      isApproved ? next(call) : refuse(call, 'approval_required', 'ask'),
    );
    const { call, runs } = start({ maxCalls: 2, perTool: { '*': 2 } }, [ask]);
    await call({ callId: 'a' });
    isApproved = true;

    expect(lineOf(await call({ callId: 'a', turn: { resumes: 1 } }))).toMatchObject({
      status: 'ok',
      resumed: true,
    });
    expect(await call({ callId: 'b', turn: { resumes: 1 } })).toMatchObject({ status: 'ok' });
    expect(await call({ callId: 'c' })).toMatchObject({ status: 'limit_exceeded' });
    expect(runs()).toBe(2);
  });

  it('is exact when many calls come at once, where a limit that counts afterwards is not', async () => {
    expect(await admittedOf(callLimit({ maxCalls: 7 }))).toBe(7);
    expect(await admittedOf(callLimit({ perTool: { echo: 3 }, store: memoryCounters() }))).toBe(3);
    expect(await admittedOf(naiveLimit(7))).toBeGreaterThan(7);
  });

  it('admits what a plain count would, for any mix of tools and runs', async () => {
    const calls = fc.array(
      fc.record({ toolName: fc.constantFrom('a', 'b', 'c'), runId: fc.constantFrom('x', 'y') }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(calls, fc.nat(8), fc.nat(4), async (made, maxCalls, cap) => {
        const { call } = start({ maxCalls, perTool: { a: cap, b: cap } });
        const [all, ofTool] = [new Map<string, number>(), new Map<string, number>()];
        for (const { toolName, runId } of made) {
          const used = all.get(runId) ?? 0;
          const key = `${runId} ${toolName}`;
          const own = ofTool.get(key) ?? 0;
          const isAdmitted = used < maxCalls && (toolName === 'c' || own < cap);
          if (isAdmitted) {
            all.set(runId, used + 1);
            ofTool.set(key, own + 1);
          }
          expect((await call({ toolName, turn: { runId } })).ok).toBe(isAdmitted);
        }
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it('keeps sessions with hostile names apart', async () => {
    const { call } = start({ maxCalls: 1 });
    const names = [
      '__proto__',
      'constructor',
      '',
      '["session"]',
      'x'.repeat(10_000),
      `${'x'.repeat(9_999)}y`,
    ];
    const results = await Promise.all(names.map((sessionId) => call({ turn: { sessionId } })));

    expect(results.every((result) => result.ok)).toBe(true);
  });

  it('must stand outside consent where it counts questions', () => {
    const asking = gate('consent', (call, next) => next(call));

    expect(() => composeToolCallers([asking, callLimit({ maxPrompts: 1 })])).toThrow(
      expect.objectContaining({ code: 'ERR_LAYER_ORDER' }) as Error,
    );
    expect(() => composeToolCallers([asking, callLimit({ maxCalls: 1 })])).not.toThrow();
  });

  it.each([
    [undefined],
    [{}],
    [{ per: 'run' }],
    [{ maxCalls: -1 }],
    [{ maxCalls: 1.5 }],
    [{ perTool: { a: '1' } }],
    [{ perTool: 3 }],
    [{ maxCalls: 1, per: 'tool' }],
    [{ maxPrompts: -1 }],
    [{ maxCalls: 1, store: {} }],
    [{ maxCalls: 1, message: '' }],
    [{ maxCalls: 1, windowMs: 5 }],
  ])('refuses %j', (options) => {
    expect(() => callLimit(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});

describe('callLimit with maxPrompts', () => {
  it.each([
    ['consent', consent({ default: 'ask' })],
    ['permissions', permissions({ checkers: [() => 'require_approval'] })],
  ])(
    'counts the questions that %s puts, and refuses the call that would need one more',
    async (_name, asking) => {
      let asked = 0;
      const yes: ApprovalPrompt = () => {
        asked += 1;
        return { decision: 'allow_once' };
      };
      const tool = defineTool({
        name: 'pay',
        description: '',
        inputSchema: { type: 'object' },
        execute: () => 'paid',
      });
      const governed = governTools({
        tools: [tool],
        layers: [callLimit({ maxPrompts: 1 }), asking],
        prompts: [yes],
      });
      const call = () =>
        governed.call({ name: 'pay', arguments: {} }, { turn: { sessionId: 's' } });

      expect([(await call()).status, (await call()).status]).toEqual(['ok', 'limit_exceeded']);
      expect(asked).toBe(1);
    },
  );
});
