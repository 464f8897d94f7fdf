import { describe, expect, it } from 'vitest';
import { settle, testClock } from '../../../conformance/test-kit.ts';
import type { Clock } from './clock.ts';
import { forget, noteBegin, setDeadline, type Waiting } from './deadlines.ts';

function work(name: string, trace: string[]): Waiting {
  const links = { queue: null, before: null, after: null, at: 0 };
  return {
    ...links,
    outlast: () => void trace.push(`${name} lasts`),
    due: () => void trace.push(`${name} due`),
  };
}

/** A clock that counts the timers it was asked for. */
function countingClock() {
  const clock = testClock();
  const asked: number[] = [];
  const counting: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(ms, task) {
      asked.push(ms);
      return clock.after(ms, task);
    },
  };
  return { clock, counting, asked };
}

describe('noteBegin', () => {
  it('tells work that outlasts its turn, in the order it began', async () => {
    const trace: string[] = [];
    noteBegin(work('a', trace));
    noteBegin(work('b', trace));
    expect(trace).toEqual([]);
    await settle();

    expect(trace).toEqual(['a lasts', 'b lasts']);
  });

  it('says nothing to work that ended in time, wherever it stood', async () => {
    const trace: string[] = [];
    const all = ['a', 'b', 'c', 'd'].map((name) => work(name, trace));
    all.forEach(noteBegin);
    for (const index of [1, 0, 3]) forget(all[index] as Waiting);
    await settle();

    expect(trace).toEqual(['c lasts']);
  });

  it('gives work that begins meanwhile a turn of its own, and heeds what ends meanwhile', async () => {
    const trace: string[] = [];
    const last = work('last', trace);
    noteBegin({
      ...work('first', trace),
      outlast: () => {
        forget(last);
        noteBegin(work('new', trace));
        trace.push('first lasts');
      },
    });
    noteBegin(last);
    await settle();

    expect(trace).toEqual(['first lasts', 'new lasts']);
  });
});

describe('setDeadline', () => {
  it('sets one timer for all that wait', async () => {
    const { clock, counting, asked } = countingClock();
    const trace: string[] = [];
    for (let index = 0; index < 1000; index += 1)
      setDeadline(counting, 0, 50, work(`${index}`, trace));

    expect(asked).toEqual([50]);
    await clock.advance(50);
    expect(trace).toHaveLength(1000);
    expect(trace[0]).toBe('0 due');
    expect([clock.pending, asked.length]).toEqual([0, 1]);
  });

  it('sets the timer anew for one that is due earlier', async () => {
    const { clock, counting, asked } = countingClock();
    const trace: string[] = [];
    setDeadline(counting, 0, 500, work('late', trace));
    setDeadline(counting, 0, 50, work('soon', trace));
    expect(clock.pending).toBe(1);
    await clock.advance(499);

    expect([trace, asked]).toEqual([['soon due'], [500, 50, 450]]);
    await clock.advance(1);
    expect(trace).toEqual(['soon due', 'late due']);
  });

  it('takes the timer back with the last that needs it', async () => {
    const clock = testClock();
    const trace: string[] = [];
    const [a, b] = [work('a', trace), work('b', trace)];
    setDeadline(clock, 0, 50, a);
    setDeadline(clock, 0, 70, b);
    forget(a);
    expect(clock.pending).toBe(1);
    forget(b);
    forget(b);

    expect(clock.pending).toBe(0);
    await clock.advance(100);
    expect(trace).toEqual([]);
  });

  it('goes by when each was due, also when all are late and stand in several queues', async () => {
    const clock = testClock();
    const trace: string[] = [];
    await clock.advance(1000);
    setDeadline(clock, 600, 300, work('third', trace));
    setDeadline(clock, 0, 300, work('first', trace));
    setDeadline(clock, 400, 300, work('second', trace));
    setDeadline(clock, 0, 800, work('between', trace));
    await clock.advance(0);

    expect(trace).toEqual(['first due', 'second due', 'between due', 'third due']);
  });

  it('does not let one that is due later stand in the way of one that came later', async () => {
    const clock = testClock();
    const trace: string[] = [];
    setDeadline(clock, 100, 300, work('later', trace));
    setDeadline(clock, 0, 300, work('sooner', trace));
    await clock.advance(300);

    expect(trace).toEqual(['sooner due']);
  });

  it('waits longer than one timer can hold', async () => {
    const { clock, counting, asked } = countingClock();
    const trace: string[] = [];
    setDeadline(counting, 0, 2 ** 32, work('a', trace));
    await clock.advance(2 ** 32 - 1);

    expect([trace, Math.max(...asked)]).toEqual([[], 2 ** 31 - 1]);
    await clock.advance(1);
    expect(trace).toEqual(['a due']);
  });

  it('believes a timer that rings before its time by the other clock', () => {
    const tasks: (() => void)[] = [];
    const early: Clock = {
      now: () => 0,
      monotonic: () => 0,
      after: (_ms, task) => (tasks.push(task), () => {}),
    };
    const trace: string[] = [];
    setDeadline(early, 0, 50, work('a', trace));
    tasks[0]?.();

    expect([trace, tasks.length]).toEqual([['a due'], 1]);
  });
});
