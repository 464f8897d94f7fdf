/** A tool whose work is a script: run in the pool, with the built-ins that the file was granted. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { type AlliumError, isAlliumError, oneLine } from '../core/contract/errors.ts';
import { hashCanonical } from '../core/json/hash-canonical.ts';
import { isObject, snapshotObject } from '../core/json/json.ts';
import { noteUse, refusalWhileRunning } from '../dispatch/run/under-way.ts';
import { defineTool } from '../tools/define-tool.ts';
import { type Tool, type ToolContext, toolFailure, toolOutput } from '../tools/tool.ts';
import type { ScriptText, ToolArtifact } from './artifact.ts';
import type { BuiltinGrants, BuiltinUse, ScriptCache } from './builtins/builtin-use.ts';
import { builtinsFor } from './builtins/builtins-for.ts';
import { HostError } from './sandbox/host-function.ts';
import type { ScriptPool } from './sandbox/script-pool.ts';
import { scriptTasks } from './tasks/task-tools.ts';
import type { TaskBoard } from './tasks/task-board.ts';

/** A function of the host for a tool that has no script. Gets what `execute` of any tool gets. */
export type ArtifactHandler = (args: JsonObject, context: ToolContext) => unknown;

interface ScriptToolParts {
  readonly pool: ScriptPool;
  /** What the script may use, after the host had its say. */
  readonly grants: BuiltinGrants;
  readonly cache: ScriptCache;
  /** More of what a call's built-ins turn to. */
  readonly use?: Pick<BuiltinUse, 'register'>;
  /** Answers `task.poll` and `task.await`, for the session of the call. */
  readonly tasks?: TaskBoard;
}

const LIBRARIES = ['json', 're', 'string', 'hash'] as const;

/**
 * The tool of a file: its script, or else a handler of the host's. One with neither answers that
 * nothing carries it out.
 */
export function toolFrom(
  artifact: ToolArtifact,
  parts: ScriptToolParts,
  handler?: ArtifactHandler,
): Tool {
  const { name, description, inputSchema, annotations, timeoutMs, script } = artifact;
  const run: ArtifactHandler =
    script === undefined
      ? (handler ?? unbound(name))
      : (args, context) => runScript(name, script, args, context, parts);
  return defineTool({
    name,
    description,
    inputSchema,
    annotations,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    // The file is the tool: an approval does not cover a script, or rights of it, that were written
    // after it was given.
    ...(script === undefined
      ? {}
      : {
          metadata: {
            script: hashCanonical(snapshotObject({ source: script.source, grants: parts.grants })),
          },
        }),
    // Arguments were held to the schema, which admits JSON only.
    execute: (args, context) => run(args as JsonObject, context),
  });
}

const unbound =
  (name: string): ArtifactHandler =>
  () => {
    throw toolFailure(`tool "${name}" has no script handler`, {
      category: 'unbound',
      errorClass: 'fatal',
      executed: 'no',
    });
  };

async function runScript(
  name: string,
  script: ScriptText,
  args: JsonObject,
  context: ToolContext,
  parts: ScriptToolParts,
): Promise<unknown> {
  const { logger, signal } = context;
  try {
    const { value } = await parts.pool.run({
      ...script,
      entry: { call: 'run', args: [args] },
      predeclared: builtinsFor(parts.grants, useFor(name, context, parts)),
      libraries: LIBRARIES,
      owner: context.turn.sessionId,
      signal,
      onPrint: (text) => logger.info({ tool: name, callId: context.callId }, text),
    });
    return answerFrom(value);
  } catch (thrown) {
    if (!isAlliumError(thrown, 'ERR_STARLARK')) throw thrown;
    return failed(name, thrown, context);
  }
}

/**
 * A dict whose `error` is a text is the script's own word that it failed. Everything else is the
 * result.
 */
function answerFrom(value: JsonValue): unknown {
  return isObject(value) && typeof value.error === 'string'
    ? errorOutput(value.error, value)
    : value;
}

const errorOutput = (text: string, value?: JsonObject): unknown =>
  toolOutput({
    content: [{ type: 'text', text }],
    isError: true,
    ...(value === undefined ? {} : { structuredContent: value }),
  });

const BUSY =
  'Too many scripts wait to be run, so this one did not run. Try again when others have ended.';

/** The model reads one line; where it happened is for whoever wrote the script. */
function failed(
  name: string,
  error: AlliumError,
  { logger, callId, signal }: ToolContext,
): unknown {
  const { kind = 'eval', line, column, traceback = [] } = error.details;
  if (signal.aborted) throw error;
  logger.warn(
    { tool: name, callId, kind, line, column, traceback },
    `script of ${name}: ${oneLine(error.message)}`,
  );
  if (kind === 'fail') return errorOutput(error.message.replace(/^fail: /, ''));
  if (kind === 'busy')
    throw toolFailure(BUSY, { category: 'script_busy', errorClass: 'retryable', executed: 'no' });
  const where = line === undefined ? '' : ` (line ${line})`;
  throw toolFailure(`The script of ${name} failed${where}: ${oneLine(error.message)}`, {
    category: `script_${kind}`,
  });
}

function useFor(
  name: string,
  context: ToolContext,
  { cache, use, tasks }: ScriptToolParts,
): BuiltinUse {
  const { callId, logger, signal, call, turn } = context;
  return {
    signal,
    cache,
    call: (request) => call(request),
    ...use,
    ...(tasks === undefined ? {} : { tasks: scriptTasks(tasks, turn.sessionId) }),
    async ask(request) {
      const refusal = await refusalWhileRunning(context, request);
      if (refusal !== null) throw new HostError(refusal);
    },
    record: ({ builtin, outcome, durationMs }) =>
      noteUse(context, { builtin, outcome, durationMs }),
    log: (level, text) => logger[level]({ tool: name, callId }, text),
  };
}
