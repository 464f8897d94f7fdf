/** What a server says about a tool, made a tool. All of it is the server's word: claims that policy may use, never proof. */

import { describeThrown, isAlliumError, oneLine } from '../../core/errors.ts';
import type { ToolAnnotations } from '../../core/annotations.ts';
import { hashCanonical } from '../../core/hash-canonical.ts';
import { isObject, type JsonObject, snapshotObject } from '../../core/json.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { checkToolName } from '../../tools/names.ts';
import { checkSchema } from '../../tools/schema/check-schema.ts';
import { proposeInvoke } from '../../tools/fixed-proposal.ts';
import type { Tool, ToolContext } from '../../tools/tool.ts';
import type { ReportProblem } from './problem.ts';

/** A definition as the server sent it, and its hash. */
export interface Definition {
  readonly name: string;
  readonly hash: string;
  readonly sent: JsonObject;
}

export type RunTool = (
  definition: Definition,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
) => Promise<unknown>;

export interface ReadSettings {
  readonly server: string;
  readonly onBadSchema: 'hide' | 'pass';
  readonly hints: 'take' | 'ignore';
  readonly run: RunTool;
  readonly report: ReportProblem;
}

/** Tools, and their definitions by name. What is no tool is reported and left out; of two with one name, the first stays. */
export function readTools(
  list: readonly unknown[],
  settings: ReadSettings,
): { tools: Tool[]; definitions: Map<string, Definition> } {
  const tools: Tool[] = [];
  const definitions = new Map<string, Definition>();
  for (const entry of list) {
    const read = readTool(entry, settings);
    if (read === null) continue;
    const { tool, definition } = read;
    if (definitions.has(tool.name))
      settings.report(
        'duplicate_name',
        'another tool has this name; the second was left out',
        tool.name,
      );
    else {
      tools.push(tool);
      definitions.set(tool.name, definition);
    }
  }
  return { tools, definitions };
}

function readTool(
  entry: unknown,
  settings: ReadSettings,
): { readonly tool: Tool; readonly definition: Definition } | null {
  const { report } = settings;
  const definition = definitionOf(entry, report);
  if (definition === null) return null;
  try {
    return { definition, tool: toolFrom(definition, schemasOf(definition, settings), settings) };
  } catch (thrown) {
    const kind = isAlliumError(thrown, 'ERR_SCHEMA_UNSUPPORTED') ? 'bad_schema' : 'bad_tool';
    report(kind, `the tool was left out: ${describeThrown(thrown)}`, definition.name);
    return null;
  }
}

function definitionOf(entry: unknown, report: ReportProblem): Definition | null {
  const name = isObject(entry) ? entry.name : undefined;
  try {
    checkToolName(name, 'mcp');
  } catch (thrown) {
    report(
      'bad_name',
      `a tool was left out: ${describeThrown(thrown)}`,
      typeof name === 'string' ? name : undefined,
    );
    return null;
  }
  try {
    const sent = snapshotObject(entry);
    // All of it: a title or an icon talks to people, too.
    return { name: String(name), hash: hashCanonical(sent), sent };
  } catch (thrown) {
    report('bad_tool', `the tool was left out: ${describeThrown(thrown)}`, String(name));
    return null;
  }
}

type Schemas = Pick<Tool, 'inputSchema' | 'outputSchema'>;

function schemasOf(
  { name, sent: { inputSchema, outputSchema } }: Definition,
  { onBadSchema, report }: ReadSettings,
): Schemas {
  try {
    const where = `tool "${name}"`;
    const input = checkSchema(inputSchema ?? { type: 'object' }, where, { objectRoot: true });
    return outputSchema === undefined
      ? { inputSchema: input }
      : { inputSchema: input, outputSchema: checkSchema(outputSchema, `output of ${where}`) };
  } catch (thrown) {
    if (onBadSchema === 'hide') throw thrown;
    report(
      'bad_schema',
      `the tool was taken without its schemas, so that nothing checks its arguments: ${describeThrown(thrown)}`,
      name,
    );
    return { inputSchema: { type: 'object' } };
  }
}

function toolFrom(
  definition: Definition,
  { inputSchema, outputSchema }: Schemas,
  { server, hints, run }: ReadSettings,
): Tool {
  const { name, sent } = definition;
  const { title, description, execution } = sent;
  return defineTool({
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: hints === 'take' ? annotationsFrom(sent) : {},
    executor: 'mcp_server',
    metadata: {
      mcp: {
        server,
        tool: name,
        // What `hints: 'ignore'` and the four parts of a spec leave out counts for approvals all the same.
        definition: definition.hash,
        ...(typeof title === 'string' ? { title: oneLine(title) } : {}),
        ...(isObject(execution) ? { execution } : {}),
      },
    },
    proposedRequests: proposeInvoke(server, name),
    // Checked against the schema before; its type is not known here.
    execute: (args, context) => run(definition, args as Readonly<Record<string, unknown>>, context),
  });
}

const HINTS = {
  readOnlyHint: 'readOnly',
  destructiveHint: 'destructive',
  idempotentHint: 'idempotent',
  openWorldHint: 'openWorld',
} as const;

/** The four hints and the title. Nothing a server says can lift an approval or choose a kind. */
function annotationsFrom({ annotations, title }: JsonObject): ToolAnnotations {
  const said = isObject(annotations) ? annotations : {};
  const named = typeof title === 'string' ? title : said.title;
  return {
    ...(typeof named === 'string' ? { title: oneLine(named) } : {}),
    ...Object.fromEntries(
      Object.entries(HINTS).flatMap(([hint, ours]) =>
        typeof said[hint] === 'boolean' ? [[ours, said[hint]]] : [],
      ),
    ),
  };
}
