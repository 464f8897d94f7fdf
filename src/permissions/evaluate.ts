/**
 * Runs checkers over one request and puts their answers together. Deny overrides, then approval,
 * then allow.
 */

import { whenAborted } from '../core/time/abort.ts';
import { describeThrown, oneLine } from '../core/contract/errors.ts';
import type { Expectation } from '../core/contract/options.ts';
import type { Awaitable } from '../stores/claim-store.ts';
import {
  PERMISSION_DECISIONS,
  type PermissionAnswer,
  type PermissionChecker,
  type PermissionDecision,
  type PermissionRequest,
} from './permission.ts';

/** One checker's answer, as it was read. */
export interface CheckerVerdict extends PermissionAnswer {
  /** The checker's name. */
  readonly by: string;
  /**
   * Why the checker counts as failed. For the host's log only: it may quote what the checker threw.
   */
  readonly failure?: string;
}

/** What all checkers together say about one request. */
export interface PermissionVerdict extends PermissionAnswer {
  /**
   * The checker that decided: the first with the strongest answer. `null` where none has an
   * opinion.
   */
  readonly by: string | null;
  /** Every answer, in the order of the checkers. */
  readonly answers: readonly CheckerVerdict[];
}

/** Strongest first. */
const PRECEDENCE: readonly PermissionDecision[] = Object.freeze([
  'deny',
  'require_approval',
  'allow',
]);

/**
 * What an option that takes a checker expects. Looks at its form only: what it answers is seen when
 * it is asked.
 */
export const expectedChecker: Expectation = Object.freeze({
  text: 'a function or a { name, evaluate } policy',
  test: (value: unknown) => {
    if (typeof value === 'function') return true;
    if (typeof value !== 'object' || value === null) return false;
    const { name, evaluate } = value as { readonly name?: unknown; readonly evaluate?: unknown };
    return typeof name === 'string' && name !== '' && typeof evaluate === 'function';
  },
});

/** The name a checker goes by in records: its own, or its place in the list. */
export const nameOfChecker = (checker: PermissionChecker, index: number): string =>
  checker.name === '' ? `checker ${index + 1}` : oneLine(checker.name);

/**
 * Asks every checker once, all at the same time. A checker that throws, rejects or answers with
 * anything but a verdict denies with `checker_failed`, and an aborted signal denies with
 * `cancelled` without waiting for who has not answered. With no opinion at all the decision is
 * `no_opinion`: the fallback is the caller's. Never rejects. Trusts the checkers to end: one that
 * never answers holds the call until the signal aborts.
 */
export async function evaluateCheckers(
  checkers: readonly PermissionChecker[],
  request: PermissionRequest,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<PermissionVerdict> {
  if (signal?.aborted === true) return CANCELLED;
  const asked = Promise.all(checkers.map((checker, index) => askOne(checker, index, request)));
  if (signal === undefined) return combine(await asked);
  const waiting = whenAborted(signal);
  const answers = await Promise.race([asked, waiting.aborted]);
  waiting.stop();
  // Answers that came together with the abort do not count.
  return answers === undefined || isAborted(signal) ? CANCELLED : combine(answers);
}

/**
 * Read again: it was false before the checkers were asked, and the compiler takes it to stay so.
 */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

const CANCELLED: PermissionVerdict = Object.freeze({
  decision: 'deny',
  reason: 'the call was cancelled before it was decided',
  code: 'cancelled',
  by: null,
  answers: Object.freeze([]),
});

async function askOne(
  checker: PermissionChecker,
  index: number,
  request: PermissionRequest,
): Promise<CheckerVerdict> {
  let by = `checker ${index + 1}`;
  try {
    by = nameOfChecker(checker, index);
    return readAnswer(by, await answerOf(checker, request));
  } catch (thrown) {
    return failed(by, describeThrown(thrown));
  }
}

const answerOf = (checker: PermissionChecker, request: PermissionRequest): Awaitable<unknown> =>
  typeof checker === 'function' ? checker(request) : checker.evaluate(request);

/**
 * Reads every field once: a getter must not show one verdict to the check and another one later.
 */
function readAnswer(by: string, answer: unknown): CheckerVerdict {
  if (typeof answer === 'string')
    return isDecision(answer) ? Object.freeze({ by, decision: answer }) : failed(by, NO_VERDICT);
  if (typeof answer !== 'object' || answer === null) return failed(by, NO_VERDICT);
  const { decision, reason, code } = answer as { readonly [K in keyof PermissionAnswer]: unknown };
  if (!isDecision(decision) || !isTextOrAbsent(reason) || !isTextOrAbsent(code))
    return failed(by, NO_VERDICT);
  return Object.freeze({
    by,
    decision,
    ...(reason === undefined ? {} : { reason: oneLine(reason) }),
    ...(code === undefined ? {} : { code: oneLine(code) }),
  });
}

const NO_VERDICT = 'answered with something that is no verdict';

const isDecision = (value: unknown): value is PermissionDecision =>
  (PERMISSION_DECISIONS as readonly unknown[]).includes(value);

const isTextOrAbsent = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';

/** The model is told that nothing was decided, not what broke: an error may quote anything. */
const failed = (by: string, failure: string): CheckerVerdict =>
  Object.freeze({
    by,
    decision: 'deny',
    reason: 'a permission check failed, so nothing was allowed; this is not about the arguments',
    code: 'checker_failed',
    failure,
  });

function combine(given: readonly CheckerVerdict[]): PermissionVerdict {
  const answers = Object.freeze(given);
  for (const decision of PRECEDENCE) {
    const found = answers.find((answer) => answer.decision === decision);
    if (found !== undefined) return Object.freeze({ ...saidBy(found), by: found.by, answers });
  }
  // A checker without an opinion may still say what would have given it one: a fallback that
  // refuses passes that on.
  const hint = answers.find(({ reason }) => reason !== undefined)?.reason;
  return Object.freeze({
    decision: 'no_opinion',
    ...(hint === undefined ? {} : { reason: hint }),
    by: null,
    answers,
  });
}

const saidBy = ({ decision, reason, code }: CheckerVerdict): PermissionAnswer => ({
  decision,
  ...(reason === undefined ? {} : { reason }),
  ...(code === undefined ? {} : { code }),
});

/** Whether an option says `ask` or `deny`, as an answer says it. */
export const decisionFor = (option: 'deny' | 'ask'): 'deny' | 'require_approval' =>
  option === 'ask' ? 'require_approval' : 'deny';

/**
 * The first denial, else the first question, else the first of them. No answers at all are a
 * denial.
 */
export function strictest(answers: readonly PermissionAnswer[]): PermissionAnswer {
  const find = (decision: string): PermissionAnswer | undefined =>
    answers.find((answer) => answer.decision === decision);
  return (
    find('deny') ??
    find('require_approval') ??
    answers[0] ?? { decision: 'deny', code: 'nothing_checked' }
  );
}
