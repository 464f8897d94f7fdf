/** A hook: a script that has a say about an event, as a file or a host describes it. */

import { checkOptions, type Expectation, expected } from '../core/contract/options.ts';
import type { FileGrants, ScriptText } from '../artifacts/index.ts';

/** A hook as a file or a host describes it. */
export interface HookDefinition {
  readonly kind?: 'hook';
  readonly name: string;
  /** `tool.pre` and `tool.post` are fired by the layer, every other one by the host. */
  readonly event: string;
  /** Lower ones are asked first; equal ones in the order they are given in. @default 0 */
  readonly priority?: number;
  /**
   * An expression over `event` and `payload`; where it is not true, the hook is not asked. @default
   * always asked
   */
  readonly when?: string | ScriptText;
  /** Defines `handle(event, payload)`. */
  readonly script: string | ScriptText;
  /** Where it stands, for places in errors. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** What its file asks of the built-ins. The layer gives no more than its own `grants`. */
  readonly grants?: FileGrants;
}

/** A hook that is ready to be asked. */
export interface Hook {
  readonly name: string;
  readonly event: string;
  readonly priority: number;
  readonly when: ScriptText | null;
  readonly script: ScriptText;
  readonly grants: FileGrants;
}

const isScript = (value: unknown): boolean =>
  typeof value === 'string' ||
  (expected.object.test(value) && typeof (value as Partial<ScriptText>).source === 'string');

const script: Expectation = { text: 'a script', test: isScript };

const EVENT =
  /^(?:(?:session|turn|tool|completion|delegate|delegation|agent)\.[a-z_]+|error|(?:custom|meta)\.\S+)$/;

const HOOK_EXPECTED: Readonly<Record<keyof HookDefinition, Expectation>> = {
  kind: expected.oneOf('hook'),
  name: expected.required(expected.string),
  event: expected.required({
    text: 'an event such as "tool.pre"',
    test: (value) =>
      typeof value === 'string' &&
      EVENT.test(value) &&
      (!value.startsWith('tool.') || isToolEvent(value)),
  }),
  priority: { text: 'a number', test: Number.isFinite, numeric: true },
  when: script,
  script: expected.required(script),
  file: { text: 'the name of a file', test: (value) => typeof value === 'string' },
  line: expected.integer(0),
  column: expected.integer(0),
  grants: expected.object,
};

// The layer fires two events of tools; a hook on any other one would guard nothing.
const isToolEvent = (event: string): boolean => event === 'tool.pre' || event === 'tool.post';

/** Throws `ERR_INVALID_OPTION` for what is no list of hooks. */
export function checkHooks(hooks: readonly HookDefinition[]): void {
  for (const hook of hooks) checkOptions(`hooks: hook ${nameOf(hook)}`, hook, HOOK_EXPECTED);
}

const nameOf = (hook: unknown): string => {
  const { name } = (expected.object.test(hook) ? hook : {}) as Partial<HookDefinition>;
  return typeof name === 'string' ? `"${name}"` : '?';
};

/** Lowest priority first, and among equals as they were given: sorting is stable. */
export function orderedHooks(hooks: readonly HookDefinition[]): readonly Hook[] {
  return hooks.map(readHook).sort((one, other) => one.priority - other.priority);
}

function readHook({
  name,
  event,
  priority = 0,
  when,
  script: text,
  file = `${name}.md`,
  grants = {},
}: HookDefinition): Hook {
  const scripts = {
    when: when === undefined ? null : textOf(when, file),
    script: textOf(text, file),
  };
  return Object.freeze({ name, event, priority, ...scripts, grants });
}

const textOf = (text: string | ScriptText, file: string): ScriptText =>
  typeof text === 'string' ? { source: text, file, firstLine: 1, firstColumn: 1 } : text;
