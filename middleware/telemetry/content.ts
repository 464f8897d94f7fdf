/** Arguments and results on spans: only on request, only cleaned, and never without a bound. */

import { type JsonValue, scrubFor, type ToolCall } from '../../src/index.ts';
import type { EndedCall } from './ended-call.ts';
import { clip, MAX_CONTENT } from './text.ts';

/** What was captured of a call. Too large a value is its JSON text, cut off. */
export interface CapturedContent {
  readonly arguments: JsonValue;
  readonly result?: JsonValue;
  readonly error?: string;
}

const WITHHELD = '[withheld: parts of this result are masked by path, outside telemetry]';

/**
 * The arguments as this layer saw them, and the answer. Redaction stands outside, so that it has cleaned the arguments by
 * now but not the answer: everything goes through the scrubs of the stack, and a tool that names paths to be masked in its
 * results has none captured. What a redactor hides by path or by a function of its own is not hidden here.
 */
export function contentOf({ call, result }: EndedCall): CapturedContent {
  const args = cleaned(call, call.toolArgs);
  if (!result.ok) return { arguments: args, ...(result.error === null ? {} : { error: clip(scrubFor(call, result.error), MAX_CONTENT) }) };
  const isMaskedByPath = (call.annotations.safety?.redaction ?? []).length > 0;
  return { arguments: args, result: isMaskedByPath ? WITHHELD : cleaned(call, result.result ?? result.renderedResult) };
}

/** Cleans text by text, and then as a whole: a password is known by the name it stands beside. */
function cleaned(call: ToolCall, value: JsonValue): JsonValue {
  const parts = scrubFor(call, value);
  const text = JSON.stringify(parts);
  const whole = scrubFor(call, text);
  return whole === text && text.length <= MAX_CONTENT ? parts : clip(whole, MAX_CONTENT);
}

/** The same under the names of the conventions, as text, for exporters that take no objects. */
export function contentAttributes({ arguments: args, result }: CapturedContent): Record<string, string> {
  return {
    'gen_ai.tool.call.arguments': textOf(args),
    ...(result === undefined ? {} : { 'gen_ai.tool.call.result': textOf(result) }),
  };
}

const textOf = (value: JsonValue): string => clip(typeof value === 'string' ? value : JSON.stringify(value), MAX_CONTENT);
