/**
 * Compare the description with the one of the pin. What is naive: schemas and annotations are not
 * looked at, a tool that nobody knows is welcome under any name, what is listed is left as it is,
 * and the refusal quotes what it warns of.
 */

import { defineLayer, type PinStore, refuse, type ToolLayer } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly store?: PinStore;
  readonly source?: string;
}

export function naiveDefinitionPin({ store, source = 'tools' }: Options = {}): ToolLayer {
  return defineLayer({
    name: 'definitionPin',
    caller(call, next) {
      const pin = store?.read(source)?.pins.find(({ toolName }) => toolName === call.toolName);
      if (pin === undefined || pin.definition.description === call.description) return next(call);
      return refuse(
        call,
        'definition_changed',
        `the description of ${call.toolName} is now: ${call.description}`,
      );
    },
  });
}

export default createSubject({
  name: 'naive definitionPin',
  factories: { definitionPin: naiveDefinitionPin },
});

export const fails: readonly string[] = [
  'definition-pin.a-broken-store-lets-nothing-run',
  'definition-pin.a-change-can-be-recorded-only',
  'definition-pin.a-changed-tool-does-not-run',
  'definition-pin.a-rename-is-not-new',
  'definition-pin.it-is-said-in-the-words-of-the-host',
  'definition-pin.look-alikes-are-not-new',
  'definition-pin.new-tools-are-pinned-or-refused',
  'definition-pin.people-see-what-differs',
  'definition-pin.refuses-wrong-options',
  'definition-pin.sources-are-kept-apart',
  'definition-pin.the-model-reads-nothing-of-it',
  'definition-pin.the-same-tools-pass',
];
