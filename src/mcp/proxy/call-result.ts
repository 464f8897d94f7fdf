/** Between the result of the stack and what MCP calls the result of a tool. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { canonicalJson } from '../../core/json/canonical.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import type { ToolOutput } from '../../tools/tool.ts';
import { readAnswer } from '../read-answer.ts';
import { validateJson } from '../../tools/schema/validator.ts';
import { hasMembers } from '../wire.ts';

/** What a server answered: as the stack takes it, and as it came. */
export interface ServerAnswer {
  readonly raw: JsonObject;
  readonly output: ToolOutput;
}

/**
 * Reads what a server answered to a call. What came of a person's answers (`hasAsked`) is for no
 * other call.
 */
export const serverAnswer = (raw: JsonObject, hasAsked: boolean): ServerAnswer => ({
  raw,
  output: readAnswer(raw, {
    blocks: 'keep',
    ignoresNull: true,
    ...(hasAsked ? { keep: false } : {}),
  }),
});

export interface Rendering {
  /** What the server answered, if it did. */
  readonly answer: ServerAnswer | null;
  /** The tool as the client knows it. */
  readonly spec: ToolSpec | undefined;
  readonly isModern: boolean;
  /** Cleans text that no layer has seen. */
  readonly scrub: (text: string) => string;
}

/**
 * The MCP result for the client. An answer that no layer changed keeps all members that the server
 * gave it.
 */
export function callResultOf(result: ToolResult, rendering: Rendering): JsonObject {
  const { answer, isModern, scrub } = rendering;
  const ours = metaOf(result);
  // Of an answer that a layer withheld no member is handed on, `_meta` included.
  const handedOn =
    result.ok || result.errorCategory === 'tool_error' ? (answer?.raw ?? NOTHING) : NOTHING;
  const { _meta } = handedOn;
  const meta = isObject(_meta) ? { ...withoutOurs(scrubbed(_meta, scrub)), ...ours } : ours;
  const shown = body(result, rendering);
  if (hasMembers(meta)) shown._meta = meta;
  const beside = besideContent(handedOn);
  if (beside === NOTHING && !isModern) return shown;
  return {
    ...(isModern ? { resultType: 'complete' } : {}),
    ...withoutOurs(scrubbed(beside, scrub)),
    ...shown,
  };
}

const NOTHING: JsonObject = Object.freeze({});

/** What a server says beside its content; most say nothing. */
function besideContent(raw: JsonObject): JsonObject {
  for (const name in raw) {
    if (READ.has(name)) continue;
    const {
      content: _content,
      structuredContent: _structured,
      isError: _isError,
      _meta,
      ...others
    } = raw;
    return others;
  }
  return NOTHING;
}

const READ: ReadonlySet<string> = new Set(['content', 'structuredContent', 'isError', '_meta']);

/**
 * A server must not say for us how a call ended, or where its receipt is. Looked at after cleaning,
 * which may make another name one of ours.
 */
const withoutOurs = (meta: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(meta).filter(([name]) => !isOurs(name)));

/**
 * Also behind characters that do not show and in other forms of the same letters, which a reader
 * may fold.
 */
const isOurs = (name: string): boolean =>
  name
    .normalize('NFKC')
    .replace(/[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
    .startsWith('allium/');

/** A block has a `_meta` of its own, and so has the resource in one. */
function asTheirs(block: JsonValue): JsonValue {
  if (!isObject(block)) return block;
  const { _meta, resource } = block;
  if (_meta === undefined && resource === undefined) return block;
  return {
    ...block,
    ...(isObject(_meta) ? { _meta: withoutOurs(_meta) } : {}),
    ...(resource === undefined ? {} : { resource: asTheirs(resource) }),
  };
}

function body(result: ToolResult, { answer, spec }: Rendering): Record<string, JsonValue> {
  // As JSON: every block is.
  const shown: Record<string, JsonValue> = {
    content: (result.content as unknown as readonly JsonValue[]).map(asTheirs),
  };
  const structured =
    result.result !== null && typeof result.result === 'object' ? result.result : null;
  if (!result.ok) {
    if (structured !== null && result.errorCategory === 'tool_error')
      shown.structuredContent = structured;
    shown.isError = true;
    return shown;
  }
  // A client throws for a result that does not fit the tool's `outputSchema`, and its model learns
  // nothing. As an error the text reaches the model.
  if (!fits(spec, answer, result)) {
    shown.isError = true;
    return shown;
  }
  if (structured !== null) shown.structuredContent = structured;
  if (answer?.raw.isError !== undefined) shown.isError = false;
  return shown;
}

/** Whether the tool promised no form, the server's answer is whole, or the result has the form. */
function fits(spec: ToolSpec | undefined, answer: ServerAnswer | null, shown: ToolResult): boolean {
  if (spec?.outputSchema === undefined) return true;
  if (answer !== null && isSame(answer.output, shown)) return true;
  const { result } = shown;
  return (
    result !== null &&
    typeof result === 'object' &&
    validateJson(spec.outputSchema, result).length === 0
  );
}

const isSame = ({ content, structuredContent }: ToolOutput, result: ToolResult): boolean =>
  same(content, result.content) && same(structuredContent ?? null, result.result);

const same = (one: unknown, other: unknown): boolean =>
  one === other || canonicalJson(one) === canonicalJson(other);

/**
 * A protocol error of the server's, handed on as one. Its words are those that came through the
 * stack, and its data no layer has seen.
 */
export function callErrorOf(
  error: JsonObject,
  result: ToolResult,
  scrub: (text: string) => string,
): JsonObject {
  if (result.error === error.message) return scrubbed(error, scrub);
  return { code: error.code ?? null, message: result.error ?? '' };
}

/**
 * `_meta` of ours: status and `executed` of a call that did not end `ok`, its receipt and its
 * approval.
 */
function metaOf({ status, executed, audit, interruption }: ToolResult): JsonObject {
  const meta: Record<string, JsonValue> = {};
  if (status !== 'ok') {
    meta['allium/status'] = status;
    meta['allium/executed'] = executed;
  }
  if (typeof audit?.receiptUri === 'string') meta['allium/receipt'] = receiptName(audit.receiptUri);
  if (interruption !== undefined) meta['allium/approval'] = interruption.id;
  return meta;
}

/**
 * A file without its folder: approvals lie beside receipts, and a client may show its model
 * everything.
 */
const receiptName = (uri: string): string =>
  uri.startsWith('file:') ? uri.slice(uri.lastIndexOf('/') + 1) : uri;

/** Cleans every text in a value, names too. */
export function scrubbed<T extends JsonValue>(value: T, scrub: (text: string) => string): T {
  const clean = (item: JsonValue): JsonValue => {
    if (typeof item === 'string') return scrub(item);
    if (Array.isArray(item)) return (item as readonly JsonValue[]).map(clean);
    if (!isObject(item)) return item;
    return Object.fromEntries(
      Object.entries(item).map(([name, member]) => [scrub(name), clean(member)]),
    );
  };
  return clean(value) as T; // Text for text, and every other value as it is.
}
