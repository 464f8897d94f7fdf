/** The options of `rateLimit`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import type { LimitPer } from '../../src/limits/index.ts';
import type { CounterStore } from '../../src/stores/index.ts';

export interface RateLimitOptions {
  /** How many calls are admitted, in all or per window. 0 admits none. */
  readonly maxCalls: number;
  /** The window in milliseconds. @default none: the count never goes down */
  readonly windowMs?: number;
  /** What has a limit of its own. @default the layer as a whole */
  readonly per?: LimitPer;
  /** Where calls are counted. @default a `memoryCounters()` of its own */
  readonly store?: CounterStore;
  /** How the error begins. @default 'rate limit exceeded' */
  readonly message?: string;
}

const { either, integer, made, oneOf, required, string } = expected;

const PER = {
  ...either('"tool", "session" or a function', oneOf('tool', 'session'), expected.function),
  text: 'one of "tool", "session" or a function',
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<RateLimitOptions> = {
  maxCalls: option(required(integer(0)), 'how many calls are admitted, in all or per window; 0 admits none'),
  windowMs: option(integer(1), 'the window in milliseconds', 'none: the count never goes down'),
  per: option(PER, "`'tool'`, `'session'`, or a function of the call, sync or async, that answers a non-empty string", 'the layer as a whole'),
  store: option(made('a store with take', 'take'), 'where calls are counted, see stores', 'a `memoryCounters()` of its own'),
  message: option(string, 'how the error begins', '`rate limit exceeded`'),
};
