/**
 * What hooks are shown of a call and its result, and what becomes of those when a hook writes them
 * anew.
 */

import type { ToolCall } from '../core/contract/call.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { withResult } from '../core/onion/results.ts';
import { canonicalJson } from '../core/json/canonical.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';

/** The payload after a change, or what is wrong with the change. */
export type Merged = { readonly payload: JsonObject } | { readonly problem: string };
/** Applies a change to a payload. */
export type Merge = (payload: JsonObject, change: JsonObject) => Merged;

/** For events of the host: what a hook hands over stands over what there was. */
export const mergeAny: Merge = (payload, change) => ({ payload: { ...payload, ...change } });

/** What hooks of `tool.pre` are shown. */
export const prePayload = ({ callId, toolName, toolArgs }: ToolCall): JsonObject => ({
  id: callId,
  name: toolName,
  arguments: JSON.stringify(toolArgs),
  args: toolArgs,
});

/**
 * `args` as an object, or `arguments` as one or as its JSON text. Which call it is cannot be
 * changed.
 */
export const mergePre: Merge = (payload, change) => {
  const fixed = ['id', 'name'].find((name) => isChanged(payload, change, name));
  if (fixed !== undefined) return { problem: `changed "${fixed}"` };
  const written = ['args', 'arguments'].filter((name) => isChanged(payload, change, name));
  const given = ['args', 'arguments'].some((name) => Object.hasOwn(change, name));
  // A hook that handed over the arguments themselves instead of a payload would have changed
  // nothing, although it meant to.
  if (!given) return { problem: 'gave a payload without "args"' };
  const read = written.map((name) => argsFrom(change[name]));
  // The payload is ours: its args are an object.
  const [args = payload.args as JsonObject, other = args] = read;
  if (args === null || other === null) return { problem: 'gave arguments that are no object' };
  if (!isSame(args, other)) return { problem: 'gave "args" and "arguments" that differ' };
  return { payload: { ...payload, ...change, args, arguments: JSON.stringify(args) } };
};

function argsFrom(value: JsonValue | undefined): JsonObject | null {
  if (isMap(value)) return value;
  if (typeof value !== 'string') return null;
  try {
    const parsed = JSON.parse(value) as JsonValue; // What JSON.parse answers is JSON.
    return isMap(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** What hooks of `tool.post` are shown. */
export const postPayload = ({
  toolCallId,
  toolName,
  renderedResult,
  ok: isOk,
  result,
}: ToolResult): JsonObject => ({
  call_id: toolCallId,
  name: toolName,
  content: renderedResult,
  is_error: !isOk,
  result,
});

/**
 * The text, the value, or both. An error stays one: what has failed cannot be talked into having
 * worked.
 */
export const mergePost: Merge = (payload, change) => {
  const fixed = ['call_id', 'name'].find((name) => isChanged(payload, change, name));
  if (fixed !== undefined) return { problem: `changed "${fixed}"` };
  if (!['content', 'result', 'is_error'].some((name) => Object.hasOwn(change, name)))
    return { problem: 'gave a payload without "content" or "result"' };
  const payloadAfter = { ...payload, ...change };
  if (typeof payloadAfter.content !== 'string')
    return { problem: 'gave a content that is no text' };
  if (typeof payloadAfter.is_error !== 'boolean')
    return { problem: 'gave an is_error that is neither true nor false' };
  if (payload.is_error === true && !payloadAfter.is_error)
    return { problem: 'made a success of an error' };
  return { payload: payloadAfter };
};

const isChanged = (payload: JsonObject, change: JsonObject, name: string): boolean =>
  Object.hasOwn(change, name) && !isSame(payload[name] ?? null, change[name] ?? null);

/** By canonical text; half a surrogate pair has none, and is a change. */
function isSame(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch {
    return false;
  }
}

/**
 * The result as the hooks left it. Nothing of what was replaced survives beside it: blocks and
 * output files go, and where only the text is new, it is the value too.
 */
export function replacedResult(before: ToolResult, from: JsonObject, to: JsonObject): ToolResult {
  const isNewText = isChanged(from, to, 'content');
  const isNewValue = isChanged(from, to, 'result');
  const isNewError = to.is_error === true && from.is_error === false;
  if (!isNewText && !isNewValue && !isNewError) return before;
  const text = to.content as string; // Merging lets nothing else into a payload.
  const value = isNewValue ? (to.result ?? null) : isNewText ? text : before.result;
  const rest = { content: [], outputFiles: [] } as const;
  if (to.is_error === true) {
    const error =
      isNewText || !isNewValue ? text : typeof value === 'string' ? value : JSON.stringify(value);
    const ending = isNewError
      ? ({ ok: false, status: 'executor_error', errorCategory: 'tool_error' } as const)
      : {};
    return withResult(before, { ...rest, ...ending, result: isNewValue ? value : null, error });
  }
  const replaced = withResult(before, { ...rest, result: value });
  return isNewText && isNewValue
    ? withResult(replaced, { content: [{ type: 'text', text }], renderedResult: text })
    : replaced;
}

/** What a hook said. */
export type Verdict =
  | { readonly action: 'allow' }
  | { readonly action: 'block'; readonly reason: string }
  | { readonly action: 'modify'; readonly payload: JsonObject };

const ALLOW: Verdict = Object.freeze({ action: 'allow' });
const NO_REASON = 'no reason was given';
const MAX_REASON = 2_000;

/**
 * `null` for everything that is no verdict: nothing at all, a number, an unknown action, a
 * payload that is no object.
 */
export function readVerdict(said: JsonValue): Verdict | null {
  if (!isMap(said)) return null;
  const { action, ...rest } = said;
  if (action === 'allow') return ALLOW;
  if (action === 'block') return { action, reason: reasonFrom(rest.reason) };
  if (action !== 'modify') return null;
  // Without a payload of its own the dict is the payload.
  const payload = Object.hasOwn(rest, 'payload') ? rest.payload : rest;
  return payload !== undefined && isMap(payload) ? { action, payload } : null;
}

/** A block without a reason is a block. */
const reasonFrom = (reason: JsonValue | undefined): string =>
  typeof reason === 'string' && reason.trim() !== '' ? reason.slice(0, MAX_REASON) : NO_REASON;

const isMap = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Truth as the language of the scripts has it. */
export function isTrue(value: JsonValue): boolean {
  if (value === null || value === false || value === 0 || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
