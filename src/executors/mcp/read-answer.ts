/** What a server answered, made an output. Three members are taken and no other: an `audit`, `status` or `approval` is not for it to write. */

import type { ContentBlock } from '../../core/content.ts';
import { isObject } from '../../core/json.ts';
import { toolFailure, type ToolOutput, toolOutput } from '../../tools/tool.ts';

/** Throws a failure that says that the tool ran: it has answered, whatever can be made of it. */
export function readAnswer(server: string, answer: unknown): ToolOutput {
  try {
    if (!isObject(answer)) throw new TypeError('no object');
    const { content, structuredContent, isError } = answer;
    const blocks = Array.isArray(content) ? content.map(readBlock) : [];
    return toolOutput({
      content: blocks,
      ...(structuredContent === undefined ? {} : { structuredContent }),
      ...(isError === true ? { isError: true } : {}),
    });
  } catch {
    throw unreadable(server);
  }
}

export const unreadable = (server: string): Error =>
  toolFailure(
    `The server "${server}" answered with something that cannot be read. The tool has run; do not repeat the call.`,
    {
      executed: 'yes',
      category: 'invalid_answer',
      errorClass: 'fatal',
    },
  );

const isText = (value: unknown): value is string => typeof value === 'string';

/** By type: what a block must hold, and what it may. `_meta` is nobody's business here. */
const SHAPES: Readonly<
  Record<string, { readonly must: readonly string[]; readonly may: readonly string[] }>
> = {
  text: { must: ['text'], may: [] },
  image: { must: ['data', 'mimeType'], may: [] },
  audio: { must: ['data', 'mimeType'], may: [] },
  resource_link: { must: ['uri', 'name'], may: ['title', 'description', 'mimeType'] },
};
const RESOURCE = { must: ['uri'], may: ['mimeType', 'text', 'blob'] };

function readBlock(block: unknown): ContentBlock {
  const fields = isObject(block) ? fieldsOf(block) : null;
  if (!isObject(block) || fields === null)
    return { type: 'text', text: '[content of an unknown kind]' };
  // The shape was just checked, member by member.
  return {
    type: block.type,
    ...fields,
    ...(isObject(block.annotations) ? { annotations: block.annotations } : {}),
  } as ContentBlock;
}

function fieldsOf(block: Record<string, unknown>): Record<string, unknown> | null {
  if (block.type === 'resource') {
    const resource = isObject(block.resource) ? taken(block.resource, RESOURCE) : null;
    return resource === null ? null : { resource };
  }
  const shape =
    isText(block.type) && Object.hasOwn(SHAPES, block.type) ? SHAPES[block.type] : undefined;
  return shape === undefined ? null : taken(block, shape);
}

function taken(
  from: Record<string, unknown>,
  { must, may }: (typeof SHAPES)[string],
): Record<string, unknown> | null {
  if (!must.every((key) => isText(from[key]))) return null;
  return Object.fromEntries(
    [...must, ...may].filter((key) => isText(from[key])).map((key) => [key, from[key]]),
  );
}
