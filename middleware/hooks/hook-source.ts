/** Where hooks come from, and the engine that runs them: both are loaded when the first call needs them. */

import { type Hook, type HookDefinition, orderedHooks } from './hook.ts';
import { type BuiltinsFor, type ScriptUse, scriptUse } from './script-use.ts';
import type { BuiltinGrants, HookEffect, ScriptPool } from '../../src/artifacts/index.ts';

/** The engine has the same list, which is not to be loaded for it. */
export const EFFECTS = Object.freeze([
  'exec.run',
  'fs.write',
] as const satisfies readonly HookEffect[]);

export interface SourceOptions {
  readonly hooks: readonly HookDefinition[];
  readonly dir: string | null;
  readonly pool: ScriptPool | null;
  readonly grants: BuiltinGrants;
  readonly effects: readonly HookEffect[];
  readonly deadlineMs: number;
}

export interface HookSource {
  /** Rejects where the files of a folder cannot be read as hooks. */
  hooksFor(event: string): Promise<readonly Hook[]>;
  readonly use: ScriptUse;
}

export function hookSource(options: SourceOptions): HookSource {
  const { dir, pool } = options;
  const own = lazily(async () => (await loadEngine()).createScriptPool());
  const all = lazily(async () =>
    orderedHooks(dir === null ? options.hooks : [...(await hooksIn(dir)), ...options.hooks]),
  );
  const builtins = lazily(async () => builtinsFrom(options));
  const use = scriptUse({
    pool: async () => pool ?? own.get(),
    builtins: builtins.get,
    deadlineMs: options.deadlineMs,
  });
  return {
    hooksFor: async (event) => (await all.get()).filter((hook) => hook.event === event),
    use: { ...use, close: async () => own.started?.then((made) => made.close()) },
  };
}

/** A pool that was not needed is not made. One that could not be made is tried again. */
function lazily<T>(make: () => Promise<T>): {
  get: () => Promise<T>;
  readonly started: Promise<T> | null;
} {
  let started: Promise<T> | null = null;
  return {
    get: () => {
      started ??= make().catch((thrown: unknown) => {
        started = null;
        throw thrown;
      });
      return started;
    },
    get started() {
      return started;
    },
  };
}

/** With the first script, and not before: the engine brings YAML and worker threads along. */
const loadEngine = () => import('../../src/artifacts/index.ts');

async function hooksIn(dir: string): Promise<readonly HookDefinition[]> {
  const { loadArtifacts } = await loadEngine();
  const loaded = await loadArtifacts(dir);
  await loaded.close();
  return loaded.hooks;
}

async function builtinsFrom({ dir, grants, effects }: SourceOptions): Promise<BuiltinsFor> {
  const { hookBuiltins } = await loadEngine();
  const bind = hookBuiltins({ root: dir, grants, effects });
  return (hook, { signal, record, call }) =>
    bind(hook, { signal, call, record: (use) => record({ ...use }) });
}
