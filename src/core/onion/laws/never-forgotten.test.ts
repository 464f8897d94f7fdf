import { describe, expect, it } from 'vitest';
import { fail, refuse } from '../results.ts';
import { withCall } from '../own-call.ts';
import { echoExecutor, makeCall, settle } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import type { Next, ToolCaller } from '../../contract/layer.ts';
import type { ToolResult } from '../../contract/result.ts';
import { whenAborted } from '../../time/abort.ts';
import { layer, lineOf } from './layers.fixture.ts';

const namesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name }) => name);

/** Calls `next` so many times, one after another, and answers with the last. */
const times =
  (count: number): ToolCaller =>
  async (call, next) => {
    let result = await next(call);
    for (let again = 1; again < count; again += 1) result = await next(call);
    return result;
  };

/** An executor that does something else each time; the last thing again and again. */
function inTurn(...executors: readonly Next[]): Next {
  let turn = 0;
  return (call) => {
    const executor = executors[Math.min(turn, executors.length - 1)];
    turn += 1;
    return executor === undefined ? Promise.reject(new Error('no executor')) : executor(call);
  };
}

const throwing: Next = () => Promise.reject(new Error('broke'));

const reachedNothing: Next = async (call) =>
  fail(call, 'executor_error', null, 'Nobody there.', { executed: 'no' });

describe('law 4: what has run is never forgotten', () => {
  it('when a layer throws after next', async () => {
    const bad = layer('bad', async (call, next) => {
      await next(call);
      throw new Error('late');
    });
    const result = await composeToolCallers([layer('outer'), bad, layer('inner')])(
      makeCall(),
      echoExecutor(),
    );

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'yes' });
    expect(namesOf(result)).toEqual(['inner', 'bad', 'outer']);
    expect(lineOf(result, 'inner')).toMatchObject({ status: 'ok' });
  });

  it('when a layer refuses after next', async () => {
    const late = layer('late', async (call, next) => {
      await next(call);
      return refuse(call, 'policy_blocked', 'On second thoughts, no.');
    });
    const result = await composeToolCallers([late])(makeCall(), echoExecutor());

    expect(result).toMatchObject({ status: 'policy_blocked', executed: 'yes' });
    expect(result.observation).toMatch(/^\[error from echo\]\n/);
  });

  it.each<[string, readonly Next[], string]>([
    ['never entered it', [], 'no'],
    ['answered', [echoExecutor()], 'yes'],
    [
      'answered with an error of its own',
      [async (call) => fail(call, 'executor_error', null, 'No such file.')],
      'yes',
    ],
    ['threw', [throwing], 'unknown'],
    ['knows that it reached nothing', [reachedNothing], 'no'],
    ['threw, then reached nothing', [throwing, reachedNothing], 'unknown'],
    ['answered, then threw', [echoExecutor(), throwing], 'yes'],
    ['threw, then answered', [throwing, echoExecutor()], 'yes'],
  ])(
    'and `executed` is the strongest of what happened: the executor %s',
    async (_, executors, executed) => {
      const caller =
        executors.length === 0
          ? (call: Parameters<ToolCaller>[0]) => refuse(call, 'policy_blocked', 'No.')
          : times(executors.length);
      const result = await composeToolCallers([layer('retry', caller)])(
        makeCall(),
        inTurn(...executors),
      );

      expect(result.executed).toBe(executed);
    },
  );

  it('when an abandoned run ends after a later one has done its work', async () => {
    const own = new AbortController();
    const release = new AbortController();
    const retry = layer('retry', async (call, next) => {
      await next(withCall(call, { signal: own.signal }));
      const result = await next(call);
      release.abort();
      await settle();
      return result;
    });
    const timed = layer('timed', (call, next) => {
      const pending = next(call);
      if (call.signal !== own.signal) return pending;
      own.abort();
      return refuse(call, 'timeout', 'Too slow.');
    });
    const slow: Next = async (call) =>
      whenAborted(release.signal).aborted.then(() => reachedNothing(call));
    const result = await composeToolCallers([retry, timed])(
      makeCall(),
      inTurn(slow, echoExecutor()),
    );

    expect(result).toMatchObject({ ok: true, executed: 'yes' });
  });
});
