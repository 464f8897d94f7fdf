/** The options of `retry`. */

import { expected, option, type OptionTable, STATUSES } from '../../src/layer.ts';

export interface RetryOptions {
  /** How often a call is tried at most, the first time included. @default 3 */
  readonly maxAttempts?: number;
  /** The wait before the second attempt; it doubles with every further one. @default 200 */
  readonly backoffMs?: number;
  /** The longest wait. A tool that asks for a longer one is not tried again. @default 10_000 */
  readonly maxBackoffMs?: number;
  /** No attempt begins later than this after the first. @default no limit */
  readonly maxElapsedMs?: number;
  /** Waits a random part of the time. @default true */
  readonly jitter?: boolean;
  /** Names or globs of the tools to try again. An empty list means none. @default every tool */
  readonly only?: readonly string[];
  /** Names or globs of the tools never to try again. @default none */
  readonly except?: readonly string[];
  /** Statuses or error classes that are worth another attempt. @default ['retryable'] */
  readonly on?: readonly string[];
  /** A number from 0 to 1 for the jitter. @default Math.random */
  readonly random?: () => number;
}

const { boolean, integer, listOf, string } = expected;

/**
 * Statuses of the table that a moment's patience can change. Every other one is somebody's
 * decision, or final.
 */
const PASSING: ReadonlySet<string> = new Set([
  'executor_error',
  'timeout',
  'rate_limited',
  'circuit_open',
  'audit_unavailable',
]);

/**
 * Whether another attempt is out of the question, whatever the options say. Statuses that layers
 * invented are not.
 */
export const isFinal = (status: string): boolean =>
  Object.hasOwn(STATUSES, status) && !PASSING.has(status);

const WORTH = {
  ...string,
  text: 'an error class or a status that a repetition can change',
  test: (value: unknown) => typeof value === 'string' && value !== '' && !isFinal(value),
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<RetryOptions> = {
  maxAttempts: option(integer(1), 'how often a call is tried at most, the first time included', '3'),
  backoffMs: option(integer(0), 'the wait before the second attempt; it doubles with every further one', '200'),
  maxBackoffMs: option(integer(0), 'the longest wait; a result that asks for a longer one is not tried again', '10,000'),
  maxElapsedMs: option(integer(0), 'no attempt begins later than this after the first', 'no limit'),
  jitter: option(boolean, 'waits a random part of the time', '`true`'),
  only: option(listOf(string), 'names or globs (`*`) of the tools to try again; an empty list means none', 'every tool'),
  except: option(listOf(string), 'names or globs of the tools never to try again', 'none'),
  on: option(listOf(WORTH), 'statuses or error classes that are worth another attempt', "`['retryable']`"),
  random: option(expected.function, 'a number from 0 to 1 for the jitter', '`Math.random`'),
};
