/** A note of ours in what the model reads. */

import { isRendered, outcomeOf, quoteVoice, type ToolResult, withResult } from '../layer.ts';

/**
 * Adds to every text the model may read. The structured value stays: it may have to fit an output
 * schema. Where a tool has written lines that look like notes of ours, they are quoted: this note
 * is the only one.
 */
export function withNote(result: ToolResult, note: string): ToolResult {
  // One that waits for a person is not over yet.
  if (outcomeOf(result) === 'interrupted') return result;
  const quoted = result.content.map((block) =>
    block.type === 'text' ? { ...block, text: quoteVoice(block.text) } : block,
  );
  const blocks = isRendered(result)
    ? {}
    : { content: [...quoted, { type: 'text' as const, text: note }] };
  if (!result.ok) {
    const error = `${quoteVoice(result.error ?? '')}\n${note}`.trimStart();
    return withResult(result, { ...blocks, error });
  }
  // Written out, not drawn anew: a layer inside may have hidden what the blocks still hold.
  const renderedResult = `${quoteVoice(result.renderedResult)}\n${note}`;
  return withResult(result, { ...blocks, renderedResult });
}
