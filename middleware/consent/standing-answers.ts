/** Answers that were given for always: for exactly what was shown, in the session it was shown in, until the layer closes. */

import { LRUCache } from 'lru-cache';
import { standingKeyOf, type ToolCall } from '../../src/index.ts';
import type { Settled } from './gate.ts';

export interface StandingAnswers {
  get(call: ToolCall): Omit<Settled, 'call'> | undefined;
  keep(settled: Settled): void;
  forget(): void;
}

const MAX_ANSWERS = 1000;

/** Keeps hashes, never arguments. The one not used for longest goes first, and is asked about again. */
export function createStandingAnswers(): StandingAnswers {
  const answers = new LRUCache<string, Omit<Settled, 'call'>>({ max: MAX_ANSWERS });
  return {
    get: (call) => answers.get(standingKeyOf(call)),
    keep: ({ call, ...answer }) => void answers.set(standingKeyOf(call), answer),
    forget: () => answers.clear(),
  };
}
