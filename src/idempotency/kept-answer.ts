/** What is kept of a result, and the result that is made of it for another call. */

import {
  type ContentBlock,
  type JsonObject,
  ok,
  type ToolCall,
  type ToolResult,
  withResult,
} from '../layer.ts';

/**
 * Only what the tool itself answered, whole: no preview, no refusal, nothing that was cut or waits
 * for somebody.
 */
export const isKeepable = (result: ToolResult): boolean =>
  result.ok &&
  result.status === 'ok' &&
  result.executed === 'yes' &&
  result.outputFiles.length === 0 &&
  result.interruption === undefined &&
  result.metadata?.keep !== false;

/** The parts of an answer that do not belong to one call. Frozen, so that it can be shared. */
export const answerOf = ({ result, content, renderedResult }: ToolResult): JsonObject =>
  // Content blocks are JSON; their interfaces just do not say so.
  Object.freeze({ result, content: content as unknown as JsonObject[], text: renderedResult });

/**
 * The answer as a result of this call; `null` where a store gave back something else than it was
 * given.
 */
export function resultFrom(call: ToolCall, answer: JsonObject): ToolResult | null {
  const { result, content, text } = answer;
  if (result === undefined || !Array.isArray(content) || typeof text !== 'string') return null;
  const plain = ok(call, result);
  const [only] = plain.content;
  // Blocks that only repeated the text are made of it again.
  if (plain.renderedResult === text && JSON.stringify([only]) === JSON.stringify(content))
    return plain;
  // Checked no further than this: what a store gives back is the host's own.
  const full = ok(call, result, { content: content as unknown as ContentBlock[] });
  // A text that somebody put in the place of the blocks hides them here too.
  return full.renderedResult === text ? full : withResult(full, { renderedResult: text });
}
