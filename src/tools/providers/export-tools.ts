/** The advertised tools in the form each provider's API takes. */

import { match } from 'ts-pattern';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { hintsOf } from '../../core/contract/annotations.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { isSchemaObject, mapIn, omit, pointerTokens } from '../parameters/local-ref.ts';
import { type AliasMap, isLegalName, PROVIDER, type Provider } from './alias.ts';
import type { OpenAiShape, ProviderTool } from './provider-types.ts';
import { toOpenAiStrict } from './strict-openai.ts';
import { type StrictRules, strictSchema } from './strict-schema.ts';

/** How tools are written for a provider. */
export interface ExportOptions {
  /**
   * Turns schemas into the provider's strict subset. OpenAI and Anthropic only.
   * @default false
   */
  readonly strict?: boolean;
  /**
   * From `aliasNames`, for names the provider does not take. Keep it: calls come back under the
   * alias.
   */
  readonly aliases?: AliasMap;
  /**
   * OpenAI's two forms: nested for Chat Completions, flat for Responses.
   * @default 'chat'
   */
  readonly shape?: OpenAiShape;
}

/**
 * Tools for a provider, in the order given; the same tools give the same bytes. Without `aliases`
 * names go out as they are, and one that the provider would refuse throws `ERR_INVALID_TOOL`. With
 * `strict`, calls to OpenAI tools come back with nulls that `fromProviderArgs` takes off. Each tool
 * is frozen: to add something (`cache_control`), spread it into a new one. What comes out fits the
 * types of the provider's official package.
 */
export function exportTools<P extends Provider, S extends OpenAiShape = 'chat'>(
  tools: readonly ToolSpec[],
  provider: P,
  options: ExportOptions & { readonly shape?: S } = {},
): ProviderTool<P, S>[] {
  checkOptions(
    'exportTools',
    { provider, tools },
    {
      provider: expected.required(PROVIDER),
      tools: expected.required(expected.listOf(expected.object)),
    },
  );
  checkOptions('exportTools', options, optionsFor(provider));
  // `exportTool` writes what the type of the provider says; each tool is frozen, the list is the
  // caller's own.
  return tools.map(
    (tool) => snapshotObject(exportTool(tool, provider, options)) as unknown as ProviderTool<P, S>,
  );
}

const isAliasMap = (value: unknown): value is AliasMap =>
  isObject(value) && typeof value.toProvider === 'function';

function optionsFor(provider: Provider) {
  const only = (name: string) => ({
    text: `left out: ${provider} has no ${name}`,
    test: (value: unknown) => value === false,
  });
  return {
    strict:
      provider === 'openai' || provider === 'anthropic' ? expected.boolean : only('strict subset'),
    aliases: {
      text: `an alias map for ${provider}`,
      test: (value: unknown) => isAliasMap(value) && value.provider === provider,
    },
    shape: provider === 'openai' ? expected.oneOf('chat', 'responses') : only('other shape'),
  };
}

function exportTool(
  tool: ToolSpec,
  provider: Provider,
  { strict = false, aliases, shape = 'chat' }: ExportOptions,
): JsonObject {
  const name =
    aliases === undefined ? demandLegal(tool.name, provider) : aliases.toProvider(tool.name);
  const { description } = tool;
  const schema = objectSchema(snapshotObject(tool.inputSchema));
  return match<Provider, JsonObject>(provider)
    .with('openai', () => {
      const fields = {
        name,
        description,
        parameters: strict ? toOpenAiStrict(schema, tool.name) : schema,
      };
      // Responses takes a missing `strict` for true and then writes into optional properties; Chat
      // Completions does not.
      return shape === 'responses'
        ? { type: 'function', ...fields, strict }
        : { type: 'function', function: { ...fields, ...(strict ? { strict } : {}) } };
    })
    .with('anthropic', () => ({
      name,
      description,
      input_schema: strict ? toAnthropicStrict(schema, tool.name) : schema,
      ...(strict ? { strict } : {}),
    }))
    .with('gemini', () => ({ name, description, parametersJsonSchema: schema }))
    .with('mcp', () => exportMcp(tool, name, schema))
    .exhaustive();
}

function demandLegal(name: string, provider: Provider): string {
  if (isLegalName(name, provider)) return name;
  const message = `${provider} takes no tool called "${oneLine(name)}"; pass aliases: aliasNames(names, '${provider}')`;
  throw new AlliumError('ERR_INVALID_TOOL', message, { toolName: name });
}

