/** Between the result of the stack and what MCP calls the result of a tool. */

import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { canonicalJson } from '../core/canonical.ts';
import { type ToolOutput, toolOutput, type ToolResult, type ToolSpec } from '../index.ts';
import { validateJson } from '../tools/schema/validator.ts';

/** Ours among the members of `_meta`. */
export const META_PREFIX = 'allium/';

/** What a server answered: as the stack takes it, and as it came. */
export interface ServerAnswer {
  readonly raw: JsonObject;
  readonly output: ToolOutput;
}

/** Reads what a server answered to a call. Blocks of a kind that nobody knows yet are kept as they are. */
export function readAnswer(raw: JsonObject, hasAsked: boolean): ServerAnswer {
  const blocks = Array.isArray(raw.content) ? raw.content.filter(isBlock) : [];
  const { structuredContent } = raw;
  const output = toolOutput({
    // Whatever a block holds is JSON, and nothing looks into a kind that it does not know.
    content: blocks,
    ...(structuredContent === undefined || structuredContent === null ? {} : { structuredContent: structuredContent }),
    ...(raw.isError === true ? { isError: true } : {}),
    // What came of somebody's answers is for nobody else.
    ...(hasAsked ? { keep: false } : {}),
  });
  return { raw, output };
}

const isBlock = (block: JsonValue): boolean => isObject(block) && typeof block.type === 'string';

export interface Rendering {
  /** What the server answered, if it did. */
  readonly answer: ServerAnswer | null;
  /** The tool as the client knows it. */
  readonly spec: ToolSpec | undefined;
  readonly isModern: boolean;
  /** Cleans text that no layer has seen. */
  readonly scrub: (text: string) => string;
  /** Said to the model behind the text of a refusal. */
  readonly hint?: string;
}

/** What the client gets. An answer that no layer changed is the server's own, with whatever else it holds. */
export function callResultOf(result: ToolResult, rendering: Rendering): JsonObject {
  const { answer, isModern, scrub } = rendering;
  const meta = metaOf(result);
  // Of an answer that a layer withheld nothing goes on, whatever stands beside its content.
  const handedOn = result.ok || result.errorCategory === 'tool_error' ? (answer?.raw ?? {}) : {};
  const { content: _content, structuredContent: _structured, isError: _isError, _meta, ...others } = handedOn;
  const beside = scrubbed(others, scrub);
  const own = isObject(_meta) ? scrubbed(withoutOurs(_meta), scrub) : {};
  const all = { ...own, ...meta };
  const shown = { ...body(result, rendering), ...(Object.keys(all).length === 0 ? {} : { _meta: all }) };
  return { ...(isModern ? { resultType: 'complete' } : {}), ...beside, ...shown };
}

/** A server must not say for us how a call ended, or where its receipt is. */
const withoutOurs = (meta: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(meta).filter(([name]) => !name.toLowerCase().startsWith(META_PREFIX)));

function body(result: ToolResult, { answer, spec, hint }: Rendering): JsonObject {
  const content = hint === undefined ? result.content : [...result.content, { type: 'text', text: hint }];
  const structured = result.result !== null && typeof result.result === 'object' ? { structuredContent: result.result } : {};
  // As JSON: every block is.
  const blocks = content as unknown as JsonValue;
  if (!result.ok) return { content: blocks, ...(result.errorCategory === 'tool_error' ? structured : {}), isError: true };
  const isWhole = answer !== null && isSame(answer.output, result);
  // A client that was promised a form throws when it gets another, and then neither it nor the model learns what happened.
  if (!isWhole && !fits(spec, result)) return { content: blocks, isError: true };
  return { content: blocks, ...structured, ...(answer?.raw.isError === undefined ? {} : { isError: false }) };
}

function fits(spec: ToolSpec | undefined, { result }: ToolResult): boolean {
  if (spec?.outputSchema === undefined) return true;
  return result !== null && typeof result === 'object' && validateJson(spec.outputSchema, result).length === 0;
}

function isSame({ content, structuredContent }: ToolOutput, result: ToolResult): boolean {
  return same(content, result.content) && same(structuredContent ?? null, result.result);
}

const same = (one: unknown, other: unknown): boolean => one === other || canonicalJson(one) === canonicalJson(other);

/** A protocol error of the server's, handed on as one. Its words are those that came through the stack, and its data no layer has seen. */
export function callErrorOf(error: JsonObject, result: ToolResult, scrub: (text: string) => string): JsonObject {
  if (result.error === error.message) return scrubbed(error, scrub);
  return { code: error.code ?? null, message: result.error ?? '' };
}

/** How the call ended, where that is not plain from the result itself, and where its receipt is. */
function metaOf({ status, executed, audit, interruption }: ToolResult): JsonObject {
  const receipt = audit?.receiptUri;
  const known = status === 'ok' ? {} : { [`${META_PREFIX}status`]: status, [`${META_PREFIX}executed`]: executed };
  return {
    ...known,
    ...(typeof receipt === 'string' ? { [`${META_PREFIX}receipt`]: receipt } : {}),
    ...(interruption === undefined ? {} : { [`${META_PREFIX}approval`]: interruption.id }),
  };
}

/** Cleans every text in a value, names too. */
export function scrubbed<T extends JsonValue>(value: T, scrub: (text: string) => string): T {
  const clean = (item: JsonValue): JsonValue => {
    if (typeof item === 'string') return scrub(item);
    if (Array.isArray(item)) return (item as readonly JsonValue[]).map(clean);
    if (!isObject(item)) return item;
    return Object.fromEntries(Object.entries(item).map(([name, member]) => [scrub(name), clean(member)]));
  };
  return clean(value) as T; // Text for text, and every other value as it is.
}
