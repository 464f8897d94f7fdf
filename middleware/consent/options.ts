/** The options of `consent`. */

import {
  type ApprovalPrompt,
  expected,
  option,
  optionsSchema,
  type OptionTable,
} from '../../src/layer.ts';
import {
  type ConsentDecide,
  type ConsentRule,
  RULE_DECISION,
  type RuleDecision,
} from '../../src/consent/index.ts';

export interface ConsentOptions {
  /** Decides about the calls that no rule is about. */
  readonly decide?: ConsentDecide;
  /** Any deny counts before any ask, and any ask before any allow. */
  readonly rules?: readonly ConsentRule[];
  /** For calls that nothing decides about. @default 'ask' with `rules`; else annotations count */
  readonly default?: RuleDecision;
  /** Milliseconds for a decision. @default as long as the caller waits, and then one day */
  readonly expiresMs?: number | 'never';
  /** Whether `allow_always` and `reject_always` are offered and kept. @default false */
  readonly remember?: boolean;
  /** Channels to ask on, beside those of the host. @default none */
  readonly prompts?: readonly ApprovalPrompt[];
}

const { boolean, expiry, listOf, required, string } = expected;

const RULES = {
  text: 'a list of rules',
  test: Array.isArray,
  schema: listOf({
    ...expected.object,
    schema: optionsSchema({
      tool: option(required(string), 'a tool name or a glob (`*`)'),
      when: option(expected.function, 'a look at the arguments'),
      decision: option(required(RULE_DECISION), 'what becomes of such a call'),
    }),
  }).schema,
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<ConsentOptions> = {
  decide: option(expected.function, 'decides about the calls that no rule is about', 'none'),
  rules: option(RULES, 'list of `{ tool, when?, decision }`: name or glob (`*`), a look at the arguments, and `allow`, `deny`, `ask` or `require_approval`', 'none'),
  default: option(RULE_DECISION, 'one of these words, for calls that no rule is about, where there is no `decide`', '`ask` with `rules`; without, the annotations count'),
  expiresMs: option(expiry, 'how long a decision may take, in milliseconds, all questions together, or `never`', 'as long as the caller waits; a call that is kept waits one day'),
  remember: option(boolean, 'whether `allow_always` and `reject_always` are offered and kept: for exactly these arguments, or for any where the person chose that; in one session', 'false'),
  prompts: option(listOf(expected.function), 'channels to ask on, beside those of the host', 'none'),
};
