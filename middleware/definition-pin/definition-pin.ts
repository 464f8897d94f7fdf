/** Holds tools to what they said of themselves when somebody began to trust them. */

import {
  annotate,
  checkOptions,
  clockOf,
  defineLayer,
  definitionOf,
  expected,
  filePins,
  guardCall,
  type OrderRule,
  ownDefinition,
  type PinStore,
  type ToolLayer,
} from '../../src/layer.ts';
import { pinKeeper } from './pin-keeper.ts';
import {
  lineOf,
  objectionTo,
  type QuarantineReport,
  quarantinedSpec,
  refusalOf,
  reporter,
} from './quarantine.ts';

export interface DefinitionPinOptions {
  /** Where pins are kept. @default files in `pins` of the state folder */
  readonly store?: PinStore;
  /**
   * Where the tools come from, such as the name of an MCP server; every source has pins of its own.
   * @default 'tools'
   */
  readonly source?: string;
  /**
   * What becomes of a tool that comes to a source which has pins: it is pinned as well, or refused
   * until somebody accepts it. @default 'pin'
   */
  readonly onNew?: 'pin' | 'refuse';
  /** Whether calls of a tool that has changed are refused, or only recorded. @default 'refuse' */
  readonly onChange?: 'refuse' | 'warn';
  /**
   * How the error begins, and what is shown in the place of the description. @default what is the
   * matter with the tool
   */
  readonly message?: string;
  /**
   * Told about a tool that is not what was accepted, once for each definition, with what differs.
   * @default a warning of the process
   */
  readonly onQuarantine?: (report: QuarantineReport) => void;
}

/**
 * Trust on first use: the tools of a source are pinned with the first call of one of them. From
 * then on a tool whose name, description, schemas or annotations are others is quarantined: shown
 * without a word of its own, and refused, until somebody accepts it. It looks at what tools say,
 * not at what they do: a tool that keeps its description and changes its code goes unnoticed.
 */
export function definitionPin(options: DefinitionPinOptions = {}): ToolLayer {
  checkOptions('definitionPin', options, EXPECTED);
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
    tell: reporter(source, onQuarantine),
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
      if (finding.isRefused) return refusalOf(call, finding, message);
      // A layer further in may give the call the name of another tool.
      const guarded = guardCall(call, ({ toolName }) =>
        toolName === call.toolName ? null : objectionTo(keeper.known(toolName), toolName, message),
      );
      return annotate(await next(guarded), {}, lineOf(finding));
    },
  });
}

const isStore = (value: unknown): boolean =>
  expected.object.test(value) &&
  (['read', 'update'] as const).every(
    (step) => typeof (value as Partial<PinStore>)[step] === 'function',
  );

const EXPECTED = {
  store: { text: 'a store with read and update', test: isStore },
  source: expected.string,
  onNew: expected.oneOf('pin', 'refuse'),
  onChange: expected.oneOf('refuse', 'warn'),
  message: expected.string,
  onQuarantine: expected.function,
};

const ORDER: readonly OrderRule[] = [
  {
    insideOf: 'auditLog',
    level: 'must',
    because: 'outside it, calls of tools that have changed would leave no receipt',
  },
  {
    outsideOf: 'consent',
    level: 'should',
    because: 'inside it, a person is asked about a tool that is not the one they know',
  },
  {
    outsideOf: 'idempotency',
    level: 'should',
    because: 'inside it, a tool that has changed is still answered for from the store',
  },
];
