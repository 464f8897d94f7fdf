/**
 * What an MCP server answered to a call, made an output. Three members are read and no other: an
 * `audit`, `status` or `approval` is not for a server to write.
 */

import type { ContentBlock } from '../core/contract/content.ts';
import { isObject } from '../core/json/json.ts';
import type { JsonValue } from '../core/json/json-value.ts';
import { type ToolOutput, toolOutput } from '../tools/tool.ts';

/** How the callers differ: a client gives the output to a model, the proxy hands it on. */
export interface AnswerReading {
  /**
   * `replace` puts a placeholder for a block of an unknown kind, and takes the known members of
   * every other; `keep` leaves blocks as they are, and drops what is none.
   */
  readonly blocks: 'replace' | 'keep';
  /** Whether `structuredContent: null` is read as if it had not been sent. */
  readonly ignoresNull: boolean;
  /** Absent where the output may be kept for other calls, as `toolOutput` says. */
  readonly keep?: false;
}

/** Throws for an answer that is no object, or cannot be copied. */
export function readAnswer(answer: unknown, reading: AnswerReading): ToolOutput {
  if (!isObject(answer)) throw new TypeError('no object');
  const { content, structuredContent, isError } = answer;
  const blocks = Array.isArray(content) ? content : [];
  const isAbsent =
    structuredContent === undefined || (structuredContent === null && reading.ignoresNull);
  return toolOutput({
    // A kept block is JSON, and nothing looks into a kind that it does not know.
    content: reading.blocks === 'keep' ? blocks.filter(isBlock) : blocks.map(knownBlock),
    ...(isAbsent ? {} : { structuredContent }),
    ...(isError === true ? { isError: true } : {}),
    ...(reading.keep === undefined ? {} : { keep: reading.keep }),
  });
}

const isBlock = (block: JsonValue): boolean => isObject(block) && isText(block.type);

const isText = (value: unknown): value is string => typeof value === 'string';

interface Shape {
  readonly must: readonly string[];
  readonly may: readonly string[];
}

/** By type: what a block must hold, and what it may. `_meta` is not read. */
const SHAPES: Readonly<Record<string, Shape>> = {
  text: { must: ['text'], may: [] },
  image: { must: ['data', 'mimeType'], may: [] },
  audio: { must: ['data', 'mimeType'], may: [] },
  resource_link: { must: ['uri', 'name'], may: ['title', 'description', 'mimeType'] },
};
const RESOURCE: Shape = { must: ['uri'], may: ['mimeType', 'text', 'blob'] };

function knownBlock(block: unknown): ContentBlock {
  const fields = isObject(block) ? knownFields(block) : null;
  if (!isObject(block) || fields === null)
    return { type: 'text', text: '[content of an unknown kind]' };
  // The shape was just checked, member by member.
  return {
    type: block.type,
    ...fields,
    ...(isObject(block.annotations) ? { annotations: block.annotations } : {}),
  } as ContentBlock;
}

function knownFields(block: Record<string, unknown>): Record<string, unknown> | null {
  if (block.type === 'resource') {
    const resource = isObject(block.resource) ? textsIn(block.resource, RESOURCE) : null;
    return resource === null ? null : { resource };
  }
  const shape =
    isText(block.type) && Object.hasOwn(SHAPES, block.type) ? SHAPES[block.type] : undefined;
  return shape === undefined ? null : textsIn(block, shape);
}

function textsIn(
  from: Record<string, unknown>,
  { must, may }: Shape,
): Record<string, unknown> | null {
  if (!must.every((key) => isText(from[key]))) return null;
  return Object.fromEntries(
    [...must, ...may].filter((key) => isText(from[key])).map((key) => [key, from[key]]),
  );
}
