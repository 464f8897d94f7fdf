/** Answers that were given for always: for exactly what was shown, or for a tool with any arguments; in one session, until the layer closes. */

import { fairTable, standingKeyOf, standingToolKeyOf, type ToolCall } from '../../src/index.ts';
import type { Settled } from './gate.ts';

export interface StandingAnswers {
  get(call: ToolCall): Omit<Settled, 'call'> | undefined;
  keep(settled: Settled, anyArguments: boolean): void;
  forget(): void;
}

const MAX_ANSWERS = 1000;

/** What was said, and the key of what would count in its place. */
interface Kept {
  readonly answer: Omit<Settled, 'call'>;
  readonly toolKey: string;
}

/**
 * Keeps hashes, never arguments. Of the session with most answers the one not used for longest goes first, and is asked about again. With a no
 * about exactly some arguments goes what was said about any: a yes would come to cover them.
 */
export function createStandingAnswers(): StandingAnswers {
  let answers = fairTable<Kept>();
  const use = (key: string, { turn }: ToolCall): Omit<Settled, 'call'> | undefined => {
    const kept = answers.get(key);
    if (kept !== undefined) answers.set(key, turn.sessionId, kept);
    return kept?.answer;
  };
  const forgetOne = (): void => {
    const loser = answers.loser();
    if (loser === null) return;
    answers.delete(loser.key);
    if (loser.value.answer.decision === 'denied') answers.delete(loser.value.toolKey);
  };
  return {
    // What was said about exactly these arguments counts before what was said about any.
    get: (call) => use(standingKeyOf(call), call) ?? use(standingToolKeyOf(call), call),
    keep({ call, ...answer }, anyArguments) {
      const toolKey = standingToolKeyOf(call);
      answers.set(anyArguments ? toolKey : standingKeyOf(call), call.turn.sessionId, {
        answer,
        toolKey,
      });
      if (answers.size > MAX_ANSWERS) forgetOne();
    },
    forget: () => void (answers = fairTable<Kept>()),
  };
}
