/** Results of calls that never came as far as the layer that would have cleaned them. */

import { linkOf } from './pass.ts';
import type { Scrub } from '../contract/layer.ts';
import { withResult } from './results.ts';
import type { ContentBlock } from '../contract/content.ts';
import { type ToolResult } from '../contract/result.ts';
import { scrub } from './scrub.ts';

/**
 * What has run has passed every layer, the cleaning ones too. A call that was answered further out
 * has not, and its result repeats what the model sent: the stack's scrubs go over it here.
 * `interruption.shown` stays, because a person decides about exactly what they see.
 */
export function cleanRefusal(result: ToolResult): ToolResult {
  const { state, derived } = linkOf(result);
  const { scrubs } = state;
  if (scrubs.length === 0 || result.executed !== 'no') return result;
  const { content, metadata } = result;
  return withResult(result, {
    arguments: scrub(result.arguments, scrubs),
    result: scrub(result.result, scrubs),
    ...(derived ? {} : { content: content.map((block) => cleanBlock(block, scrubs)) }),
    error: scrub(result.error, scrubs),
    renderedResult: scrub(result.renderedResult, scrubs),
    ...(metadata === undefined ? {} : { metadata: scrub(metadata, scrubs) }),
  });
}

/** A cleaner may empty the members of a block; what kind of block it is stays. */
const cleanBlock = (block: ContentBlock, scrubs: readonly Scrub[]): ContentBlock =>
  Object.fromEntries(
    Object.entries(block).map(([name, value]: [string, unknown]) => [
      name,
      name === 'type' ? value : scrub(value, scrubs),
    ]),
  ) as unknown as ContentBlock; // The members keep their names, so the shape is the same.
