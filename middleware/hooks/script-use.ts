/** How the scripts of hooks are run, and what they can reach. The engine is loaded with the first of them. */

import type { JsonObject, JsonValue, ToolCall } from '../../src/index.ts';
import type { Hook } from './hook.ts';
import type { HostTree, ScriptPool, ScriptRequest, ScriptText } from '../../src/artifacts/index.ts';

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
export interface Asked {
  readonly signal: AbortSignal;
  /** Told which built-ins the script used. */
  readonly record: (use: JsonObject) => void;
  /** What it is asked about, where that is a call. */
  readonly call: ToolCall | undefined;
}

/** What a script of a hook finds beside the language. */
export type BuiltinsFor = (hook: Hook, asked: Asked) => Readonly<Record<string, HostTree>>;

export interface ScriptUseOptions {
  readonly pool: () => Promise<ScriptPool>;
  readonly builtins: () => Promise<BuiltinsFor>;
  readonly deadlineMs: number;
}

const LIBRARIES = ['json', 're', 'string', 'hash'] as const;

export function scriptUse({
  pool,
  builtins,
  deadlineMs,
}: ScriptUseOptions): Omit<ScriptUse, 'close'> {
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
