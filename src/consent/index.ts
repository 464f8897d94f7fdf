/**
 * `allium/consent`: from a call to a decision about it. Rules and deciders, the question to a
 * person, answers that count again, and how a question is shown at a terminal.
 */

export type { Decider, GateParts, Open, StandingAnswers } from './gate.ts';
export { createStandingAnswers, passGate } from './gate.ts';
export type {
  AutoApproveOptions,
  ConsentAnswer,
  ConsentDecide,
  ConsentDecision,
  JudgeOptions,
  Judges,
  Settled,
} from './judges.ts';
export { autoApprove, consentJudges, ruleList, settleVerdict } from './judges.ts';
export { plainLine } from './plain-text.ts';
export type { TerminalPromptOptions } from './terminal-prompt.ts';
export { terminalPrompt } from './terminal-prompt.ts';
export type { ConsentRule, RuleDecision, Verdict } from './rules.ts';
export { RULE_DECISION } from './rules.ts';
