/** Time comes from outside, so that nothing here has to be tested by waiting. */

export interface Clock {
  /** Wall clock in milliseconds since 1970. For stamps only: it may jump. */
  now(): number;
  /** Milliseconds that never run backwards. For durations. */
  monotonic(): number;
  /** Runs `task` once after `ms`; the returned function takes it back. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms: number, task: () => void) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
});

const newest = { ms: Number.NaN, iso: '' };
const older = { ms: Number.NaN, iso: '' };

/**
 * ISO 8601 text of a wall-clock time. Formatting costs ten clock reads, and the lines of one call
 * share two milliseconds: the one it started in and the one it ended in.
 */
export function isoTime(ms: number): string {
  if (ms === newest.ms) return newest.iso;
  if (ms === older.ms) return older.iso;
  // Formatted first: a time that no date can hold throws, and must not leave its number beside
  // another's text.
  const iso = new Date(ms).toISOString();
  older.ms = newest.ms;
  older.iso = newest.iso;
  newest.ms = ms;
  newest.iso = iso;
  return iso;
}
