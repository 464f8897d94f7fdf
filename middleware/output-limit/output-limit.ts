/** Keeps large results aside, and gives the model the beginning and a way to read on. */

import { fileOutputs } from '../../src/index.ts';
import {
  annotate,
  checkOptions,
  cutUtf8,
  defineLayer,
  type JsonObject,
  type JsonValue,
  must,
  type OutputFileRef,
  type OutputFiles,
  quoteVoice,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { OPTIONS, type OutputLimitOptions } from './options.ts';

export type { OutputLimitOptions };
export type { ReadOutputToolOptions } from './read-output-tool.ts';
export { readOutputTool } from './read-output-tool.ts';

/**
 * Replaces the text, the blocks and the structured value of a result that is too large by its
 * beginning and a note; the whole text goes to the store. A store that fails costs the rest of the
 * text, never the call. It does not limit arguments, progress, or how large a result a tool may
 * hold in memory, and it keeps text only: images of a result that is cut are dropped.
 */
export function outputLimit(options: OutputLimitOptions = {}): ToolLayer {
  checkOptions('outputLimit', options, OPTIONS);
  const { maxBytes = 8192, store = fileOutputs(), readTool = 'read_output' } = options;
  return defineLayer({
    name: 'outputLimit',
    order: [
      must.outsideOf('redaction', 'inside it, what is kept aside has not been redacted'),
      should.outsideOf(
        'handoffArtifact',
        'inside it, a handoff in a large result is cut away before it is found',
      ),
    ],
    async caller(call, next) {
      const result = await next(call);
      const text = largeTextOf(result, maxBytes);
      if (text === null) return result;
      const file = await keep(store, call, text);
      return cutResult(result, text, file, { maxBytes, readTool });
    },
  });
}

/**
 * The text to keep, or `null` for a result that is small enough: what the model reads, and a
 * structured value that hides behind it.
 */
function largeTextOf(
  { renderedResult: text, result }: ToolResult,
  maxBytes: number,
): string | null {
  if (text.length > maxBytes || Buffer.byteLength(text) > maxBytes) return text;
  return isHeavierThan(result, maxBytes) ? `${text}\n\n${JSON.stringify(result)}` : null;
}

/**
 * The file, or `null` where it could not be kept: why is nothing the model can mend, and may hold a
 * path.
 */
async function keep(
  store: OutputFiles,
  call: ToolCall,
  text: string,
): Promise<OutputFileRef | null> {
  try {
    const file = await store.write({
      sessionId: call.turn.sessionId,
      text,
      mediaType: 'text/plain; charset=utf-8',
    });
    return isRef(file) ? file : null;
  } catch {
    return null;
  }
}

function cutResult(
  result: ToolResult,
  whole: string,
  file: OutputFileRef | null,
  given: { maxBytes: number; readTool: string },
): ToolResult {
  const bytes = Buffer.byteLength(whole);
  const { quoted, shownBytes } = beginningOf(whole, given.maxBytes - NOTE_BYTES);
  const text = `${quoted}\n${noteOn(bytes, shownBytes, file, given.readTool)}`;
  const cut = withResult(result, {
    content: [{ type: 'text', text }],
    // A string, not an object: clients that were shown an output schema would check an object
    // against it, and throw it away.
    result: result.result === null ? null : text,
    outputFiles: file === null ? result.outputFiles : [...result.outputFiles, file],
    ...(result.ok ? {} : { error: text }),
  });
  return annotate(cut, {}, { status: 'cut', bytes, shownBytes, kept: file !== null });
}

/**
 * As much of a text as fits once lines of it that look like our note are quoted, and how many bytes
 * of the text that is.
 */
function beginningOf(
  whole: string,
  maxBytes: number,
): { readonly quoted: string; readonly shownBytes: number } {
  for (let room = maxBytes; ; ) {
    const shown = cutUtf8(whole, Math.max(0, room));
    const quoted = quoteVoice(shown);
    const over = Buffer.byteLength(quoted) - maxBytes;
    if (over <= 0) return { quoted, shownBytes: Buffer.byteLength(shown) };
    room -= over;
  }
}

/** Room for the longest note: two names of 128 characters and three numbers. */
const NOTE_BYTES = 400;

function noteOn(
  bytes: number,
  offset: number,
  file: OutputFileRef | null,
  readTool: string,
): string {
  const rest =
    file === null
      ? 'the rest could not be kept'
      : `to read on, call ${readTool} with ${JSON.stringify({ id: file.sha256, offset })}`;
  return `[cut: the first ${offset} of ${bytes} bytes are shown; ${rest}]`;
}

const ID = /^[\w.-]{1,128}$/;

/**
 * A store comes from outside: what it answers goes to the model only if it is what it should be.
 */
function isRef(file: unknown): file is OutputFileRef {
  if (typeof file !== 'object' || file === null) return false;
  const { uri, bytes, sha256, mediaType } = file as Partial<Record<keyof OutputFileRef, unknown>>;
  return (
    [uri, mediaType].every((text) => typeof text === 'string') &&
    Number.isSafeInteger(bytes) &&
    typeof sha256 === 'string' &&
    ID.test(sha256)
  );
}

/**
 * Whether a value takes more than `maxBytes` as JSON, roughly: quotes, commas and escapes are not
 * counted. Stops counting there.
 */
export const isHeavierThan = (value: JsonValue, maxBytes: number): boolean =>
  weigh(value, maxBytes) < 0;

/** What is left of a budget; below zero as soon as it is spent. */
function weigh(value: JsonValue, budget: number): number {
  if (typeof value === 'string') return budget - Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return budget - 1;
  return Array.isArray(value)
    ? weighList(value, budget - 1)
    : weighMembers(value as JsonObject, budget - 1);
}

function weighList(list: readonly JsonValue[], budget: number): number {
  let left = budget;
  for (const item of list) {
    if (left < 0) break;
    left = weigh(item, left);
  }
  return left;
}

function weighMembers(members: JsonObject, budget: number): number {
  let left = budget;
  for (const key of Object.keys(members)) {
    if (left < 0) break;
    left = weigh(members[key] ?? null, left - Buffer.byteLength(key));
  }
  return left;
}
