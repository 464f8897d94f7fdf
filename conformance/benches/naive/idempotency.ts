/**
 * Look, run, keep. What is naive: between looking and keeping there is time for a second run, every
 * good result is kept, previews included, the key is the text of the arguments as they came,
 * sessions share everything, and an effect that failed is simply run again.
 */

import {
  clockOf,
  defineLayer,
  type JsonValue,
  ok,
  type ToolCall,
  type ToolLayer,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly key?: (call: ToolCall) => unknown;
  readonly ttlMs?: number;
}

export function naiveIdempotency({ key, ttlMs = 600_000 }: Options = {}): ToolLayer {
  const kept = new Map<string, { readonly value: JsonValue; readonly until: number }>();
  return defineLayer({
    name: 'idempotency',
    async caller(call, next) {
      const name = `${call.toolName} ${String(key === undefined ? JSON.stringify(call.toolArgs) : await key(call))}`;
      const now = clockOf(call).monotonic();
      const found = kept.get(name);
      if (found !== undefined && found.until > now) return ok(call, found.value);
      const result = await next(call);
      if (result.ok) kept.set(name, { value: result.result, until: now + ttlMs });
      return result;
    },
  });
}

export default createSubject({
  name: 'naive idempotency',
  factories: { idempotency: naiveIdempotency },
});

export const fails: readonly string[] = [
  'idempotency.a-cancelled-effect-is-unknown',
  'idempotency.a-conflict-does-not-wait',
  'idempotency.a-previewed-effect-is-still-to-be-done',
  'idempotency.a-timed-out-effect-is-unknown',
  'idempotency.a-waiting-caller-may-leave',
  'idempotency.an-answer-too-many-goes',
  'idempotency.an-effect-outlives-its-answer',
  'idempotency.an-unknown-end-closes-the-key',
  'idempotency.answers-again-without-running',
  'idempotency.effect-keys-are-not-made-of-masked-values',
  'idempotency.effects-run-once-for-calls-at-once',
  'idempotency.effects-without-a-key-do-not-run',
  'idempotency.effects-without-a-store-do-not-run',
  'idempotency.keeps-every-part-of-an-answer',
  'idempotency.keeps-sessions-apart',
  'idempotency.never-keeps-a-preview',
  'idempotency.never-keeps-what-another-layer-answered',
  'idempotency.no-store-means-no-layer',
  'idempotency.other-arguments-are-a-conflict',
  'idempotency.reads-without-a-key-run',
  'idempotency.reads-without-a-store-run',
  'idempotency.refuses-a-mode-it-does-not-know',
  'idempotency.renews-its-claim-while-it-runs',
  'idempotency.runs-once-for-calls-at-once',
  'idempotency.scope-may-be-named',
  'idempotency.waits-for-a-claim-of-another-process',
  'idempotency.what-a-crash-left-is-unknown',
];
