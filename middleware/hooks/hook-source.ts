/** Where hooks come from, and the engine that runs them: both are loaded when the first call needs them. */

import { type Hook, type HookDefinition, orderedHooks } from './hook.ts';
import { type BuiltinsFor, type ScriptUse, scriptUse } from './script-use.ts';
import type { BuiltinGrants, ScriptPool } from './seam.ts';

/** Built-ins that a hook gets only where its host names them: a hook is there to decide, and not to act. */
export const EFFECTS = Object.freeze(['exec.run', 'fs.write'] as const);
export type HookEffect = (typeof EFFECTS)[number];

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
  const all = lazily(async () => orderedHooks(dir === null ? options.hooks : [...(await hooksIn(dir)), ...options.hooks]));
  const builtins = lazily(async () => builtinsFrom(options));
  const use = scriptUse({ pool: async () => pool ?? own.get(), builtins: builtins.get, deadlineMs: options.deadlineMs });
  return {
    hooksFor: async (event) => (await all.get()).filter((hook) => hook.event === event),
    use: { ...use, close: async () => own.started?.then((made) => made.close()) },
  };
}

/** A pool that was not needed is not made. One that could not be made is tried again. */
function lazily<T>(make: () => Promise<T>): { get: () => Promise<T>; readonly started: Promise<T> | null } {
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

const loadEngine = (): Promise<ScriptEngine> => import(ENGINE) as Promise<ScriptEngine>;
const ENGINE = '../../src/artifacts/index.ts';

async function hooksIn(dir: string): Promise<readonly HookDefinition[]> {
  const { loadArtifacts } = await loadEngine();
  const loaded = await loadArtifacts(dir);
  await loaded.close();
  return loaded.hooks;
}

async function builtinsFrom(_options: SourceOptions): Promise<BuiltinsFor> {
  return () => ({});
}

interface ScriptEngine {
  createScriptPool(): ScriptPool;
  loadArtifacts(dir: string): Promise<{ readonly hooks: readonly HookDefinition[]; close(): Promise<void> }>;
}
