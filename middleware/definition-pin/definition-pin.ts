/** Holds tools to what they said of themselves when they were first trusted. */

import {
  annotate,
  checkOptions,
  clockOf,
  defineLayer,
  definitionOf,
  guardCall,
  must,
  type OrderRule,
  ownDefinition,
  should,
  type ToolLayer,
} from '../../src/layer.ts';
import {
  filePins,
  objectionTo,
  pinKeeper,
  quarantinedCall,
  quarantinedSpec,
  quarantineLine,
  quarantineReporter,
} from '../../src/pins/index.ts';
import { type DefinitionPinOptions, OPTIONS } from './options.ts';

export type { DefinitionPinOptions };

/**
 * Trust on first use: the tools of a source are pinned with the first call of one of them. From
 * then on a tool whose name, description, schemas or annotations are others is quarantined: shown
 * without a word of its own, and refused, until a person accepts it. It looks at what tools say,
 * not at what they do: a tool that keeps its description and changes its code goes unnoticed.
 */
export function definitionPin(options: DefinitionPinOptions = {}): ToolLayer {
  checkOptions('definitionPin', options, OPTIONS);
  const {
    store = filePins(),
    source = 'tools',
    onNew = 'pin',
    onChange = 'refuse',
    message,
    onQuarantine,
  } = options;
  const keeper = pinKeeper({
    store,
    source,
    onNew,
    onChange,
    tell: quarantineReporter(source, onQuarantine),
  });

  return defineLayer({
    name: 'definitionPin',
    order: ORDER,
    schemaTransform(tool) {
      const finding = keeper.listed(ownDefinition(tool));
      return finding.isRefused ? quarantinedSpec(tool, finding, message) : tool;
    },
    async caller(call, next) {
      const finding = await keeper.called(call.toolName, definitionOf(call), clockOf(call).now());
      if (finding.isRefused) return quarantinedCall(call, finding, message);
      // A layer further in may give the call the name of another tool.
      const guarded = guardCall(call, ({ toolName }) =>
        toolName === call.toolName ? null : objectionTo(keeper.known(toolName), toolName, message),
      );
      return annotate(await next(guarded), {}, quarantineLine(finding));
    },
  });
}

const ORDER: readonly OrderRule[] = [
  must.insideOf('auditLog', 'outside it, calls of tools that have changed would leave no receipt'),
  should.outsideOf(
    'consent',
    'inside it, a person is asked about a tool that is not the one they know',
  ),
  should.outsideOf(
    'idempotency',
    'inside it, a tool that has changed is still answered for from the store',
  ),
];
