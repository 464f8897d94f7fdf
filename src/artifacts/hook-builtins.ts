/** What the scripts of hooks find beside the language: what tools find, less what acts. */

import type { ToolCall } from '../core/contract/call.ts';
import type { ProposedRequest } from '../permissions/permission.ts';
import { refusalOfLate } from '../permissions/preflight.ts';
import type { FileGrants } from './artifact.ts';
import type { BuiltinGrants, BuiltinRecord } from './builtins/builtin-use.ts';
import { builtinsFor } from './builtins/builtins-for.ts';
import { createScriptCaches } from './builtins/script-cache.ts';
import { effectiveGrants } from './effective-grants.ts';
import { HostError, type HostTree } from './sandbox/host-function.ts';

/** Built-ins that act: a hook gets them only where its host names them. */
export const HOOK_EFFECTS = Object.freeze(['exec.run', 'fs.write'] as const);
export type HookEffect = (typeof HOOK_EFFECTS)[number];

export interface HookBuiltinsOptions {
  /**
   * The project the hooks come from. Without it, and without a workspace in `grants`, files are out
   * of reach.
   */
  readonly root: string | null;
  /** The most that scripts may use. */
  readonly grants: BuiltinGrants;
  readonly effects: readonly HookEffect[];
}

export type HookBuiltins = (
  hook: { readonly name: string; readonly grants: FileGrants },
  use: {
    readonly signal: AbortSignal;
    readonly record: (use: BuiltinRecord) => void;
    /** The call the hook is asked about: what was laid down for it holds for the hook too. */
    readonly call?: ToolCall | undefined;
  },
) => Readonly<Record<string, HostTree>>;

/**
 * Built-ins for hooks, bound to one run of a script each. They are held to the grants, and to the
 * permissions that layers outside have laid down for the call; an event that a host fires itself
 * belongs to no call. Nested calls, tasks and registration are not there, and what a hook logs goes
 * nowhere.
 */
export function hookBuiltins({ root, grants, effects }: HookBuiltinsOptions): HookBuiltins {
  const caches = createScriptCaches();
  return (hook, { signal, record, call }) => {
    const { workspace, ...rest } = effectiveGrants(root ?? '.', hook.grants, grants);
    const isPlaced = root !== null || grants.workspace !== undefined;
    const allowed = isPlaced && workspace !== undefined ? { ...rest, workspace } : rest;
    const cache = caches.for(hook.name);
    const ask = (request: ProposedRequest) => permitted(call, request);
    const tree = builtinsFor(
      { ...allowed, meta: false },
      { signal, record, cache, ask, log: () => {} },
    );
    return withoutEffects(tree, effects);
  };
}

async function permitted(call: ToolCall | undefined, request: ProposedRequest): Promise<void> {
  const refusal = call === undefined ? null : await refusalOfLate(call, request);
  if (refusal !== null) throw new HostError(refusal);
}

function withoutEffects(
  tree: Readonly<Record<string, HostTree>>,
  effects: readonly HookEffect[],
): Readonly<Record<string, HostTree>> {
  const left: Record<string, HostTree> = { ...tree };
  for (const effect of HOOK_EFFECTS) {
    const [group, name] = effect.split('.') as [string, string]; // Each of them has two parts.
    if (!effects.includes(effect))
      left[group] = { ...(left[group] as Record<string, HostTree>), [name]: refused(effect) };
  }
  return left;
}

const refused =
  (effect: string): HostTree =>
  () =>
    Promise.reject(
      new HostError(`${effect}: a hook may not do this unless its host names it in "effects"`),
    );
