/**
 * A meter for the work of one validation. Recursive and overlapping schemas can ask for work that
 * grows exponentially with the depth of a value; compiled schemas report here, and work beyond what
 * the value's size justifies is stopped.
 */

const BASE_STEPS = 1_000_000;
const STEPS_PER_UNIT = 64;
const CHARS_PER_UNIT = 16;

/** Answered by `metered` when the work could not be finished. The value counts as not fitting. */
export const STOPPED: unique symbol = Symbol('stopped');

let left = Number.POSITIVE_INFINITY;
let extension: (() => number) | undefined;

/** Takes steps, each worth some 50 ns. Stops the running validation when none are left. */
export function spend(steps: number): void {
  left -= steps;
  if (left >= 0) return;
  if (extension !== undefined) {
    left += extension();
    extension = undefined;
  }
  if (left < 0) throw STOPPED;
}

/**
 * Reported by compiled schemas: texts cost by their length, because length, format and pattern
 * checks read them whole.
 */
export function spendOn(steps: number, data: unknown): void {
  spend(typeof data === 'string' ? steps + (data.length >> 5) : steps);
}

/**
 * Runs a validation within a budget. Without `steps` the budget grows with the size of the value,
 * which is counted only when the base is used up. Synchronous and not to be nested: the meter is
 * one for the process.
 */
export function metered<T>(value: unknown, run: () => T, steps?: number): T | typeof STOPPED {
  left = steps ?? BASE_STEPS;
  extension = steps === undefined ? () => sizeOf(value) * STEPS_PER_UNIT : undefined;
  try {
    return run();
  } catch {
    // Also a value too deep for the stack, a text too long for a format's expression, and mistakes
    // in what ajv wrote.
    return STOPPED;
  } finally {
    left = Number.POSITIVE_INFINITY;
    extension = undefined;
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / CHARS_PER_UNIT);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, item: unknown) => sum + sizeOf(item), 1);
}
