/** The options of `permissions`. */

import {
  expected,
  expectedChecker,
  option,
  type OptionTable,
  type PermissionChecker,
  type PermissionReport,
} from '../../src/layer.ts';

export interface PermissionsOptions {
  /** Asked about all that a call is about to do. Any deny counts before any ask or allow. */
  readonly checkers: readonly PermissionChecker[];
  /** For what a tool proposes and no checker has an opinion on. @default 'deny' */
  readonly fallback?: 'allow' | 'deny' | 'ask' | 'require_approval';
  /** Refuses nothing, and says what it would have refused. @default false */
  readonly shadow?: boolean | ((report: PermissionReport) => void);
  /** Does not show the model what the checkers are certain never to allow. @default false */
  readonly hide?: boolean;
  /** Milliseconds to approve. @default as long as the caller waits, and then one day */
  readonly expiresMs?: number | 'never';
}

const { boolean, either, expiry, listOf, oneOf, required } = expected;

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<PermissionsOptions> = {
  checkers: option(required(listOf(expectedChecker)), 'policies and functions that are asked about everything a call is about to do; any deny counts before any ask, and any ask before any allow'),
  fallback: option(oneOf('allow', 'deny', 'ask', 'require_approval'), "for what a tool proposes and nobody has an opinion on: `'allow'`, `'deny'`, `'ask'` or `'require_approval'`", "`'deny'`"),
  shadow: option(either('true, false or a function', boolean, expected.function), 'nothing is refused or asked; what would have been is on record, and told to the function', '`false`'),
  hide: option(boolean, 'does not show the model what the checkers are certain never to allow; not in shadow mode, which refuses nothing', '`false`'),
  expiresMs: option(expiry, 'how long somebody may take to approve, in milliseconds, or `never`', 'as long as the caller waits; a call that is kept waits one day'),
};
