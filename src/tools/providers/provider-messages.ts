/** What goes over a provider's API: a call's arguments on their way in, a result's message out. */

import { match } from 'ts-pattern';
import { type ContentBlock, renderContent } from '../../core/contract/content.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import {
  isSchemaObject,
  listIn,
  mapIn,
  ownMember,
  resolveLocalRef,
} from '../parameters/local-ref.ts';
import { type AliasMap, PROVIDER, type Provider } from './alias.ts';
import { mcpOutputSchema } from './export-tools.ts';
import type {
  AnthropicBlock,
  AnthropicImageType,
  OpenAiShape,
  ProviderMessage,
} from './provider-types.ts';

/** How a result is written for a provider. */
interface ToolMessageOptions {
  /** The map the tools were exported with. Only Gemini is told the name again. */
  readonly aliases?: AliasMap;
  /**
   * The form of OpenAI's API the tools were exported for.
   * @default 'chat'
   */
  readonly shape?: OpenAiShape;
  /**
   * The tool as it was exported. Only MCP needs it: a client that was shown an output schema throws
   * away an answer without structured content unless it is marked as an error. Without it a preview
   * is marked, to be safe.
   */
  readonly tool?: Pick<ToolSpec, 'outputSchema'>;
}

const EXPECTED = {
  aliases: {
    text: 'an alias map',
    test: (value: unknown) => isObject(value) && Array.isArray(value.entries),
  },
  shape: expected.oneOf('chat', 'responses'),
  tool: expected.object,
};

/**
 * A result in the provider's form. The model reads `renderedResult`, of a refusal too; images and
 * other blocks go along where the provider has a place for them and the text was not replaced by a
 * layer. Does not wrap the message into a turn: Anthropic and Gemini collect several in one. It is
 * frozen, and fits the types of the provider's official package.
 */
export function toToolMessage<P extends Provider, S extends OpenAiShape = 'chat'>(
  result: ToolResult,
  provider: P,
  options: ToolMessageOptions & { readonly shape?: S } = {},
): ProviderMessage<P, S> {
  checkOptions('toToolMessage', { provider }, { provider: expected.required(PROVIDER) });
  checkOptions('toToolMessage', options, EXPECTED);
  const { toolCallId, renderedResult } = result;
  const message = match<Provider, object>(provider)
    .with('openai', () =>
      options.shape === 'responses'
        ? { type: 'function_call_output', call_id: toolCallId, output: renderedResult }
        : { role: 'tool', tool_call_id: toolCallId, content: renderedResult },
    )
    .with('anthropic', () => anthropicMessage(result))
    .with('gemini', () => ({
      functionResponse: {
        id: toolCallId,
        name: aliasOf(result.toolName, options.aliases),
        response: result.ok ? { output: renderedResult } : { error: renderedResult },
      },
    }))
    .with('mcp', () => mcpMessage(result, options.tool))
    .exhaustive();
  // Each branch writes what the type of its provider says.
  return snapshotObject(message) as unknown as ProviderMessage<P, S>;
}

/** A model may call a tool that was never offered, and gets its answer under the name it used. */
const aliasOf = (toolName: string, aliases: AliasMap | undefined): string =>
  aliases?.entries.find(([name]) => name === toolName)?.[1] ?? toolName;

/**
 * The blocks of an answer, as long as they still say what the model is to read: a layer may have
 * cut or replaced the text.
 */
function blocksOf(result: ToolResult): readonly ContentBlock[] {
  const { content, renderedResult } = result;
  return renderContent(content, result.result) === renderedResult
    ? content
    : [{ type: 'text', text: renderedResult }];
}

function anthropicMessage(result: ToolResult): object {
  const blocks = blocksOf(result).map(anthropicBlock);
  // Blank text blocks are refused, and so is an error without content.
  const content = blocks.filter((block) => block.type !== 'text' || block.text.trim() !== '');
  const told =
    content.length === 0 && !result.ok ? [{ type: 'text', text: result.status }] : content;
  return {
    type: 'tool_result',
    tool_use_id: result.toolCallId,
    content: told,
    ...(result.ok ? {} : { is_error: true }),
  };
}

const ANTHROPIC_IMAGES: readonly AnthropicImageType[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
];

/** One image of a type that is not taken would cost the whole request. */
function anthropicBlock(block: ContentBlock): AnthropicBlock {
  const media =
    block.type === 'image' ? ANTHROPIC_IMAGES.find((type) => type === block.mimeType) : undefined;
  if (block.type === 'image' && media !== undefined)
    return { type: 'image', source: { type: 'base64', media_type: media, data: block.data } };
  return { type: 'text', text: renderContent([block], null) };
}

function mcpMessage(result: ToolResult, tool: ToolMessageOptions['tool']): object {
  // A preview need not fit the output schema, and clients check structured content even of errors.
  const structured = result.status === 'ok' && isObject(result.result) ? result.result : undefined;
  const awaited = tool === undefined ? result.status !== 'ok' : mcpOutputSchema(tool) !== undefined;
  return {
    content: blocksOf(result),
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(!result.ok || (awaited && structured === undefined) ? { isError: true } : {}),
  };
}

