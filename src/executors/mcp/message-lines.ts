/** Messages from the standard output of a server: one JSON text a line. */

import { deserializeMessage, type JSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/client';
import { isObject } from '../../core/json.ts';
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
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]).toString('utf8');
      parts = [];
      held = 0;
      from = end + 1;
      const message = messageIn(line);
      if (message !== null) take(message);
    }
    parts.push(chunk.subarray(from));
    held += chunk.length - from;
    return held <= STDIO_DEFAULT_MAX_BUFFER_SIZE;
  };
}

function messageIn(line: string): JSONRPCMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
    return deserializeMessage(line);
  } catch {
    const id = isObject(value) && !('method' in value) ? value.id : undefined;
    return typeof id === 'string' || typeof id === 'number' ? ownAnswer(id, 'unreadable') : null;
  }
}
