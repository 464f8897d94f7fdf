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

/** Texts of the last times, each at the place its millisecond has in the table. */
const formatted: { ms: number; iso: string }[] = Array.from({ length: 64 }, () => ({
  ms: Number.NaN,
  iso: '',
}));

/**
 * ISO 8601 text of a wall-clock time. Formatting costs ten clock reads, and calls that are under
 * way at once share few milliseconds.
 */
export function isoTime(ms: number): string {
  const known = formatted[ms & 63];
  if (known?.ms === ms) return known.iso;
  // Formatted first: a time that no date can hold throws, and must not leave its number beside
  // another's text.
  const iso = new Date(ms).toISOString();
  formatted[ms & 63] = { ms, iso };
  return iso;
}
