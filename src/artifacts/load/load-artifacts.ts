/** `loadArtifacts`: the tools and hooks of a project's Markdown files. */

import { AlliumError } from '../../core/contract/errors.ts';
import { closest } from '../../core/contract/closest.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { createRegistry, type Registry } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ArtifactProblem, HookArtifact, ToolArtifact } from '../artifact.ts';
import type { BuiltinGrants, BuiltinUse } from '../builtins/builtin-use.ts';
import { createScriptCaches } from '../builtins/script-cache.ts';
import { effectiveGrants } from '../hook-builtins.ts';
import { createScriptPool, type ScriptPool } from '../sandbox/script-pool.ts';
import { type ArtifactHandler, toolFrom } from '../script-tool.ts';
import { asyncTool } from '../tasks/async-tool.ts';
import { createTaskBoard, type TaskBoard } from '../tasks/task-board.ts';
import { taskTools } from '../tasks/task-tools.ts';
import { errorsOf, inOrder } from '../validate/validate-artifacts.ts';
import { type Collected, collectArtifacts, invalidArtifacts } from './collect-artifacts.ts';

export interface LoadArtifactsOptions {
  /** Functions for the tools that have no script, by name. */
  readonly handlers?: Readonly<Record<string, ArtifactHandler>>;
  /**
   * Takes files of the format's ancestor: unknown keys are warnings, delimiters may have more
   * behind them. @default false
   */
  readonly lenient?: boolean;
  /**
   * Where scripts run. One that is given is not closed. @default a pool of its own, made with the
   * first script
   */
  readonly pool?: ScriptPool;
  /**
   * The most that scripts may use of the built-ins. @default what each file asks for, without
   * `meta`
   */
  readonly grants?: BuiltinGrants;
  /**
   * Takes what a script registers with `meta.tool_register` and `meta.hook_register`, where
   * `grants.meta` and the file allow it. What becomes of it is the host's affair: nothing is added
   * to these tools. @default none: registering is refused
   */
  readonly register?: NonNullable<BuiltinUse['register']>;
  /**
   * Runs the tools that say `async`, and stops them when it is closed. @default a board of its own,
   * in memory
   */
  readonly tasks?: TaskBoard;
}

/** What a project came to. Nothing runs until a tool is called. */
export interface LoadedArtifacts {
  readonly tools: Registry;
  /** In the order of the files; the `hooks` layer puts them into theirs. */
  readonly hooks: readonly HookArtifact[];
  /** What the files say about their tools, for a model's context. */
  readonly context: string;
  /** Warnings. Errors are thrown. */
  readonly problems: readonly ArtifactProblem[];
  /** Ends what scripts still run, unless the pool is the host's. */
  close(): Promise<void>;
}

const EXPECTED = {
  handlers: expected.mapOf(expected.function),
  lenient: expected.boolean,
  pool: expected.object,
  grants: expected.object,
  register: expected.function,
  tasks: expected.object,
};

/**
 * Reads the files below `dir`, the root of a project. Throws one `ERR_INVALID_ARTIFACT` with a line
 * for everything that is wrong: a project loads as a whole or not at all, because a guard that is
 * left out guards nothing. It runs nothing of what the files hold.
 */
export async function loadArtifacts(
  dir: string,
  options: LoadArtifactsOptions = {},
): Promise<LoadedArtifacts> {
  checkOptions('loadArtifacts', { dir }, { dir: expected.required(expected.string) });
  checkOptions('loadArtifacts', options, EXPECTED);
  const collected = await collectArtifacts(dir, options.lenient === true);
  const problems = inOrder(collected, errorsOf(collected));
  const { hooks } = collected;
  if (problems.some(({ severity }) => severity === 'error')) throw invalidArtifacts(problems, dir);
  checkHandlers(collected.tools, options.handlers ?? {});
  const { pool, close: closePool } = poolFor(options.pool);
  const board = options.tasks ?? createTaskBoard();
  const tools = createRegistry(toolsFrom(collected, options, pool, board), {
    names: options.lenient === true ? 'mcp' : 'portable',
  });
  return Object.freeze({
    tools,
    hooks: Object.freeze([...hooks]),
    context: contextOf(collected.tools),
    problems: Object.freeze([...problems]),
    async close() {
      if (options.tasks === undefined) await board.close();
      await closePool();
    },
  });
}

function toolsFrom(
  { tools, root }: Collected,
  { handlers = {}, grants, register }: LoadArtifactsOptions,
  pool: ScriptPool,
  board: TaskBoard,
): readonly Tool[] {
  const caches = createScriptCaches();
  const use = register === undefined ? {} : { register };
  const made = tools.map((artifact) => {
    const handler = Object.hasOwn(handlers, artifact.name) ? handlers[artifact.name] : undefined;
    const parts = {
      pool,
      grants: effectiveGrants(root, artifact.grants, grants),
      cache: caches.for(artifact.name),
      tasks: board,
      use,
    };
    const tool = toolFrom(artifact, parts, handler);
    return artifact.async ? asyncTool(tool, board) : tool;
  });
  // Whoever gets a task_id has to be able to ask after it.
  return tools.some((artifact) => artifact.async) ? [...made, ...taskTools(board)] : made;
}

/** A handler that nothing is bound to was meant for something. */
function checkHandlers(
  tools: readonly ToolArtifact[],
  handlers: Readonly<Record<string, ArtifactHandler>>,
): void {
  for (const name of Object.keys(handlers)) {
    const tool = tools.find((each) => each.name === name);
    const guess = closest(
      name,
      tools.map((each) => each.name),
    );
    const wrong =
      tool === undefined
        ? `no tool is called "${name}"${guess === undefined ? '' : `; did you mean "${guess}"?`}`
        : null;
    const message =
      wrong ?? (tool?.script === undefined ? null : `tool "${name}" has a script already`);
    if (message !== null)
      throw new AlliumError('ERR_INVALID_OPTION', `loadArtifacts: "handlers": ${message}`, {
        layer: 'loadArtifacts',
        option: 'handlers',
      });
  }
}

/** A pool that no script needed is never made. */
function poolFor(given: ScriptPool | undefined): {
  readonly pool: ScriptPool;
  readonly close: () => Promise<void>;
} {
  if (given !== undefined) return { pool: given, close: async () => {} };
  let own: ScriptPool | undefined;
  const get = (): ScriptPool => (own ??= createScriptPool());
  const pool: ScriptPool = {
    run: (request) => get().run(request),
    counts: () => get().counts(),
    close: async () => own?.close(),
  };
  return { pool, close: async () => own?.close() };
}

const contextOf = (tools: readonly ToolArtifact[]): string =>
  tools
    .filter(({ body }) => body !== '')
    .map(({ name, body }) => `## ${name}\n\n${body}\n`)
    .join('\n');
