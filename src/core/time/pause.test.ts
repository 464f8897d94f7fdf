import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { makeCall, testClock } from '../../../conformance/test-kit.ts';
import type { Clock } from './clock.ts';
import { pause } from './run-within.ts';

function start(ms: number, controller = new AbortController()) {
  const clock = testClock();
  const pausing = pause(makeCall({ signal: controller.signal }, { clock }), ms);
  return {
    clock,
    controller,
    pausing,
    left: () => [clock.pending, getEventListeners(controller.signal, 'abort').length],
  };
}

describe('pause', () => {
  it('waits its time and no less', async () => {
    const { clock, pausing, left } = start(50);
    await clock.advance(49);
    expect(left()).toEqual([1, 1]);
    await clock.advance(1);

    expect(await pausing).toBe(true);
    expect(left()).toEqual([0, 0]);
  });

  it('ends as soon as the caller has gone', async () => {
    const { controller, pausing, left } = start(50);
    controller.abort();

    expect(await pausing).toBe(false);
    expect(left()).toEqual([0, 0]);
  });

  it('does not begin for a caller that has gone before', async () => {
    const controller = new AbortController();
    controller.abort();
    const { pausing, left } = start(50, controller);

    expect(await pausing).toBe(false);
    expect(left()).toEqual([0, 0]);
  });

  it('asks no timer for more than it can hold', () => {
    const asked: number[] = [];
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      after: (ms) => (asked.push(ms), () => {}),
    };
    void pause(makeCall({}, { clock }), 1e12);

    expect(asked).toEqual([2 ** 31 - 1]);
  });
});
