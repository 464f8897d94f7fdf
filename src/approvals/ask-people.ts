/**
 * Asks on every channel at once. The first answer wins, and the others are told that theirs is no
 * longer wanted.
 */

import { linkAbort } from '../core/time/abort.ts';
import type { ApprovalPrompt, ApprovalQuestion } from './question.ts';

/** The first answer that came back, and from which channel. */
export interface PersonsAnswer {
  /** Whatever came back; nothing about it is known yet. */
  readonly said: unknown;
  readonly channel: string;
}

/**
 * `null` when no channel reaches a person. Rejects when there was no answer and a channel failed.
 */
export async function askPeople(
  question: Omit<ApprovalQuestion, 'signal'>,
  prompts: readonly ApprovalPrompt[],
  signal: AbortSignal,
): Promise<PersonsAnswer | null> {
  const link = linkAbort(signal);
  const asked = Object.freeze({ ...question, signal: link.signal });
  const answers = prompts.map(
    async (prompt): Promise<PersonsAnswer> => ({
      said: await prompt(asked),
      channel: nameOf(prompt),
    }),
  );
  const first = new Promise<PersonsAnswer>((resolve) => {
    // A channel that failed, or answered `null`, leaves the answer to the others.
    for (const answer of answers)
      answer.then((given) => given.said !== null && resolve(given)).catch(() => {});
  });
  try {
    return await Promise.race([first, Promise.allSettled(answers).then(withoutAnswer)]);
  } finally {
    link.unlink();
    link.abort(new DOMException('the question was answered elsewhere', 'AbortError'));
  }
}

function withoutAnswer(settled: readonly PromiseSettledResult<PersonsAnswer>[]): null {
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed !== undefined)
    throw new Error('a prompt failed', { cause: 'reason' in failed ? failed.reason : undefined });
  return null;
}

const nameOf = ({ name }: ApprovalPrompt): string => (name === '' ? 'prompt' : name);
