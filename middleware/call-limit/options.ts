/** The options of `callLimit`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import type { LimitScope } from '../../src/limits/index.ts';
import type { CounterStore } from '../../src/stores/index.ts';

export interface CallLimitOptions {
  /** How many calls are admitted, of all tools together. 0 admits none. @default no limit */
  readonly maxCalls?: number;
  /** How many calls of one tool, by name or glob; the first that matches counts. @default none */
  readonly perTool?: Readonly<Record<string, number>>;
  /** Whose counts these are. Calls that name no run are counted by session. @default 'run' */
  readonly per?: LimitScope;
  /** How many questions may be put to people. 0 allows none. @default no limit */
  readonly maxPrompts?: number;
  /** Where calls are counted. Questions are counted in this process. @default counters in memory */
  readonly store?: CounterStore;
  /** How the error begins. @default 'call limit exceeded' */
  readonly message?: string;
}

const { integer, made, mapOf, oneOf, string } = expected;

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<CallLimitOptions> = {
  maxCalls: option(integer(0), 'how many calls are admitted, of all tools together; 0 admits none', 'no limit'),
  perTool: option(mapOf(integer(0)), 'how many calls of one tool are admitted, by name or glob (`*`); the first that matches counts', 'none'),
  per: option(oneOf('run', 'session'), "whose counts these are: `'run'` or `'session'`; calls that name no run are counted by session", "`'run'`"),
  maxPrompts: option(integer(0), 'how many questions may be put to people; 0 allows none', 'no limit'),
  store: option(made('a store with take', 'take'), 'where calls are counted, see stores; questions are counted in this process', 'counters in memory'),
  message: option(string, 'how the error begins', '`call limit exceeded`'),
};
