import { describe, expect, it } from 'vitest';
import { annotate, ok, raise, refuse } from '../results.ts';
import { withCall } from '../own-call.ts';
import { unhandledDuring } from '../../../../conformance/benches/fuzz/watch-process.ts';
import { echoExecutor, makeCall, settle } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import { type Next, type ToolCaller } from '../../contract/layer.ts';
import { whenAborted } from '../../time/abort.ts';
import { layer, lineOf, pass } from './layers.fixture.ts';

/** Takes its call back and answers without waiting. */
const leaving: ToolCaller = (call, next) => {
  const own = new AbortController();
  void next(withCall(call, { signal: own.signal }));
  own.abort();
  return annotate(
    refuse(call, 'timeout', 'Too slow.'),
    { left: true },
    { status: 'left', limitMs: 5 },
  );
};

const stuck: Next = () => new Promise(() => {});

describe('law 7: next may be called again', () => {
  it('one call after another', async () => {
    const twice = layer('twice', async (call, next) => {
      await next(call);
      return next(withCall(call, { toolArgs: { again: true } }));
    });
    const executor = echoExecutor();
    const result = await composeToolCallers([twice, layer('inner')])(makeCall(), executor);

    expect(result).toMatchObject({ ok: true, result: { again: true } });
    expect(executor.calls.map(({ toolArgs }) => toolArgs)).toEqual([{}, { again: true }]);
  });

  it('but not two at once', async () => {
    const answers: string[] = [];
    const greedy = layer('greedy', async (call, next) => {
      const both = await Promise.all([next(call), next(call)]);
      answers.push(...both.map(({ status }) => status));
      return both[0];
    });
    const executor = echoExecutor();
    const result = await composeToolCallers([greedy, layer('inner')])(makeCall(), executor);

    expect(answers).toEqual(['ok', 'tool_middleware_exception']);
    expect(executor.calls).toHaveLength(1);
    expect(lineOf(result, 'greedy')).toMatchObject({
      status: 'exception',
      error: 'called next again before the first one had settled',
    });
  });

  it.each<[string, readonly ToolCaller[]]>([
    ['outermost', []],
    ['inside another', [pass]],
  ])('and not after the layer has returned, %s', async (_, outside) => {
    const late: string[] = [];
    const tardy: ToolCaller = (call, next) => {
      void settle().then(async () => late.push((await next(call)).status));
      return ok(call, 'answered already');
    };
    const executor = echoExecutor();
    const result = await composeToolCallers([...outside, tardy, pass])(makeCall(), executor);
    await settle();
    await settle();

    expect(late).toEqual(['tool_middleware_exception']);
    expect(executor.calls).toEqual([]);
    expect(result).toMatchObject({ ok: true, executed: 'no' });
  });

  it('and a layer that returns before next has settled is told which await is missing', async () => {
    const hasty = layer('hasty', (call, next) => {
      void next(call);
      return ok(call, 'not waited');
    });
    const result = await composeToolCallers([layer('outer'), hasty, layer('inner')])(
      makeCall(),
      stuck,
    );

    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      executed: 'unknown',
    });
    expect(lineOf(result, 'hasty')).toMatchObject({
      status: 'exception',
      error: 'returned before next had settled: an await is missing',
    });
    expect(result.audit?.layers.map(({ name }) => name)).toEqual(['hasty', 'outer']);
  });

  it('unless it aborted the signal it passed down', async () => {
    const result = await composeToolCallers([
      layer('outer'),
      layer('leaving', leaving),
      layer('inner'),
    ])(makeCall(), stuck);

    expect(result).toMatchObject({ status: 'timeout', executed: 'unknown' });
    expect(lineOf(result, 'leaving')).toMatchObject({ status: 'left', limitMs: 5 });
    expect(result.audit).toMatchObject({ left: true });
  });

  it('and what the abandoned part still does shows nowhere', async () => {
    const gate = new AbortController();
    const executor: Next = async (call) => {
      await whenAborted(gate.signal).aborted;
      return annotate(ok(call, 'late'), { late: 'executor' });
    };
    const inner = layer('inner', async (call, next) => {
      const result = await next(call);
      annotate(ok(call, 'new'), { late: 'a new result' }, { status: 'late' });
      return annotate(result, { late: 'inner' }, { status: 'late' });
    });
    const outer = layer('outer', async (call, next) => {
      const result = await next(call);
      gate.abort();
      await settle();
      return annotate(result, { summary: 'outer' }, { status: 'recorded' });
    });
    const result = await composeToolCallers([outer, layer('leaving', leaving), inner])(
      makeCall(),
      executor,
    );

    expect(result.audit?.layers.map(({ name, status }) => `${name}: ${status}`)).toEqual([
      'leaving: left',
      'outer: recorded',
    ]);
    expect(result.audit).not.toHaveProperty('late');
    // The late answer proves one thing: the tool did run.
    expect(result).toMatchObject({
      status: 'timeout',
      executed: 'yes',
      audit: { summary: 'outer', left: true },
    });
  });

  it('and neither a layer nor the executor is entered any more', async () => {
    const gate = new AbortController();
    const slow = layer('slow', async (call, next) => {
      await whenAborted(gate.signal).aborted;
      return next(withCall(call, { signal: new AbortController().signal }));
    });
    const outer = layer('outer', async (call, next) => {
      const result = await next(call);
      gate.abort();
      await settle();
      return result;
    });
    const entered: string[] = [];
    const inner = layer('inner', (call, next) => {
      entered.push('inner');
      return next(call);
    });
    const executor = echoExecutor();
    const result = await composeToolCallers([outer, layer('leaving', leaving), slow, inner])(
      makeCall(),
      executor,
    );

    expect(result).toMatchObject({ status: 'timeout', executed: 'no' });
    expect([entered, executor.calls]).toEqual([[], []]);
  });

  it('and what it raises is not thrown', async () => {
    const gate = new AbortController();
    const raising: Next = async (call) => {
      await whenAborted(gate.signal).aborted;
      return raise(refuse(call, 'policy_blocked', 'Too late.'));
    };
    const outer = layer('outer', async (call, next) => {
      const result = await next(call);
      gate.abort();
      await settle();
      return result;
    });
    for (const members of [[leaving], [leaving, pass]]) {
      expect(await composeToolCallers([outer, ...members])(makeCall(), raising)).toMatchObject({
        status: 'timeout',
      });
    }
  });

  it('and nothing of it is left unhandled after the call has ended', async () => {
    const unhandled = await unhandledDuring(async () => {
      const slow = layer('slow', async (call, next) => {
        await settle();
        const result = await next(call);
        throw new Error(annotate(result, { late: true }).status);
      });
      await composeToolCallers([layer('leaving', leaving), slow])(makeCall(), () =>
        Promise.reject(new Error('late')),
      );
      await settle();
    });

    expect(unhandled).toEqual([]);
  });
});
