/**
 * Server-sent events: written by hand, because the one parser at hand belongs to another package
 * and keeps without a bound.
 */

import { exactLine } from '../../core/json/exact-json.ts';
import { MAX_MESSAGE_BYTES, type WireMessage } from '../wire.ts';

export interface ServerEvent {
  /** What the server called the event, `message` where it did not. */
  readonly type: string;
  readonly data: string;
  /** For going on from here after a broken stream. Empty where the server gave none. */
  readonly id: string;
}

export interface EventParser {
  push(chunk: Uint8Array): void;
}

export interface EventHandlers {
  onEvent(event: ServerEvent): void;
  /** How long the server wants one to wait before asking again. */
  onRetry(ms: number): void;
  /** One event was larger than is kept. Nothing that comes after it can be trusted to be whole. */
  onTooLarge(): void;
}

/**
 * Bytes into events, whatever the pieces they come in. One that is cut off by the end of the stream
 * is no event.
 */
export function eventParser(handlers: EventHandlers, maxChars = MAX_MESSAGE_BYTES): EventParser {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let kept = 0;
  let isBroken = false;
  let data: string[] = [];
  let size = 0;
  let type = '';
  let id = '';

  const dispatch = (): void => {
    if (data.length > 0 || id !== '')
      handlers.onEvent({ type: type === '' ? 'message' : type, data: data.join('\n'), id });
    data = [];
    size = 0;
    type = '';
    id = '';
  };

  const readLine = (line: string): void => {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      size += value.length;
      data.push(value);
    } else if (field === 'event') type = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) handlers.onRetry(Number(value));
  };

  const takeLines = (): void => {
    // A carriage return at the very end may be the first half of a line ending: it waits for what
    // follows.
    const lines = parts.join('').split(/\r\n|\n|\r(?!$)/);
    const rest = lines.pop() ?? '';
    parts = [rest];
    kept = rest.length;
    for (const line of lines) readLine(line);
  };

  return {
    // Only what may end a line is looked at again: a long line in many pieces would else be read
    // once for each of them.
    push(chunk) {
      if (isBroken) return;
      const text = decoder.decode(chunk, { stream: true });
      const mayEndLine = /[\r\n]/.test(text) || parts.at(-1)?.endsWith('\r') === true;
      parts.push(text);
      kept += text.length;
      if (mayEndLine) takeLines();
      if (size + kept <= maxChars) return;
      isBroken = true;
      handlers.onTooLarge();
    },
  };
}

/**
 * A message as an event: one line for every reader, since a carriage return ends a line of events,
 * too.
 */
export const eventText = (message: WireMessage): string =>
  `event: message\ndata: ${exactLine(message)}\n\n`;
