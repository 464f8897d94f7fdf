/** Somebody to ask, and a consent layer that asks. */

import { echoExecutor, makeCall, type PartialCall, testClock } from '../../conformance/index.ts';
import { type ApprovalPrompt, type ApprovalQuestion, composeToolCallers } from '../../src/index.ts';
import { consent, type ConsentOptions } from './consent.ts';

/** A channel that answers when the test says so. */
export function channel() {
  const asked: ApprovalQuestion[] = [];
  const answers: ((answer: unknown) => void)[] = [];
  const prompt: ApprovalPrompt = (question) => {
    asked.push(question);
    return new Promise((resolve) => void answers.push(resolve as (answer: unknown) => void));
  };
  return { prompt, asked, answer: (answer: unknown, index = 0) => answers[index]?.(answer) };
}

/** A stack that asks about every call, on a standing clock with counted ids. */
export function start(
  options: ConsentOptions,
  call: PartialCall = {},
  host: readonly ApprovalPrompt[] = [],
) {
  const executor = echoExecutor();
  const clock = testClock();
  let ids = 0;
  const stack = composeToolCallers([consent({ default: 'ask', ...options })], {
    clock,
    createId: () => `id-${(ids += 1)}`,
  });
  const ask = (changes: PartialCall = {}) =>
    stack(makeCall({ ...call, ...changes }, { prompts: host }), executor);
  return { ask, executor, clock };
}

export const allow: ApprovalPrompt = () => ({ decision: 'allow_once' });
