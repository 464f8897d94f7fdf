/**
 * Layers put together by hand: one function made of all of them. What is naive about it: nobody
 * stands between two layers, so that one that throws takes the others along, the record has one
 * line for all, and the last transform is the innermost one.
 */

import {
  defineLayer,
  type GovernedTools,
  type GovernOptions,
  governTools,
  type Next,
  type ToolCaller,
  type ToolLayer,
  type ToolSpec,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

const callerOf = (layer: ToolLayer | ToolCaller): ToolCaller =>
  typeof layer === 'function' ? layer : layer.caller;

function govern(options: GovernOptions): GovernedTools {
  const { layers } = options;
  const transforms = layers.flatMap((layer) =>
    typeof layer === 'function' ? [] : (layer.schemaTransform ?? []),
  );
  const stack = defineLayer({
    name: 'stack',
    caller: (call, bottom) =>
      layers.reduceRight<Next>(
        (next, layer) => async (passed) => callerOf(layer)(passed, next),
        (passed) => bottom(passed),
      )(call),
    schemaTransform: (tool) =>
      transforms.reduce<ToolSpec | null>((shown, transform) => shown && transform(shown), tool),
  });
  return governTools({ ...options, layers: [stack] });
}

export default createSubject({ name: 'naive composition', govern });

export const fails: readonly string[] = [
  'composition.a-decider-that-throws-denies',
  'composition.a-layer-that-throws-is-named',
  'composition.a-raise-is-thrown-at-the-outer-edge',
  'composition.a-tool-that-throws-is-no-failed-layer',
  'composition.an-outer-refusal-keeps-inner-layers-out',
  'composition.concurrent-calls-share-nothing',
  'composition.first-is-outermost',
  'composition.lines-are-innermost-first',
  'composition.next-may-be-called-again',
  'composition.passes-through-without-layers',
  'composition.the-outermost-transform-has-the-last-word',
  'composition.what-has-run-is-not-forgotten',
];
