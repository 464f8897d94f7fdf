/**
 * Try again until it works. What is naive: writes that may have run are repeated, refusals are
 * asked for again, every tool is meant, and nobody waits between two attempts.
 */

import { annotate, defineLayer, type ToolLayer } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

export function naiveRetry({ maxAttempts = 3 }: { readonly maxAttempts?: number } = {}): ToolLayer {
  return defineLayer({
    name: 'retry',
    async caller(call, next) {
      for (let attempts = 1; ; attempts += 1) {
        const result = await next(call);
        if (result.ok || attempts >= maxAttempts)
          return attempts === 1 ? result : annotate(result, {}, { attempts, waitedMs: 0 });
      }
    },
  });
}

export default createSubject({ name: 'naive retry', factories: { retry: naiveRetry } });

export const fails: readonly string[] = [
  'retry.a-caller-may-leave-the-wait',
  'retry.a-write-that-did-not-run-is-repeated',
  'retry.a-write-that-may-have-run-is-not-repeated',
  'retry.all-attempts-share-a-time-outside',
  'retry.an-empty-list-means-none',
  'retry.decisions-are-final',
  'retry.does-not-wait-for-too-long-a-wait',
  'retry.gives-up-after-so-many-attempts',
  'retry.jitter-is-a-part-of-the-wait',
  'retry.no-attempt-begins-too-late',
  'retry.nobody-is-asked-twice',
  'retry.on-says-what-is-worth-it',
  'retry.one-attempt-is-none-again',
  'retry.only-the-tools-that-are-meant',
  'retry.refuses-wrong-options',
  'retry.the-model-is-not-told-to-repeat-either',
  'retry.tries-again',
  'retry.waits-no-longer-than-its-maximum',
  'retry.what-is-not-retryable-is-final',
];
