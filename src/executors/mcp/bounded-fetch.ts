/** `fetch` whose answers have an end: whoever answers decides how much, and it is read into memory before it is looked at. */

import type { FetchLike } from '@modelcontextprotocol/client';
import { MAX_WIRE_VALUES } from '../../core/wide-json.ts';

/** As much as a message of a child process may have. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A comma, an opening bracket, an opening brace: what stands before every value but the first. */
const BEFORE_VALUE: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b]);

/** Fails an answer with a message that is larger, or holds more values. Of a stream of events each counts alone: it may be open for days. */
export const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounding(isEvents)), {
    status,
    statusText,
    headers,
  });
};

function bounding(isEvents: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let values = 0;
  let isLineEmpty = true;
  let isText = false;
  let isEscaped = false;
  const take = (byte: number): void => {
    // An empty line ends an event.
    if (isEvents && byte === LINE_FEED && isLineEmpty) {
      bytes = 0;
      values = 0;
      isText = false;
    }
    if (byte !== CARRIAGE_RETURN) isLineEmpty = byte === LINE_FEED;
    bytes += 1;
    if (byte === QUOTE && !isEscaped) isText = !isText;
    else if (!isText && BEFORE_VALUE.has(byte)) values += 1;
    isEscaped = isText && byte === BACKSLASH && !isEscaped;
  };
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) take(byte);
      if (bytes > MAX_MESSAGE_BYTES)
        controller.error(new Error(`an answer has more than ${MAX_MESSAGE_BYTES} bytes`));
      else if (values > MAX_WIRE_VALUES)
        controller.error(new Error(`an answer holds more than ${MAX_WIRE_VALUES} values`));
      else controller.enqueue(chunk);
    },
  });
}
