/** Several answers of one policy about one request. */

import type { PermissionAnswer } from './permission.ts';

/** Whether an option says `ask` or `deny`, as an answer says it. */
export const decisionFor = (option: 'deny' | 'ask'): 'deny' | 'require_approval' =>
  option === 'ask' ? 'require_approval' : 'deny';

/** The first denial, else the first question, else the first of them. No answers at all are a denial. */
export function strictest(answers: readonly PermissionAnswer[]): PermissionAnswer {
  const find = (decision: string): PermissionAnswer | undefined =>
    answers.find((answer) => answer.decision === decision);
  return (
    find('deny') ??
    find('require_approval') ??
    answers[0] ?? { decision: 'deny', code: 'nothing_checked' }
  );
}
