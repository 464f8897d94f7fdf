/**
 * Where hooks come from, and the engine that runs them: both are loaded when the first call needs
 * them.
 */

import type {
  BuiltinGrants,
  HookEffect,
  HostTree,
  ScriptPool,
  ScriptRequest,
  ScriptText,
} from '../artifacts/index.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { checkHooks, type Hook, type HookDefinition, orderedHooks } from './hook.ts';

/**
 * Built-ins that act. The engine has the same list, but loading the engine for it would cost every
 * program that only imports the layers.
 */
export const HOOKED_EFFECTS = Object.freeze([
  'exec.run',
  'fs.write',
] as const satisfies readonly HookEffect[]);

/** Where hooks and their engine come from; `null` for none. */
export interface HookSourceOptions {
  readonly hooks: readonly HookDefinition[];
  readonly dir: string | null;
  readonly pool: ScriptPool | null;
  readonly grants: BuiltinGrants;
  readonly effects: readonly HookEffect[];
  readonly deadlineMs: number;
}

/** Hooks that can be asked. */
export interface HookSource {
  /** Rejects where the files of a folder cannot be read as hooks. */
  hooksFor(event: string): Promise<readonly Hook[]>;
  readonly use: ScriptUse;
}

/** Loads nothing yet. Throws `ERR_INVALID_OPTION` for what is no list of hooks. */
export function hookSource(options: HookSourceOptions): HookSource {
  const { dir, pool } = options;
  checkHooks(options.hooks);
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
const loadEngine = () => import('../artifacts/index.ts');

async function hooksIn(dir: string): Promise<readonly HookDefinition[]> {
  const { loadArtifacts } = await loadEngine();
  const loaded = await loadArtifacts(dir);
  await loaded.close();
  return loaded.hooks;
}

async function builtinsFrom({ dir, grants, effects }: HookSourceOptions): Promise<BuiltinsFor> {
  const { hookBuiltins } = await loadEngine();
  const bind = hookBuiltins({ root: dir, grants, effects });
  return (hook, { signal, record, call }) =>
    bind(hook, { signal, call, record: (use) => record({ ...use }) });
}

/** How the scripts of hooks are run. */
export interface ScriptUse {
  /** The value of an expression over these names. It reaches nothing of the host. */
  evaluate(
    expression: ScriptText,
    names: Readonly<Record<string, JsonValue>>,
    signal: AbortSignal,
  ): Promise<JsonValue>;
  /** What `handle` answers. */
  handle(hook: Hook, args: readonly JsonValue[], asked: Asked): Promise<JsonValue>;
  close(): Promise<void>;
}

/** One hook that is being asked. */
interface Asked {
  readonly signal: AbortSignal;
  /** Told which built-ins the script used. */
  readonly record: (use: JsonObject) => void;
  /** What it is asked about, where that is a call. */
  readonly call: ToolCall | undefined;
}

/** What a script of a hook finds beside the language. */
type BuiltinsFor = (hook: Hook, asked: Asked) => Readonly<Record<string, HostTree>>;

interface ScriptUseOptions {
  readonly pool: () => Promise<ScriptPool>;
  readonly builtins: () => Promise<BuiltinsFor>;
  readonly deadlineMs: number;
}

const LIBRARIES = ['json', 're', 'string', 'hash'] as const;

function scriptUse({ pool, builtins, deadlineMs }: ScriptUseOptions): Omit<ScriptUse, 'close'> {
  const run = async (
    { source, ...place }: ScriptText,
    rest: Pick<ScriptRequest, 'entry' | 'predeclared' | 'signal' | 'owner'>,
  ) =>
    (await (await pool()).run({ source, ...place, libraries: LIBRARIES, deadlineMs, ...rest }))
      .value;
  return {
    evaluate: (expression, names, signal) =>
      run(expression, { entry: { expression: expression.source, names }, signal }),
    handle: async (hook, args, asked) =>
      run(hook.script, {
        entry: { call: 'handle', args },
        predeclared: (await builtins())(hook, asked),
        signal: asked.signal,
        owner: asked.call?.turn.sessionId ?? '',
      }),
  };
}