function exportMcp(tool: ToolSpec, name: string, schema: JsonSchema): JsonObject {
  const { title } = tool.annotations;
  const { readOnly, destructive, idempotent, openWorld } = hintsOf(tool.annotations);
  const named: JsonObject = title === undefined ? {} : { title };
  const outputSchema = mcpOutputSchema(tool);
  return {
    name,
    ...named,
    description: tool.description,
    inputSchema: schemaMembers(schema),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: {
      ...named,
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: openWorld,
    },
  };
}

/**
 * The output schema as an MCP client is shown it, if it is. Clients up to 2025-11-25 refuse the
 * whole list for one that is not declared an object, so such a schema stays inside.
 */
export const mcpOutputSchema = (tool: Pick<ToolSpec, 'outputSchema'>): JsonSchema | undefined =>
  tool.outputSchema?.type === 'object' ? schemaMembers(tool.outputSchema) : undefined;

/**
 * MCP clients refuse the whole list for one property that is `true` or `false` instead of an
 * object.
 */
function schemaMembers(schema: JsonSchema): JsonSchema {
  const written = (member: JsonValue): JsonValue => {
    if (typeof member !== 'boolean') return member;
    return member ? {} : { not: {} };
  };
  const properties = Object.entries(mapIn(schema, 'properties'));
  if (!properties.some(([, member]) => typeof member === 'boolean')) return schema;
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, member]) => [name, written(member)])),
  };
}

/** Arguments are always an object, and every provider wants that said. */
const objectSchema = (schema: JsonSchema): JsonSchema =>
  schema.type === 'object' ? schema : { ...schema, type: 'object' };

const FORMATS: ReadonlySet<JsonValue> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]);

const RULES: StrictRules = {
  keeps: (keyword, value) => {
    if (keyword === 'format') return FORMATS.has(value);
    if (keyword === 'minItems') return value === 0 || value === 1;
    return keyword === 'const' || keyword === 'enum';
  },
  members: (properties, required) => ({
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  }),
};

/**
 * The schema as Anthropic takes it with `strict: true`. Throws `ERR_SCHEMA_UNSUPPORTED` naming the
 * rule that cannot be met.
 */
export function toAnthropicStrict(schema: JsonSchema, toolName: string): JsonSchema {
  const refuse = (rule: string): AlliumError =>
    new AlliumError(
      'ERR_SCHEMA_UNSUPPORTED',
      `tool "${oneLine(toolName)}" cannot be strict for anthropic: ${rule}`,
      { toolName },
    );
  const strict = strictSchema(schema, RULES, refuse);
  if (isRecursive(strict)) throw refuse('a schema must not refer back to itself');
  return strict;
}

/**
 * Takes away definitions that use no other, again and again: what is left over goes round in a
 * circle.
 */
function isRecursive(schema: JsonSchema): boolean {
  const uses = new Map(
    Object.entries(mapIn(schema, '$defs')).map(([name, definition]) => [name, usedBy(definition)]),
  );
  if ([usedBy(omit(schema, '$defs')), ...uses.values()].some((used) => used.has(ROOT))) return true;
  const users = new Map<string, string[]>([...uses.keys()].map((name) => [name, []]));
  for (const [name, used] of uses) for (const other of used) users.get(other)?.push(name);
  const waiting = new Map([...uses].map(([name, used]) => [name, used.size]));
  const done = [...uses.keys()].filter((name) => waiting.get(name) === 0);
  // The list grows while it is read.
  for (const name of done) {
    for (const user of users.get(name) ?? []) {
      const left = (waiting.get(user) ?? 0) - 1;
      waiting.set(user, left);
      if (left === 0) done.push(user);
    }
  }
  return done.length < uses.size;
}

const ROOT = '';

/**
 * The definitions a schema refers to. `$ref` is a string only where it is a reference: a property
 * of that name is a schema.
 */
function usedBy(schema: JsonValue): ReadonlySet<string> {
  const used = new Set<string>();
  const queue: JsonValue[] = [schema];
  for (const node of queue) {
    if (isSchemaObject(node) && typeof node.$ref === 'string')
      used.add(pointerTokens(node.$ref)?.[1] ?? ROOT);
    if (typeof node !== 'object' || node === null) continue;
    for (const inner of Object.values(node)) queue.push(inner);
  }
  return used;
}
