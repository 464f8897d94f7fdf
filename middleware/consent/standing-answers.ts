/** Answers that were given for always: for exactly what was shown, or for a tool with any arguments; in one session, until the layer closes. */

import { LRUCache } from 'lru-cache';
import { standingKeyOf, standingToolKeyOf, type ToolCall } from '../../src/index.ts';
import type { Settled } from './gate.ts';

export interface StandingAnswers {
  get(call: ToolCall): Omit<Settled, 'call'> | undefined;
  keep(settled: Settled, anyArguments: boolean): void;
  forget(): void;
}

const MAX_ANSWERS = 1000;

/** Keeps hashes, never arguments. The one not used for longest goes first, and is asked about again. */
export function createStandingAnswers(): StandingAnswers {
  const answers = new LRUCache<string, Omit<Settled, 'call'>>({ max: MAX_ANSWERS });
  return {
    // What was said about exactly these arguments counts before what was said about any.
    get: (call) => answers.get(standingKeyOf(call)) ?? answers.get(standingToolKeyOf(call)),
    keep: ({ call, ...answer }, anyArguments) => void answers.set(anyArguments ? standingToolKeyOf(call) : standingKeyOf(call), answer),
    forget: () => answers.clear(),
  };
}
