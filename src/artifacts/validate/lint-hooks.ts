/** Advice for people who write hooks: what keeps a guard from guarding. */

import { isObject } from '../../core/json/json.ts';
import type { ArtifactProblem, HookArtifact } from '../artifact.ts';
import { HOOK_EVENTS } from '../load/read-hook.ts';
import type { Statement } from '../../starlark/ast.ts';
import { statementsOf } from './check-scripts.ts';
import type { LINT_RULES } from './lint-tools.ts';

/** Those of the `hooks` layer. All others are for hosts with `fireHooks`. */
const FIRED: readonly string[] = ['tool.pre', 'tool.post'];

/** Warnings about one hook. */
export function lintHook(hook: HookArtifact): readonly ArtifactProblem[] {
  const { file, line, column, name } = hook;
  const advice = (rule: keyof typeof LINT_RULES, message: string): ArtifactProblem => ({
    ...{ file, line, column, severity: 'warning', rule, message: `hook "${name}" ${message}` },
  });
  const unfired = unfiredText(hook.event);
  return [
    ...(unfired === null ? [] : [advice('fired-event', unfired)]),
    ...(isMute(hook) ? [advice('has-verdict', MUTE)] : []),
  ];
}

/**
 * What is said of a hook that nothing in allium asks, or `null`. The events `custom.<name>` and
 * `meta.<name>` are named after whoever fires them.
 */
export const unfiredText = (event: string): string | null =>
  HOOK_EVENTS.includes(event) && !FIRED.includes(event)
    ? `is for ${event}, which nothing in allium fires: it blocks nothing unless a program asks it with fireHooks`
    : null;

const MUTE =
  'returns nothing from handle, which counts as a block: return allow(), block(reason) or modify(payload)';

/** Only where `handle` is a `def` without any `return` of a value: no path has a verdict. */
function isMute({ script }: HookArtifact): boolean {
  const handle = (statementsOf(script) ?? [])
    .flatMap((statement) =>
      statement.kind === 'def' && statement.name.name === 'handle' ? [statement] : [],
    )
    .at(-1);
  return handle !== undefined && !returnsValue(handle.definition.body);
}

/** Not looking into functions inside of it. */
function returnsValue(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(returnsValue);
  if (!isObject(node)) return false;
  // Nodes are told apart by their kind; nothing else in a tree has one of these.
  const statement = node as unknown as Statement;
  if (statement.kind === 'return') return statement.value !== null;
  return statement.kind !== 'def' && Object.values(node).some(returnsValue);
}
