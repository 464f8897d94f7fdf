import { describe, expect, it } from 'vitest';
import { refuse } from '../results.ts';
import { stateOf } from '../own-call.ts';
import { echoExecutor, makeCall, testClock } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import { type ToolCaller } from '../../contract/layer.ts';
import { layer, pass } from './layers.fixture.ts';

describe('law 12: clock and ids come from outside', () => {
  const seenBy =
    (seen: { now: number; id: string }[]): ToolCaller =>
    (call, next) => {
      const { clock, createId } = stateOf(call);
      seen.push({ now: clock.now(), id: createId() });
      return next(call);
    };

  it('and travel in the slot of the call', async () => {
    const seen: { now: number; id: string }[] = [];
    const options = { clock: testClock(1_000), createId: () => 'id-1' };
    const result = await composeToolCallers([seenBy(seen)], options)(makeCall(), echoExecutor());

    expect(seen).toEqual([{ now: 1_000, id: 'id-1' }]);
    expect(result.audit?.layers[0]?.startedAt).toBe('1970-01-01T00:00:01.000Z');
  });

  it('and those of the call are used where the stack has none', async () => {
    const seen: { now: number; id: string }[] = [];
    const call = makeCall({}, { clock: testClock(2_000), createId: () => 'id-2' });
    await composeToolCallers([seenBy(seen)])(call, echoExecutor());

    expect(seen).toEqual([{ now: 2_000, id: 'id-2' }]);
  });

  it('and the outer stack decides for the stacks in it', async () => {
    const seen: { now: number; id: string }[] = [];
    const inner = composeToolCallers([seenBy(seen)], {
      clock: testClock(3_000),
      createId: () => 'inner',
    });
    await composeToolCallers([inner], { createId: () => 'outer' })(makeCall(), echoExecutor());

    expect(seen).toEqual([{ now: 3_000, id: 'outer' }]);
  });

  it('and an answer of a layer took the tool no time', async () => {
    const clock = testClock();
    const late = layer('late', async (call, next) => {
      await next(call);
      await clock.advance(250);
      return refuse(call, 'policy_blocked', 'On second thoughts, no.');
    });

    expect(
      (await composeToolCallers([late], { clock })(makeCall(), echoExecutor())).executionDurationMs,
    ).toBe(0);
  });

  it('and the time an executor takes is measured on it', async () => {
    const clock = testClock();
    const executor = echoExecutor();
    const result = await composeToolCallers([pass], { clock })(makeCall(), async (call) => {
      await clock.advance(250);
      return executor(call);
    });

    expect(result.executionDurationMs).toBe(250);
  });
});
