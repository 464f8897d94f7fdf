/** The tools of a scenario: real ones, whose answers are scripted. */

import {
  type Clock,
  defineTool,
  type JsonObject,
  type JsonValue,
  type Tool,
  type ToolContext,
} from '../../src/index.ts';
import { isList, isRecord, textOf } from './json-parts.ts';
import type { ScenarioTool } from './scenario.ts';
import { actOut, createScript, type Script, type ScriptLog } from './scripts.ts';

/** Tools and their scripts. */
export interface ScenarioTools {
  readonly tools: readonly Tool[];
  reportUnused(): void;
}

const ECHO: ScenarioTool = Object.freeze({ name: 'echo' });

/** Makes the tools of a scenario. What reaches them is written to `received`. */
export function scenarioTools(
  given: readonly ScenarioTool[] = [ECHO],
  clock: Clock,
  log: ScriptLog,
  received: JsonObject[],
): ScenarioTools {
  const scripts: { readonly name: string; readonly script: Script }[] = [];
  const tools = given.map((tool) => {
    const {
      script,
      answers = 'echo',
      proposes,
      description = 'Answers as it is told to.',
      inputSchema = { type: 'object' },
      ...rest
    } = tool;
    const scripted = Array.isArray(script) ? createScript(`tool ${tool.name}`, script, log) : null;
    if (scripted !== null) scripts.push({ name: tool.name, script: scripted });
    const execute = async (
      args: Readonly<Record<string, unknown>>,
      context: ToolContext,
    ): Promise<unknown> => {
      received.push({ tool: tool.name, args: shown(args), call_id: context.callId });
      return actOut(scripted === null ? answers : scripted.next(), args, context, clock);
    };
    // `defineTool` looks at everything itself, and says what is wrong with it.
    const proposing =
      proposes === undefined
        ? {}
        : { proposedRequests: (args: object) => proposalsFrom(proposes, args as JsonObject) };
    return defineTool({
      ...rest,
      ...proposing,
      description,
      inputSchema,
      execute,
    } as unknown as Parameters<typeof defineTool>[0]);
  });
  return {
    tools,
    reportUnused() {
      for (const { name, script } of scripts)
        if (script.left > 0)
          log.unused.push(`tool ${name}: ${script.left} scripted answers were not asked for`);
    },
  };
}

/**
 * What a tool says it is about to do, whatever that is: `{ $arg: name }` stands for an argument,
 * and `{ throw: text }` throws.
 */
function proposalsFrom(proposes: JsonValue, args: JsonObject): JsonValue {
  if (isRecord(proposes) && proposes.throw !== undefined) throw new Error(textOf(proposes.throw));
  if (isRecord(proposes) && typeof proposes.$arg === 'string') return args[proposes.$arg] ?? null;
  if (isList(proposes)) return proposes.map((item) => proposalsFrom(item, args));
  if (!isRecord(proposes)) return proposes;
  return Object.fromEntries(
    Object.entries(proposes).map(([name, value]) => [name, proposalsFrom(value, args)]),
  );
}

/** Hidden arguments may be anything; what is no JSON is shown by its kind. */
const shown = (args: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, asJson(value)]));

function asJson(value: unknown): JsonValue {
  if (value instanceof AbortSignal) return '[signal]';
  if (typeof value === 'function') return '[function]';
  // What `JSON.stringify` leaves out becomes null, and everything else is JSON by then.
  return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue;
}
