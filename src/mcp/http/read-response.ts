/** Bodies of an HTTP server's answers: one JSON text, or events until the stream ends. */

import { isObject } from '../../core/json/json.ts';
import { type MessageReading, readMessage } from '../../core/wire/json-rpc.ts';
import { MAX_MESSAGE_BYTES, isRequestId, type RequestId, type WireMessage } from '../wire.ts';
import { type EventHandlers, eventParser } from './events.ts';

/** `ready` resolves when more may be read. */
export interface ReadGate {
  ready(): Promise<void>;
}

export const isEventStream = (response: Response): boolean =>
  essenceOf(response) === 'text/event-stream';
export const isJson = (response: Response): boolean => essenceOf(response) === 'application/json';

const essenceOf = ({ headers }: Response): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Reads events to the end of a stream, which may also break. One that is too large is the end. */
export async function readEvents(
  response: Response,
  gate: ReadGate,
  handlers: Omit<EventHandlers, 'onTooLarge'>,
): Promise<void> {
  let isTooLarge = false;
  const parser = eventParser({ ...handlers, onTooLarge: () => void (isTooLarge = true) });
  for await (const chunk of chunksOf(response)) {
    await gate.ready();
    parser.push(chunk);
    // Leaving the loop lets go of the connection: a server could go on forever.
    if (isTooLarge) throw new RangeError('an event is too large');
  }
}

/** The message that a body is; `null` for a body that is too large. */
export async function readWhole(
  response: Response,
  gate: ReadGate,
): Promise<MessageReading | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response)) {
    size += chunk.length;
    // Leaving the loop lets go of the connection.
    if (size > MAX_MESSAGE_BYTES) return null;
    chunks.push(chunk);
  }
  await gate.ready();
  return readMessage(Buffer.concat(chunks));
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  // The types of the stream do not say that it can be iterated over, or what it consists of. Bodies
  // of responses are bytes.
  if (body !== null) yield* body as unknown as AsyncIterable<Uint8Array>;
}

/**
 * An error as the answer to a request, although servers that refuse before they read do not know
 * its id.
 */
export function errorFor(id: RequestId, reading: MessageReading | null): WireMessage | null {
  const body = reading !== null && 'message' in reading ? reading.message : {};
  if (!isObject(body.error)) return null;
  return isRequestId(body.id) && body.id !== id ? null : { ...body, jsonrpc: '2.0', id };
}
