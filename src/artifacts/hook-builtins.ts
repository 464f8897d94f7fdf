/**
 * What a script may use: what its file asks for, as far as the host lets it; and what the scripts
 * of hooks find of it: what tools find, less what acts.
 */

import { resolve } from 'node:path';
import type { ToolCall } from '../core/contract/call.ts';
import type { ProposedRequest } from '../permissions/permission.ts';
import { refusalOfLate } from '../permissions/preflight.ts';
import type { FileGrants } from './artifact.ts';
import type { BuiltinGrants, BuiltinRecord } from './builtins/builtin-use.ts';
import { builtinsFor } from './builtins/builtins-for.ts';
import { createScriptCaches } from './builtins/script-cache.ts';
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

/**
 * A host that says nothing about a grant leaves it to the file, except for the right to register
 * tools and hooks, which no file gives itself. What a host says is the most there is. A file's
 * workspace is a folder of the project, and the whole of it where it names none: the way there is
 * walked like every other, because a link on it is nothing that the host has named.
 */
export function effectiveGrants(
  root: string,
  file: FileGrants,
  host: BuiltinGrants = {},
): BuiltinGrants {
  const { allowedDomains, allowedPorts, env, shell = false, meta = false, maxOutputBytes } = file;
  const bytes = Math.min(maxOutputBytes ?? Infinity, host.maxOutputBytes ?? Infinity);
  return {
    ...host,
    workspace: resolve(host.workspace ?? root),
    folder: file.workspace ?? '.',
    allowedDomains: narrowed(allowedDomains ?? [], host.allowedDomains),
    ...(allowedPorts === undefined && host.allowedPorts === undefined
      ? {}
      : { allowedPorts: both(allowedPorts, host.allowedPorts) }),
    env: both(env ?? [], host.env),
    shell: shell && host.shell !== false,
    meta: meta && host.meta === true,
    ...(Number.isFinite(bytes) ? { maxOutputBytes: bytes } : {}),
  };
}

function both<T>(file: readonly T[] | undefined, host: readonly T[] | undefined): readonly T[] {
  if (file === undefined) return host ?? [];
  return host === undefined ? file : file.filter((item) => host.includes(item));
}

/** A name stands for all below it, so what is narrower on either side is what both allow. */
function narrowed(file: readonly string[], host: readonly string[] | undefined): readonly string[] {
  if (host === undefined) return file;
  const lies = (name: string, within: string): boolean =>
    within === '*' || name === within || name.endsWith(`.${within}`);
  const kept = [
    ...file.filter((name) => host.some((other) => lies(name.toLowerCase(), other.toLowerCase()))),
    ...host.filter((name) => file.some((other) => lies(name.toLowerCase(), other.toLowerCase()))),
  ];
  return [...new Set(kept)];
}
