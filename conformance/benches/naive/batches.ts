/**
 * A batch as one line. What is naive about it: everything begins at once whatever was asked for,
 * one call that is thrown loses the results of all, and no call knows its place.
 */

import { type GovernedTools, type GovernOptions, governTools } from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const governed = governTools(options);
  return {
    ...governed,
    batch: (requests, { maxConcurrent: _, ...callOptions } = {}) =>
      Promise.all(requests.map((request) => governed.call(request, callOptions))),
  };
}

export default createSubject({ name: 'naive batches', govern });

export const fails: readonly string[] = [
  'batches.a-concurrency-of-nothing-is-refused',
  'batches.a-raise-stays-in-its-place',
  'batches.calls-carry-their-place',
  'batches.cancelling-answers-every-call',
  'batches.no-more-at-a-time-than-allowed',
  'batches.one-at-a-time-unless-told',
];
