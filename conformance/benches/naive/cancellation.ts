/**
 * A race between the call and its signal. What is naive about it: the caller is let go and the call
 * is not, so that the tool runs on, what waits still starts, and nothing is answered or recorded as
 * cancelled.
 */

import { type GovernedTools, type GovernOptions, governTools } from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const governed = governTools(options);
  return {
    ...governed,
    call: (request, { signal, ...callOptions } = {}) =>
      Promise.race([governed.call(request, callOptions), gone(signal)]),
    // What nobody waits for any more would keep this from ending.
    async close() {},
  };
}

const gone = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('The call was cancelled.')));
  });

export default createSubject({ name: 'naive cancellation', govern });

export const fails: readonly string[] = [
  'cancellation.a-call-that-waits-for-a-place-never-starts',
  'cancellation.a-caller-that-leaves-is-answered',
  'cancellation.a-failure-after-leaving-is-a-cancellation',
  'cancellation.a-late-answer-is-not-a-success',
  'cancellation.a-nested-call-goes-with-the-outer',
  'cancellation.a-timeout-is-told-from-a-cancellation',
  'cancellation.a-tool-that-ignores-its-signal-is-not-waited-for',
  'cancellation.a-wait-between-attempts-ends',
  'cancellation.nothing-starts-for-a-caller-that-has-gone',
  'cancellation.one-caller-leaves-the-others-stay',
  'cancellation.the-signal-is-looked-at-right-before-the-tool',
];
