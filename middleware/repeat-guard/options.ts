/** The options of `repeatGuard`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';

export interface RepeatGuardOptions {
  /** From which same call on the model is told. @default 3, or `stopAfter` where that is less */
  readonly nudgeAfter?: number;
  /** How many same calls are let through; a further one is refused. @default 5 */
  readonly stopAfter?: number;
  /** Whose calls are compared. Calls that name no run are compared by session. @default 'run' */
  readonly per?: 'run' | 'session';
  /** Among how many of the last calls the same ones are counted. @default 50 */
  readonly windowCalls?: number;
  /** How long a call counts, in milliseconds. @default as long as it is among the last ones */
  readonly windowMs?: number;
  /** Arguments that do not make a call another one. @default `reason`, if not the tool's own */
  readonly ignore?: readonly string[];
  /** Names or globs (`*`) of the tools that may repeat, such as those that poll. @default none */
  readonly except?: readonly string[];
  /** How the error begins. @default 'the same call again' */
  readonly message?: string;
}

const { integer, listOf, oneOf, string } = expected;

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<RepeatGuardOptions> = {
  nudgeAfter: option(integer(1), 'from which same call on the result tells the model that it repeats itself', '3, or `stopAfter` where that is less'),
  stopAfter: option(integer(1), 'how many same calls are let through; a further one is refused', '5'),
  per: option(oneOf('run', 'session'), "whose calls are compared: `'run'` or `'session'`; calls that name no run are compared by session", "`'run'`"),
  windowCalls: option(integer(1), 'among how many of the last calls the same ones are counted; more than `stopAfter`', '50'),
  windowMs: option(integer(1), 'how long a call counts, in milliseconds', 'as long as it is among the last ones'),
  ignore: option(listOf(string), 'names of arguments that do not make a call another one', '`reason`, where the tool does not declare it itself'),
  except: option(listOf(string), 'names or globs (`*`) of the tools that may be called again and again, such as those that poll', 'none'),
  message: option(string, 'how the error begins', '`the same call again`'),
};
