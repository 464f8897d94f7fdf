/** Content blocks in MCP's shape, and the text a model reads from them. */

import type { JsonObject, JsonValue } from '../json/json-value.ts';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly annotations?: JsonObject;
}
export interface ImageBlock {
  readonly type: 'image';
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: JsonObject;
}
export interface AudioBlock {
  readonly type: 'audio';
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: JsonObject;
}
export interface ResourceBlock {
  readonly type: 'resource';
  readonly resource: {
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    readonly blob?: string;
  };
  readonly annotations?: JsonObject;
}
export interface ResourceLinkBlock {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: JsonObject;
}

export type ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceBlock | ResourceLinkBlock;
export type Content = readonly ContentBlock[];

/** The text of an answer: its blocks where it has any, otherwise the value itself. */
export function renderContent(content: Content, value: JsonValue): string {
  if (content.length > 0) return content.map(renderBlock).join('\n');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function renderBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}]`;
    case 'resource':
      return block.resource.text ?? `[resource: ${block.resource.uri}]`;
    case 'resource_link':
      return `[resource: ${block.name} ${block.uri}]`;
  }
}
