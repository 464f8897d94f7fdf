/** Messages from the standard output of a server: one JSON text a line. */

import {
  deserializeMessage,
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
} from '@modelcontextprotocol/client';
import { isObject } from '../../core/json.ts';
import { parseWire } from '../../core/wide-json.ts';
import { ownAnswer } from './own-answer.ts';

const LINE_FEED = 0x0a;

/**
 * Gives every message to `take`. A line that is no message is dropped, as servers print what they should not; one that would be an answer
 * is answered for. Answers `false` when a line is longer than any may be: nothing that follows can be understood.
 */
export function messageReader(take: (message: JSONRPCMessage) => void): (chunk: Buffer) => boolean {
  let parts: Buffer[] = [];
  let held = 0;
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      const line = parts.length === 0 ? chunk.toString('utf8', from, end) : joined(parts, chunk.subarray(from, end));
      parts = [];
      held = 0;
      from = end + 1;
      const message = messageIn(line);
      if (message !== null) take(message);
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    held += chunk.length - from;
    return held <= STDIO_DEFAULT_MAX_BUFFER_SIZE;
  };
}

const joined = (parts: readonly Buffer[], last: Buffer): string => Buffer.concat([...parts, last]).toString('utf8');

function messageIn(line: string): JSONRPCMessage | null {
  let value: unknown;
  try {
    const read = parseWire(line);
    value = read.value;
    if (read.isReplaced) return value as JSONRPCMessage; // Made by `parseWire`, as a message.
    return isPlainResult(value) ? value : deserializeMessage(line);
  } catch {
    const id = isObject(value) && !('method' in value) ? value.id : undefined;
    return typeof id === 'string' || typeof id === 'number' ? ownAnswer(id, 'unreadable') : null;
  }
}

/** An answer of which a look tells all that the SDK would check. Every other message is the SDK's to judge, which takes far longer. */
function isPlainResult(value: unknown): value is JSONRPCResultResponse {
  if (!isObject(value) || value.jsonrpc !== '2.0' || Object.keys(value).length !== 3) return false;
  const { id, result } = value;
  return (typeof id === 'string' || Number.isSafeInteger(id)) && isObject(result) && !Object.hasOwn(result, '_meta');
}