/**
 * The arguments without the nulls that stand for "left out": those of properties which the tool's
 * schema declares optional and not nullable. Every other null is the model's own and stays. Without
 * any the same object comes back.
 */
export function fromProviderArgs(spec: ToolSpec, args: JsonObject): JsonObject {
  const undone = undo(args, [spec.inputSchema], spec.inputSchema);
  return undone === args ? args : snapshotObject(undone);
}

type Schemas = readonly JsonValue[];

function undo(value: JsonValue, schemas: Schemas, root: JsonSchema): JsonValue {
  if (schemas.length === 0 || typeof value !== 'object' || value === null) return value;
  const parts = partsOf(schemas, root);
  if (isSchemaObject(value)) return undoMembers(value, schemas, parts, root);
  const items = listIn({ value }, 'value');
  const undone = items.map((item, index) =>
    undo(
      item,
      parts.flatMap((part) => itemSchemas(part, index)),
      root,
    ),
  );
  return undone.some((item, index) => item !== items[index]) ? undone : value;
}

function undoMembers(
  value: JsonObject,
  schemas: Schemas,
  parts: readonly JsonObject[],
  root: JsonSchema,
): JsonObject {
  const entries = Object.entries(value);
  const kept = entries
    .filter(([name, member]) => member !== null || !standsForAbsent(name, schemas, root))
    .map(
      ([name, member]) =>
        [
          name,
          undo(
            member,
            parts.flatMap((part) => ownMember(mapIn(part, 'properties'), name) ?? []),
            root,
          ),
        ] as const,
    );
  const same =
    kept.length === entries.length && kept.every(([name, member]) => member === value[name]);
  return same ? value : Object.fromEntries(kept);
}

function standsForAbsent(name: string, schemas: Schemas, root: JsonSchema): boolean {
  const nullFits = (schema: JsonValue) =>
    holds(schema, root, (part) => {
      if (!allowsType(part, 'object')) return false;
      const property = ownMember(mapIn(part, 'properties'), name);
      return property === undefined || holds(property, root, acceptsNull);
    });
  const mayBeAbsent = (schema: JsonValue) =>
    holds(
      schema,
      root,
      (part) => allowsType(part, 'object') && !listIn(part, 'required').includes(name),
    );
  return !schemas.some(nullFits) && schemas.some(mayBeAbsent);
}

function allowsType(part: JsonObject, wanted: string): boolean {
  const type = ownMember(part, 'type');
  return type === undefined || type === wanted || listIn(part, 'type').includes(wanted);
}

function acceptsNull(part: JsonObject): boolean {
  const values = listIn(part, 'enum');
  return (
    allowsType(part, 'null') &&
    (values.length === 0 || values.includes(null)) &&
    (ownMember(part, 'const') ?? null) === null
  );
}

/**
 * Asks a question of a schema and everything it is made of; the answers count as the keywords say.
 */
function holds(
  schema: JsonValue | undefined,
  root: JsonSchema,
  ask: (part: JsonObject) => boolean,
  known = new Map<JsonValue, boolean>(),
): boolean {
  if (!isSchemaObject(schema)) return schema !== false;
  const answered = known.get(schema);
  if (answered !== undefined) return answered;
  // A schema that contains itself adds nothing by that; asking each part once keeps doubling
  // references cheap.
  known.set(schema, true);
  const inner = (part: JsonValue) => holds(part, root, ask, known);
  const one = (keyword: string) =>
    listIn(schema, keyword).length === 0 || listIn(schema, keyword).some(inner);
  const target = typeof schema.$ref === 'string' ? resolveLocalRef(root, schema.$ref) : undefined;
  const answer =
    ask(schema) &&
    holds(target, root, ask, known) &&
    listIn(schema, 'allOf').every(inner) &&
    one('anyOf') &&
    one('oneOf');
  known.set(schema, answer);
  return answer;
}

/** The schemas and everything in them that speaks about the same value. */
function partsOf(schemas: Schemas, root: JsonSchema): readonly JsonObject[] {
  const parts = new Set<JsonObject>();
  const queue: (JsonValue | undefined)[] = [...schemas];
  // The list grows while it is read.
  for (const schema of queue) {
    if (!isSchemaObject(schema) || parts.has(schema)) continue;
    parts.add(schema);
    queue.push(...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listIn(schema, keyword)));
    if (typeof schema.$ref === 'string') queue.push(resolveLocalRef(root, schema.$ref));
  }
  return [...parts];
}

function itemSchemas(part: JsonObject, index: number): Schemas {
  const tuple = Object.hasOwn(part, 'prefixItems')
    ? listIn(part, 'prefixItems')
    : listIn(part, 'items');
  const rest = ownMember(part, Array.isArray(part.items) ? 'additionalItems' : 'items');
  const schema = tuple[index] ?? rest;
  return schema === undefined ? [] : [schema];
}
