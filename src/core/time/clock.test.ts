import { describe, expect, it } from 'vitest';
import { isoTime, systemClock } from './clock.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

describe('isoTime', () => {
  it('formats as ISO 8601 with milliseconds', () => {
    expect(isoTime(1)).toBe('1970-01-01T00:00:00.001Z');
  });

  it('is right for two times that alternate', () => {
    const times = [10, 20, 10, 20, 20, 10];

    expect(times.map(isoTime)).toEqual(times.map(iso));
  });

  it('is right for more times than it keeps, forwards and back', () => {
    const times = [1, 2, 3, 2, 1, 3, 3, 1, 4, 1, 2, 0, -1, 0];

    expect(times.map(isoTime)).toEqual(times.map(iso));
  });

  it('refuses a time no date can hold every time, and is right afterwards', () => {
    isoTime(5);

    expect(() => isoTime(9e15)).toThrow(RangeError);
    expect(() => isoTime(9e15)).toThrow(RangeError);
    expect(() => isoTime(Number.NaN)).toThrow(RangeError);
    expect([isoTime(5), isoTime(6)]).toEqual([iso(5), iso(6)]);
  });
});

describe('systemClock', () => {
  it('tells the wall clock and a time that never runs backwards', () => {
    const before = Date.now();
    const stamps = [systemClock.monotonic(), systemClock.monotonic(), systemClock.monotonic()];

    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    expect(stamps.toSorted((a, b) => a - b)).toEqual(stamps);
  });

  it('runs a task once', async () => {
    let runs = 0;
    await new Promise<void>((resolve) => {
      systemClock.after(0, () => {
        runs += 1;
        resolve();
      });
    });

    expect(runs).toBe(1);
  });

  it('takes a task back and leaves no timer behind', () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const cancel = systemClock.after(600_000, () => {});
    const during = timers();
    cancel();
    cancel();

    expect([during - before, timers() - before]).toEqual([1, 0]);
  });
});
