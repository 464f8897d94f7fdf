/**
 * The recipe put together from naive layers: each of them is plausible alone, and what they promise
 * together does not hold.
 */

import { createSubject } from '../../scenarios/create-subject.ts';
import { naiveIdempotency } from './idempotency.ts';
import { naiveSummary } from './summary.ts';
import { naiveTimeout } from './timeout.ts';

export default createSubject({
  name: 'naive captain stack',
  factories: { idempotency: naiveIdempotency, summary: naiveSummary, timeout: naiveTimeout },
});

export const fails: readonly string[] = [
  'captain-stack.a-first-call',
  'captain-stack.a-shadow-is-previewed',
  'captain-stack.calls-at-once-share-nothing-but-the-work',
  'captain-stack.the-formatter-throws',
  'captain-stack.the-limit-is-used-up',
  'captain-stack.the-same-call-again',
  'captain-stack.the-tool-hangs',
  'captain-stack.the-tool-throws',
];
