/** `fetch` whose answers have an end: whoever answers decides how much, and it is read into memory before it is looked at. */

import type { FetchLike } from '@modelcontextprotocol/client';

/** As much as a message of a child process may have. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Fails an answer with a message larger than that. Of a stream of events each counts alone: it may be open for days. */
export const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounding(isEvents)), { status, statusText, headers });
};

function bounding(isEvents: boolean): TransformStream<Uint8Array, Uint8Array> {
  let taken = 0;
  let isLineEmpty = true;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isEvents ? chunk : []) {
        // An empty line ends an event.
        if (byte === LINE_FEED && isLineEmpty) taken = 0;
        if (byte !== CARRIAGE_RETURN) isLineEmpty = byte === LINE_FEED;
        taken += 1;
      }
      if (!isEvents) taken += chunk.length;
      if (taken > MAX_MESSAGE_BYTES) controller.error(new Error(`an answer has more than ${MAX_MESSAGE_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
