/** What a server has said about its tools, and what became of it since. */

import { createRegistry, type Registry } from '../../tools/registry.ts';
import type { ReportProblem } from './problem.ts';
import { describeThrown, isAlliumError, oneLine } from '../../core/contract/errors.ts';
import type { ToolAnnotations } from '../../core/contract/annotations.ts';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { checkToolName } from '../../tools/names.ts';
import { type OnBadSchema, readHints, readTool } from '../read-tool.ts';
import { proposeInvoke } from '../../tools/fixed-proposal.ts';
import type { Tool, ToolContext } from '../../tools/tool.ts';

export interface ToolBook {
  registry(): Registry;
  definitionOf(name: string): Definition | undefined;
  /** Takes a new list, reports what differs, and tells `onChange` if anything does. */
  turnTo(
    registry: Registry,
    definitions: ReadonlyMap<string, Definition>,
    onChange: (registry: Registry) => void,
  ): Registry;
  /** Why a call that was decided about by this definition must not be sent, or `null`. */
  objectionTo(definition: Definition): string | null;
  /** The host has been given the list as it is now. */
  noteGiven(): void;
  /**
   * The same as `objectionTo` for a tool that the host defined itself: what the server says of it
   * is held to the list that the host was given last.
   */
  objectionToName(name: string): string | null;
}

export function createToolBook(report: ReportProblem): ToolBook {
  let registry = createRegistry([], { names: 'mcp' });
  let definitions: ReadonlyMap<string, Definition> | null = null;
  let given: ReadonlyMap<string, Definition> | null = null;
  const objectionTo = (name: string, hash: string | undefined): string | null => {
    const now = definitions?.get(name);
    if (now?.hash === hash) return null;
    if (now === undefined) return `The server does not offer "${name}" any more. Nothing was sent.`;
    return `The server describes "${name}" differently than when the call was decided about. Nothing was sent.`;
  };
  return {
    registry: () => registry,
    definitionOf: (name) => definitions?.get(name),
    turnTo(next, found, onChange) {
      const before = definitions;
      definitions = found;
      // A list that says the same keeps its registry, whose tools somebody may hold.
      if (before !== null && !differs(before, found, report)) return registry;
      registry = next;
      if (before !== null) onChange(next);
      return next;
    },
    objectionTo: ({ name, hash }) => objectionTo(name, hash),
    noteGiven: () => void (given = definitions),
    objectionToName: (name) => objectionTo(name, given?.get(name)?.hash),
  };
}

function differs(
  before: ReadonlyMap<string, Definition>,
  after: ReadonlyMap<string, Definition>,
  report: ReportProblem,
): boolean {
  let isSame = before.size === after.size;
  for (const [name, { hash }] of before) {
    const now = after.get(name);
    if (now?.hash === hash) continue;
    isSame = false;
    if (now === undefined)
      report('tool_gone', 'the server does not offer this tool any more', name);
    else
      report('definition_changed', 'the server describes this tool differently than before', name);
  }
  return !isSame;
}

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

interface ReadSettings {
  readonly server: string;
  readonly onBadSchema: OnBadSchema;
  readonly hints: 'take' | 'ignore';
  readonly run: RunTool;
  readonly report: ReportProblem;
}

/**
 * Tools, and their definitions by name. What is no tool is reported and left out; of two with one
 * name, the first stays.
 */
export function readTools(
  list: readonly unknown[],
  settings: ReadSettings,
): { tools: Tool[]; definitions: Map<string, Definition> } {
  const tools: Tool[] = [];
  const definitions = new Map<string, Definition>();
  for (const entry of list) {
    const read = readListed(entry, settings);
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

function readListed(
  entry: unknown,
  { server, onBadSchema, hints, run, report }: ReadSettings,
): { readonly tool: Tool; readonly definition: Definition } | null {
  const definition = definitionOf(entry, report);
  if (definition === null) return null;
  const { name, sent } = definition;
  try {
    const tool = readTool(name, sent, {
      onBadSchema,
      schemaOfNoObject: 'refuse',
      annotations: hints === 'take' ? annotationsFrom(sent) : {},
      metadata: { mcp: factsOf(server, definition) },
      proposedRequests: proposeInvoke(server, name),
      // The arguments were checked against the schema before; their type is not known here.
      execute: (args, context) =>
        run(definition, args as Readonly<Record<string, unknown>>, context),
      onUnchecked: (thrown) =>
        report(
          'bad_schema',
          `the tool was taken without its schemas, so that nothing checks its arguments: ${describeThrown(thrown)}`,
          name,
        ),
    });
    return { definition, tool };
  } catch (thrown) {
    const kind = isAlliumError(thrown, 'ERR_SCHEMA_UNSUPPORTED') ? 'bad_schema' : 'bad_tool';
    report(kind, `the tool was left out: ${describeThrown(thrown)}`, name);
    return null;
  }
}

/**
 * What policies and records are told of a tool. The hash of the definition counts for approvals, so
 * that what `hints: 'ignore'` leaves out counts all the same.
 */
function factsOf(server: string, { name, hash, sent: { title, execution } }: Definition): object {
  return {
    server,
    tool: name,
    definition: hash,
    ...(typeof title === 'string' ? { title: oneLine(title) } : {}),
    ...(isObject(execution) ? { execution } : {}),
  };
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

/** The title and, unless they are to be ignored, the hints. */
function annotationsFrom({ annotations, title }: JsonObject): ToolAnnotations {
  const sent = isObject(annotations) ? annotations : {};
  const shown = typeof title === 'string' ? title : sent.title;
  return {
    ...(typeof shown === 'string' ? { title: oneLine(shown) } : {}),
    ...readHints(sent),
  };
}
