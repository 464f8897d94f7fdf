/** Messages from the standard output of a server: one JSON text a line. */

import {
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  parseJSONRPCMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
} from '@modelcontextprotocol/client';
import { isObject } from '../../core/json.ts';
import { readMessage } from '../../core/json-rpc.ts';
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
      const last = chunk.subarray(from, end);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
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

function messageIn(line: Buffer): JSONRPCMessage | null {
  const reading = readMessage(line);
  if (!('message' in reading))
    return reading.isAnswer && reading.id !== undefined
      ? ownAnswer(reading.id, 'unreadable')
      : null;
  const { message } = reading;
  try {
    return isPlainResult(message) ? message : parseJSONRPCMessage(message);
  } catch {
    const id = 'method' in message ? undefined : message.id;
    return typeof id === 'string' || typeof id === 'number' ? ownAnswer(id, 'unreadable') : null;
  }
}

/** An answer of which a look tells all that the SDK would check. Every other message is the SDK's to judge, which takes far longer. */
function isPlainResult(value: unknown): value is JSONRPCResultResponse {
  if (!isObject(value) || value.jsonrpc !== '2.0' || Object.keys(value).length !== 3) return false;
  const { id, result } = value;
  return (
    (typeof id === 'string' || Number.isSafeInteger(id)) &&
    isObject(result) &&
    !Object.hasOwn(result, '_meta')
  );
}
