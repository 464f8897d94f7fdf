/** Arguments and results on spans: only on request, only cleaned, and never without a bound. */

import type { ToolCall } from '../core/contract/call.ts';
import type { JsonValue } from '../core/json/json-value.ts';
import { scrubFor } from '../core/onion/audit.ts';
import { clip, MAX_CONTENT, type EndedCall } from './ended-call.ts';

/** What was captured of a call. Too large a value is its JSON text, cut off. */
export interface CapturedContent {
  readonly arguments: JsonValue;
  readonly result?: JsonValue;
  readonly error?: string;
}

/**
 * The arguments as this layer saw them, which redaction outside of it has cleaned on the way down,
 * and the answer as it left the stack, which redaction has cleaned on the way up. Both go through
 * the scrubs of the stack once more.
 */
export function contentOf({ call, answer }: EndedCall): CapturedContent {
  const args = cleaned(call, call.toolArgs);
  if (!answer.ok)
    return {
      arguments: args,
      ...(answer.error === null ? {} : { error: clip(scrubFor(call, answer.error), MAX_CONTENT) }),
    };
  return { arguments: args, result: cleaned(call, answer.result ?? answer.renderedResult) };
}

/** Cleans text by text, and then as a whole: a password is known by the name it stands beside. */
function cleaned(call: ToolCall, value: JsonValue): JsonValue {
  const parts = scrubFor(call, value);
  const text = JSON.stringify(parts);
  const whole = scrubFor(call, text);
  return whole === text && text.length <= MAX_CONTENT ? parts : clip(whole, MAX_CONTENT);
}

/** The same under the names of the conventions, as text, for exporters that take no objects. */
export function contentAttributes({
  arguments: args,
  result,
}: CapturedContent): Record<string, string> {
  return {
    'gen_ai.tool.call.arguments': textOf(args),
    ...(result === undefined ? {} : { 'gen_ai.tool.call.result': textOf(result) }),
  };
}

const textOf = (value: JsonValue): string =>
  clip(typeof value === 'string' ? value : JSON.stringify(value), MAX_CONTENT);
