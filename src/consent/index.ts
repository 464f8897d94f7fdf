/**
 * `allium/consent`: from a call to a decision about it. Rules and deciders, the question to a
 * person, answers that count again, and how a question is shown at a terminal.
 */

export type { Decider, GateParts, Open, StandingAnswers } from './gate.ts';
export { createStandingAnswers, passGate } from './gate.ts';
export type { AutoApproveOptions, JudgeOptions, Judges } from './judges.ts';
export { autoApprove, consentJudges, ruleList } from './judges.ts';
export { plainLine } from './plain-text.ts';
export type { TerminalPromptOptions } from './terminal-prompt.ts';
export { terminalPrompt } from './terminal-prompt.ts';
export type {
  ConsentAnswer,
  ConsentDecide,
  ConsentDecision,
  ConsentRule,
  RuleDecision,
  Settled,
  Verdict,
} from './verdict.ts';
export { RULE_DECISION, settleVerdict } from './verdict.ts';
