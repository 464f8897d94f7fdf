/** The registry: an ordered, immutable set of tools. Every change gives a new one. */

import { AlliumError, oneLine } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import type { SchemaTransform, ToolSpec } from '../core/contract/layer.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { defineTool, type ToolDefinition } from './define-tool.ts';
import type { SchemaLiteral } from './infer-args.ts';
import { checkToolName, type NamePolicy } from './names.ts';
import { type AliasMap, aliasNames, type Provider } from './providers/alias.ts';
import { defineOwn, hasOwnDefinition, keepOwn, specOf } from './own-definition.ts';
import { checkSchema } from './schema/check-schema.ts';
import type { Tool, ToolRequest } from './tool.ts';

/** Which names a registry takes. */
export interface RegistryOptions {
  /**
   * `portable` names are taken by every provider; `mcp` keeps whatever an MCP server may call its
   * tools.
   * @default 'portable'
   */
  readonly names?: NamePolicy;
}

/** Tools as one kind of capability among others. */
interface ToolCapabilities {
  readonly kind: 'tools';
  list(): readonly ToolSpec[];
  invoke(name: string, args: object): Promise<ToolResult>;
}

/** An ordered set of tools that never changes. */
export interface Registry extends Iterable<Tool> {
  readonly names: readonly string[];
  get(name: string): Tool | undefined;
  with(tool: Tool): Registry;
  merge(other: Registry): Registry;
  /**
   * Changes what is shown, or drops a tool with `null`. What the executor must be given stays as
   * defined.
   */
  transform(transform: SchemaTransform): Registry;
  filter(keep: (tool: Tool) => boolean): Registry;
  /** `prefix('gh')` turns `search` into `gh_search`. */
  prefix(prefix: string): Registry;
  rename(from: string, to: string): Registry;
  alias(provider: Provider): AliasMap;
  /**
   * Lists the tools, and invokes them through the `call` of whatever governs them; without one
   * nothing is invoked.
   */
  asCapabilities(invoke?: (request: ToolRequest) => Promise<ToolResult>): ToolCapabilities;
}

/** Makes a registry. Order is insertion order; a name that is taken throws. */
export function createRegistry(
  tools: Iterable<Tool> = [],
  options: RegistryOptions = {},
): Registry {
  checkOptions('createRegistry', options, { names: expected.oneOf('portable', 'mcp') });
  const policy = options.names ?? 'portable';
  const byName = new Map<string, Tool>();
  for (const given of tools) {
    const tool = demandTool(given);
    checkToolName(tool.name, policy);
    if (byName.has(tool.name))
      throw new AlliumError('ERR_DUPLICATE_TOOL', `two tools are called "${tool.name}"`, {
        toolName: tool.name,
      });
    byName.set(tool.name, tool);
  }
  return registryOf(byName, (next) => createRegistry(next, options));
}

function registryOf(
  byName: ReadonlyMap<string, Tool>,
  make: (tools: Iterable<Tool>) => Registry,
): Registry {
  const tools = Object.freeze([...byName.values()]);
  const registry: Registry = {
    names: Object.freeze([...byName.keys()]),
    get: (name: string) => byName.get(name),
    with: (tool: Tool) => make([...tools, tool]),
    merge: (other: Registry) => make([...tools, ...other]),
    transform: (transform: SchemaTransform) =>
      make(tools.flatMap((tool) => transformed(tool, transform) ?? [])),
    filter: (keep: (tool: Tool) => boolean) => make(tools.filter(keep)),
    prefix: (prefix: string) => make(tools.map((tool) => named(tool, `${prefix}_${tool.name}`))),
    rename: (from: string, to: string) => {
      if (!byName.has(from))
        throw new AlliumError('ERR_UNKNOWN_TOOL', `there is no tool "${oneLine(from)}" to rename`, {
          toolName: from,
        });
      return make(tools.map((tool) => (tool.name === from ? named(tool, to) : tool)));
    },
    alias: (provider: Provider) => aliasNames([...byName.keys()], provider),
    asCapabilities: (invoke = ungoverned) => capabilitiesOf(tools, invoke),
    [Symbol.iterator]: () => tools.values(),
  };
  return Object.freeze(registry);
}

const named = (tool: Tool, name: string): Tool => keepOwn(tool, Object.freeze({ ...tool, name }));

/**
 * Applies a transform to one tool and checks what came back. It may describe and reshape, but not
 * rename.
 */
export function transformed(tool: Tool, transform: SchemaTransform): Tool | null {
  const spec: unknown = transform(tool);
  if (spec === null) return null;
  if (!isToolSpec(spec))
    throw new AlliumError(
      'ERR_INVALID_TRANSFORM',
      `a schema transform of tool "${tool.name}" answered with something else than a tool or null`,
      { toolName: tool.name },
    );
  if (spec.name !== tool.name)
    throw new AlliumError(
      'ERR_INVALID_TRANSFORM',
      `a schema transform may not rename tool "${tool.name}"; use registry.rename`,
      { toolName: tool.name },
    );
  const { description, annotations } = spec;
  const inputSchema =
    spec.inputSchema === tool.inputSchema
      ? tool.inputSchema
      : checkSchema(spec.inputSchema, `tool "${tool.name}"`, { objectRoot: true });
  const { outputSchema: before, ...rest } = tool;
  const outputSchema =
    spec.outputSchema === undefined || spec.outputSchema === before
      ? spec.outputSchema
      : checkSchema(spec.outputSchema, `output of tool "${tool.name}"`);
  const shown = {
    ...rest,
    description,
    annotations,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
  return keepOwn(tool, Object.freeze(shown));
}

const isToolSpec = (value: unknown): value is ToolSpec =>
  isObject(value) &&
  typeof value.name === 'string' &&
  typeof value.description === 'string' &&
  isObject(value.inputSchema) &&
  isObject(value.annotations);

/** Tools may come from plain JavaScript: what `defineTool` did not make goes through it. */
function demandTool(tool: Tool): Tool {
  if (isObject(tool) && isObject((tool as Partial<Tool>).ownSchema))
    return hasOwnDefinition(tool) ? tool : defineOwn(withChecked(tool));
  // Its schema is not known here, so neither are the types of its arguments.
  return defineTool(tool as unknown as ToolDefinition<SchemaLiteral>);
}

/**
 * A finished tool that was copied may have been given other schemas. Checking a schema that was
 * checked before costs a look.
 */
function withChecked(tool: Tool): Tool {
  checkSchema(tool.inputSchema, `tool "${tool.name}"`, { objectRoot: true });
  if (tool.outputSchema !== undefined)
    checkSchema(tool.outputSchema, `output of tool "${tool.name}"`);
  return tool;
}

/** A registry does not run tools: that would go around every layer. */
const ungoverned = (request: ToolRequest): Promise<ToolResult> =>
  Promise.reject(
    new AlliumError(
      'ERR_NO_EXECUTOR',
      'pass the call function of governTools to asCapabilities to invoke tools',
      { toolName: request.name },
    ),
  );

function capabilitiesOf(
  tools: readonly Tool[],
  invoke: (request: ToolRequest) => Promise<ToolResult>,
): ToolCapabilities {
  return Object.freeze({
    kind: 'tools' as const,
    list: () => tools.map(specOf),
    invoke: (name: string, args: object) => invoke({ name, arguments: args }),
  });
}
