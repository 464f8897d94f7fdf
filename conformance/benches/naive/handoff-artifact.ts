/**
 * Take what stands under `handoff`. What is naive: whatever the tool wrote is believed, its policy
 * included, nothing is tidied or looked at, results that failed hand over too, and a sink that
 * throws fails the call.
 */

import {
  annotate,
  createIdOf,
  defineLayer,
  type JsonObject,
  type JsonValue,
  type ToolLayer,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly sink?: (record: JsonObject) => unknown;
  readonly keys?: readonly string[];
  readonly source?: string;
}

export function naiveHandoffArtifact({ sink, keys = [], source }: Options = {}): ToolLayer {
  return defineLayer({
    name: 'handoffArtifact',
    async caller(call, next) {
      const result = await next(call);
      const value = result.result;
      if (!isObject(value)) return result;
      const found = ['__handoff', 'handoff', ...keys]
        .map((key) => value[key])
        .find((payload) => payload !== undefined && payload !== null);
      if (found === undefined || !isObject(found)) return result;
      const handoff = {
        id: `handoff_${createIdOf(call)()}`,
        source_persona: source ?? null,
        ...found,
      };
      Promise.resolve(sink?.(handoff)).catch(() => {});
      return annotate(result, { handoff, kind: 'handoff' }, { status: 'emitted' });
    },
  });
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export default createSubject({
  name: 'naive handoffArtifact',
  factories: { handoffArtifact: naiveHandoffArtifact },
});

export const fails: readonly string[] = [
  'handoff-artifact.a-sink-may-fail',
  'handoff-artifact.an-invalid-one-is-noted',
  'handoff-artifact.an-override-can-only-tighten',
  'handoff-artifact.an-override-that-is-no-policy-goes',
  'handoff-artifact.an-override-that-tightens-is-kept',
  'handoff-artifact.detect-looks-first',
  'handoff-artifact.looks-under-its-keys-in-order',
  'handoff-artifact.one-spelling-for-one-field',
  'handoff-artifact.only-good-results-hand-over',
  'handoff-artifact.reads-json-texts',
  'handoff-artifact.refuses-wrong-options',
  'handoff-artifact.secrets-do-not-go-along',
  'handoff-artifact.strict-raises',
  'handoff-artifact.tidies-what-it-takes',
  'handoff-artifact.turns-a-handoff-into-a-record',
  'handoff-artifact.what-a-tool-says-about-itself-is-not-believed',
];
