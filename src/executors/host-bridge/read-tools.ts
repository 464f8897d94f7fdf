/** The tools a host offers. What cannot be used is left out, and said. */

import type { JsonObject } from '../../core/json/json-value.ts';
import { describeThrown, isAlliumError, oneLine } from '../../core/contract/errors.ts';
import { isObject, snapshot } from '../../core/json/json.ts';
import { fromWire } from '../../core/wire/wire.ts';
import { defineTool, type ToolDefinition } from '../../tools/define-tool.ts';
import type { SchemaLiteral } from '../../tools/infer-args.ts';
import { checkToolName, type NamePolicy } from '../../tools/names.ts';
import { describeProblems, validateJson } from '../../tools/schema/validator.ts';
import type { Tool } from '../../tools/tool.ts';
import { TOOL_SCHEMA } from './protocol.ts';
import { words } from '../../system/words.ts';

/** A definition that was left out. */
export interface RefusedTool {
  /** As much of it as can be shown; the place in the list for one without a name. */
  readonly name: string;
  readonly reason: string;
}

interface ReadTools {
  readonly tools: readonly Tool[];
  readonly refused: readonly RefusedTool[];
}

/** Checking a schema takes time, and a model cannot choose among more. */
const MAX_TOOLS = 1_000;

/**
 * `executeAs` runs a tool under the name that the host gave it, whatever a registry may call it
 * later.
 */
export function readTools(
  listed: readonly unknown[],
  names: NamePolicy,
  executeAs: (name: string) => NonNullable<Tool['execute']>,
): ReadTools {
  const tools = new Map<string, Tool>();
  const refused: RefusedTool[] = [];
  for (const [index, given] of listed.slice(0, MAX_TOOLS).entries()) {
    const read = readTool(given, names, executeAs);
    if (typeof read === 'string') refused.push({ name: shownName(given, index), reason: read });
    else if (tools.has(read.name))
      refused.push({ name: read.name, reason: 'a tool of that name comes before it' });
    else tools.set(read.name, read);
  }
  const rest = listed.length - MAX_TOOLS;
  if (rest > 0)
    refused.push({ name: `${rest} more`, reason: `a host may have ${MAX_TOOLS} tools` });
  return {
    tools: [...tools.values()],
    refused: Object.freeze(refused.map((one) => Object.freeze(one))),
  };
}

function shownName(given: unknown, index: number): string {
  return isObject(given) && typeof given.name === 'string' && given.name !== ''
    ? oneLine(given.name)
    : `tools[${index}]`;
}

const KEPT = words(`
  name description input_schema output_schema annotations timeout_ms metadata
`);

/** The tool, or why it is none. */
function readTool(
  given: unknown,
  names: NamePolicy,
  executeAs: (name: string) => NonNullable<Tool['execute']>,
): Tool | string {
  try {
    const kept = snapshot(isObject(given) ? membersOf(given, KEPT) : given);
    const problems = validateJson(TOOL_SCHEMA, kept);
    if (problems.length > 0) return oneLine(describeProblems(problems));
    // The schema has just said so.
    const { annotations, ...rest } = kept as { readonly annotations?: JsonObject } & JsonObject;
    const fields = fromWire({
      ...rest,
      ...(annotations === undefined ? {} : { annotations: knownHints(annotations) }),
    });
    const name = checkToolName(fields.name, names);
    // What came over a wire has no types; `defineTool` checks what is left to check.
    return defineTool({
      ...fields,
      executor: 'host_bridge',
      execute: executeAs(name),
    } as unknown as ToolDefinition<SchemaLiteral>);
  } catch (thrown) {
    return isAlliumError(thrown) ? oneLine(thrown.message) : describeThrown(thrown);
  }
}

const HINTS = words(`
  title kind read_only destructive idempotent open_world needs_approval supports_streaming
`);
const SAFETY = words(`
  filesystem process network payment requires_confirmation allowed_roots redaction
`);

/** Members that the protocol does not know are not passed on: nobody has checked what they hold. */
function knownHints({ safety, ...hints }: JsonObject): JsonObject {
  const known = membersOf(hints, [...HINTS, 'side_effect_level', 'capabilities']);
  return isObject(safety) ? { ...known, safety: membersOf(safety, SAFETY) } : known;
}

function membersOf<T>(
  value: Readonly<Record<string, T>>,
  names: readonly string[],
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}
