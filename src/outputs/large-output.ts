/** Large results: what of them is kept aside, and what the model is shown in their place. */

import {
  cutUtf8,
  type JsonObject,
  type JsonValue,
  type OutputFileRef,
  type OutputFiles,
  quoteVoice,
  type ToolCall,
  type ToolResult,
} from '../layer.ts';

/**
 * The text to keep, or `null` for a result that is small enough: what the model reads, and a
 * structured value that hides behind it.
 */
export function largeTextOf(
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
export async function keepAside(
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

/** What is shown of a text. */
export interface Shown {
  readonly text: string;
  readonly bytes: number;
  readonly shownBytes: number;
}

/** The beginning of a text, and a note that says where the rest is; together within `maxBytes`. */
export function shownPart(
  whole: string,
  maxBytes: number,
  file: OutputFileRef | null,
  readTool: string,
): Shown {
  const bytes = Buffer.byteLength(whole);
  const { quoted, shownBytes } = beginningOf(whole, maxBytes - NOTE_BYTES);
  return { text: `${quoted}\n${noteOn(bytes, shownBytes, file, readTool)}`, bytes, shownBytes };
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
