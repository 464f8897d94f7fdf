/** What a stack is and what it does to each tool, as data. */

import type { JsonValue } from '../core/json/json-value.ts';
import {
  AlliumError,
  type JsonSchema,
  type Tool,
  type ToolLayer,
  type ToolSpec,
} from '../index.ts';
import { closest } from '../core/contract/closest.ts';
import { isObject } from '../core/json/json.ts';
import { describeFinding, orderFindings } from '../core/contract/order.ts';
import { specOf } from '../tools/own-definition.ts';
import type { Parts } from './assemble.ts';
import { fateOf, type ToolFate } from './tool-fates.ts';

/** One layer, outermost first. */
export interface LayerDescription {
  readonly name: string;
  /** What it is known to do, in words. */
  readonly traits: readonly string[];
  /** The tools it is for, where the file says so. */
  readonly only?: readonly string[];
  readonly except?: readonly string[];
}

/** What one layer does to what the model is shown of a tool. */
export interface ToolChange {
  readonly layer: string;
  readonly adds: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly description: string;
  }[];
  readonly removes: readonly string[];
  /** Something else in its schema, or its description. */
  readonly changes: boolean;
  readonly hides: boolean;
}

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** The MCP server it belongs to, by the host's name for it. */
  readonly server?: string;
  /** What happens to a call of it. */
  readonly fate: ToolFate;
  /** Innermost first, which is the order in which they come about. */
  readonly changes: readonly ToolChange[];
  /** The schema of its arguments as the model is shown it; of a hidden tool, as it was defined. */
  readonly inputSchema: JsonSchema;
}

export interface StackDescription {
  /** The file; of a project that has none, its folder. */
  readonly file: string;
  /** Whether `file` is the folder of a project without a file. */
  readonly isFolder?: true;
  readonly stateDir: string;
  readonly layers: readonly LayerDescription[];
  /** Broken "should" rules, with their reasons. */
  readonly advice: readonly string[];
  readonly tools: readonly ToolDescription[];
}

/** Which tools are described, besides all of the file. */
interface DescribeOptions {
  /** Only this one. */
  readonly tool?: string | undefined;
  /** `file` is a folder. */
  readonly isFolder?: boolean;
  /** Tools that a proxy with this stack would serve. */
  readonly upstream?: readonly Tool[];
}

/**
 * Throws `ERR_UNKNOWN_TOOL` for a tool that is not there. No text holds a value that came from a
 * variable.
 */
export function describeStack(
  parts: Parts,
  file: string,
  conceal: (text: string) => string,
  options: DescribeOptions,
): StackDescription {
  const { built, entries, stateDir } = parts;
  const { tool, upstream = [], isFolder = false } = options;
  const tools = [...parts.tools, ...upstream];
  const names = tools.map(({ name }) => name);
  if (tool !== undefined && !names.includes(tool)) throw unknownTool(tool, names);
  const layers = built.map(({ layer }) => layer);
  const described: StackDescription = {
    file,
    ...(isFolder ? { isFolder } : {}),
    stateDir,
    layers: built.map(({ layer, entry }) => ({
      name: layer.name,
      traits: [...traitsOf(layer), ...checksOf(entries[entry])],
      ...gateOf(entries[entry]),
    })),
    advice: orderFindings(layers).map(describeFinding),
    tools: tools
      .filter(({ name }) => tool === undefined || name === tool)
      .map((each) => describeTool(each, parts)),
  };
  // The same shape: only texts were replaced.
  return concealed(described, conceal) as StackDescription;
}

function describeTool(tool: Tool, { built, entries }: Parts): ToolDescription {
  const spec = specOf(tool);
  const { changes, shown } = changesOf(
    spec,
    built.map(({ layer }) => layer),
  );
  const mcp = tool.metadata?.mcp;
  return {
    name: tool.name,
    description: tool.description,
    ...(isObject(mcp) && typeof mcp.server === 'string' ? { server: mcp.server } : {}),
    fate: fateOf(spec, built, entries, changes),
    changes,
    inputSchema: shown.inputSchema,
  };
}

