/** Where a tool may have put a handoff in its result. */

import type { ToolCall } from '../core/contract/call.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { isObject } from '../core/json/json.ts';

/** Looks for a handoff in a result its own way. Nothing, or a failure, leaves it to the keys. */
export type DetectHandoff = (call: ToolCall, result: ToolResult) => unknown;

/** Longer texts are not taken apart in search of a handoff. */
const MAX_TEXT = 256 * 1024;

/** What a tool may have meant as a handoff; `null` for nothing. It may be of any type. */
export function findPayload(
  call: ToolCall,
  result: ToolResult,
  keys: readonly string[],
  detect: DetectHandoff | undefined,
): unknown {
  const detected = detect === undefined ? null : detectedBy(detect, call, result);
  if (detected !== null) return detected;
  const value = objectIn(result);
  if (value === null) return null;
  for (const key of keys) if (Object.hasOwn(value, key) && value[key] !== null) return value[key];
  return null;
}

function detectedBy(detect: DetectHandoff, call: ToolCall, result: ToolResult): unknown {
  try {
    const found = detect(call, result);
    if (!(found instanceof Promise)) return found ?? null;
    // It is not waited for, and must not end the process when it rejects.
    found.catch(() => {});
    return null;
  } catch {
    return null;
  }
}

/** The structured value, or the one that a text stands for. */
function objectIn({ result, content }: ToolResult): Readonly<Record<string, unknown>> | null {
  if (isObject(result)) return result;
  if (typeof result === 'string') return parsed(result);
  const [block, ...more] = content;
  return result === null && block?.type === 'text' && more.length === 0 ? parsed(block.text) : null;
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  if (text.length > MAX_TEXT || !text.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
