/** The tool with which a model reads on in a result that was kept aside. */

import { defineTool, type Tool, toolFailure, toolOutput } from '../index.ts';
import {
  checkOptions,
  expected,
  type OutputRequest,
  type OutputSlice,
  quoteVoice,
  type ReadableOutputs,
} from '../layer.ts';

export interface ReadOutputToolOptions {
  /** Where the results were kept: the store of `outputLimit`. */
  readonly store: ReadableOutputs;
  /** @default 'read_output' */
  readonly name?: string;
  /**
   * The most bytes of one answer, its note included. Not more than the layer lets through. @default
   * 8192
   */
  readonly maxBytes?: number;
}

/** Room for the note behind each part. */
const NOTE_BYTES = 200;

/**
 * Reads results that `outputLimit` kept aside in the same session, part by part. What another
 * session kept does not exist for it. It reads what the store holds and does not redact again.
 */
export function readOutputTool(options: ReadOutputToolOptions): Tool {
  checkOptions('readOutputTool', options, {
    store: expected.required(expected.made('a store with a read function', 'read')),
    name: expected.string,
    maxBytes: expected.integer(512),
  });
  const { store, name = 'read_output', maxBytes = 8192 } = options;
  const most = maxBytes - NOTE_BYTES;
  return defineTool({
    name,
    description:
      'Reads on in a tool result that was too long to be shown whole. The note at its end says with which id and offset.',
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', minLength: 1, maxLength: 4096, description: 'The id from the note.' },
        offset: {
          type: 'integer',
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Where to begin, in bytes. 0 if left out.',
        },
        length: {
          type: 'integer',
          minimum: 4,
          maximum: most,
          description: `How many bytes. ${most} if left out.`,
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    annotations: {
      kind: 'read',
      readOnly: true,
      idempotent: true,
      openWorld: false,
      sideEffectLevel: 'read_only',
    },
    async execute({ id, offset = 0, length = most }, { turn }) {
      const { slice, text } = await readQuoted(
        store,
        { sessionId: turn.sessionId, id, offset, length: Math.min(length, most) },
        most,
      );
      return toolOutput({ content: [{ type: 'text', text: `${text}\n${noteOn(slice)}` }] });
    },
  });
}

/** The shortest part that can be asked for: one character. */
const SHORTEST = 4;

/** A part that fits also once lines of it that look like our note are quoted. */
async function readQuoted(
  store: ReadableOutputs,
  request: OutputRequest,
  most: number,
): Promise<{ slice: OutputSlice; text: string }> {
  for (let { length } = request; ; ) {
    const slice = await readFrom(store, { ...request, length });
    const text = quoteVoice(slice.text);
    const over = Buffer.byteLength(text) - most;
    if (over <= 0 || length <= SHORTEST) return { slice, text };
    length = Math.max(SHORTEST, length - over);
  }
}

async function readFrom(store: ReadableOutputs, request: OutputRequest): Promise<OutputSlice> {
  const slice = await orFailure(() => store.read(request));
  if (slice !== null) return slice;
  throw toolFailure(
    'There is no output with this id in this session. Use the id from the note of a result that was cut.',
    {
      category: 'not_found',
      errorClass: 'repairable',
      executed: 'yes',
    },
  );
}

/** A store's own words may name files of the host. */
async function orFailure<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch {
    throw toolFailure('The output could not be read.', {
      category: 'store_failed',
      errorClass: 'retryable',
      executed: 'yes',
    });
  }
}

function noteOn({ offset, end, bytes }: OutputSlice): string {
  return end >= bytes
    ? `[bytes ${offset} to ${end} of ${bytes}: the end]`
    : `[bytes ${offset} to ${end} of ${bytes}: go on with offset ${end}]`;
}