function unknownTool(name: string, known: readonly string[]): AlliumError {
  const guess = closest(name, known);
  return new AlliumError(
    'ERR_UNKNOWN_TOOL',
    `there is no tool "${name}"${guess === undefined ? '' : `; did you mean "${guess}"?`}`,
    { toolName: name },
  );
}

function traitsOf({ observes, rewrites, schemaTransform, scrub }: ToolLayer): readonly string[] {
  const traits = [
    observes === true && 'observes',
    rewrites === true && 'rewrites arguments',
    schemaTransform !== undefined && 'changes what the model is shown',
    scrub !== undefined && 'cleans the record',
  ];
  return traits.filter((trait) => trait !== false);
}

/**
 * Which policies are asked, and what happens where none has an opinion: the order of them makes no
 * difference.
 */
function checksOf(entry: unknown): readonly string[] {
  const options = isObject(entry) ? entry.permissions : undefined;
  if (!isObject(options) || !Array.isArray(options.checkers)) return [];
  const names = options.checkers.map((checker: unknown) => checkerName(checker));
  const rest = typeof options.fallback === 'string' ? options.fallback : 'deny';
  const isShadow = options.shadow !== undefined && options.shadow !== false;
  return [
    `asks ${[...names, `otherwise ${rest}`].join(', ')}`,
    ...(isShadow ? ['shadow: refuses nothing'] : []),
  ];
}

function checkerName(checker: unknown): string {
  const [name = 'a checker', value] =
    isObject(checker) && typeof checker.evaluate !== 'function'
      ? (Object.entries(checker)[0] ?? [])
      : [];
  return name.startsWith('$') && typeof value === 'string' ? value : name;
}

/** The entry was built, so its lists are lists of names. */
const gateOf = (entry: unknown): Pick<LayerDescription, 'only' | 'except'> =>
  isObject(entry) && typeof entry.caller !== 'function'
    ? Object.fromEntries(
        ['only', 'except']
          .filter((key) => Object.hasOwn(entry, key))
          .map((key) => [key, entry[key]]),
      )
    : {};

/** What the layers do to a tool, and what the model is shown in the end. */
function changesOf(
  tool: ToolSpec,
  layers: readonly ToolLayer[],
): { readonly changes: readonly ToolChange[]; readonly shown: ToolSpec } {
  const changes: ToolChange[] = [];
  let before: ToolSpec = tool;
  for (const { name, schemaTransform } of [...layers].reverse()) {
    const after = schemaTransform?.(before);
    if (after === undefined || after === before) continue;
    if (after === null)
      return {
        changes: [...changes, { layer: name, adds: [], removes: [], changes: false, hides: true }],
        shown: tool,
      };
    changes.push({ layer: name, ...difference(before, after), hides: false });
    before = after;
  }
  return { changes, shown: before };
}

function difference(
  before: ToolSpec,
  after: ToolSpec,
): Pick<ToolChange, 'adds' | 'removes' | 'changes'> {
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const required: readonly JsonValue[] = Array.isArray(after.inputSchema.required)
    ? after.inputSchema.required
    : [];
  const adds = [...now].filter(([name]) => !old.has(name));
  return {
    adds: adds.map(([name, schema]) => ({
      name,
      required: required.includes(name),
      description: descriptionOf(schema),
    })),
    removes: [...old.keys()].filter((name) => !now.has(name)),
    changes:
      before.description !== after.description ||
      [...now].some(([name, schema]) => old.has(name) && old.get(name) !== schema),
  };
}

const propertiesOf = ({ inputSchema: { properties } }: ToolSpec): ReadonlyMap<string, unknown> =>
  new Map(isObject(properties) ? Object.entries(properties) : []);

const descriptionOf = (schema: unknown): string =>
  isObject(schema) && typeof schema.description === 'string' ? schema.description : '';

function concealed(value: unknown, conceal: (text: string) => string): unknown {
  if (typeof value === 'string') return conceal(value);
  if (Array.isArray(value)) return value.map((item) => concealed(item, conceal));
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, concealed(member, conceal)]),
      )
    : value;
}
