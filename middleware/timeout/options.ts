/** The options of `timeout`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';

export interface TimeoutOptions {
  /** Time for a call, in milliseconds. */
  readonly maxMs: number;
  /** Other times by tool name or glob; the first that matches counts. */
  readonly perTool?: Readonly<Record<string, number>>;
  /** How long an aborted tool may take to come to an end and say what it did. @default 100 */
  readonly graceMs?: number;
  /** How the error begins. @default '<tool> did not answer in time' */
  readonly message?: string;
}

const { integer, mapOf, required, string } = expected;

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<TimeoutOptions> = {
  maxMs: option(required(integer(1)), 'time for a call, in milliseconds, at least 1'),
  perTool: option(mapOf(integer(1)), 'other times by tool name or glob (`*`); the first that matches counts', 'none'),
  graceMs: option(integer(0), 'how long an aborted tool may take to come to an end and say what it did', '100'),
  message: option(string, 'how the error begins', '`<tool> did not answer in time`'),
};
