/** Changes single members of a message and leaves every other byte of it as it came. */

import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { Frame } from '../link.ts';
import { objectAt } from '../wire.ts';

/** A member that is there, by the names that lead to it, and what takes its place. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/**
 * Parsing and writing again would round large numbers and move members, so the bytes are cut instead. A member that stands twice is
 * read differently by different readers: then the message is written anew, with the one that was read here.
 */
export function editFrame({ message, bytes, paramHeaders }: Frame, edits: readonly Edit[]): Frame {
  const edited = edits.reduce((holder, { path, value }) => withMember(holder, path, value), message);
  const spliced = bytes === undefined ? null : splice(bytes, edits);
  return {
    message: edited,
    ...(spliced === null ? {} : { bytes: spliced }),
    ...(paramHeaders === undefined ? {} : { paramHeaders }),
  };
}

function withMember(holder: JsonObject, [name = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  return { ...holder, [name]: rest.length === 0 ? value : withMember(objectAt(holder, name), rest, value) };
}

/** From the first byte of a value to the one behind its last. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array | null {
  const cuts: { readonly span: Span; readonly text: Uint8Array }[] = [];
  for (const { path, value } of edits) {
    const span = spanAt(bytes, path);
    if (span === null) return null;
    cuts.push({ span, text: Buffer.from(JSON.stringify(value)) });
  }
  cuts.sort((a, b) => a.span.from - b.span.from);
  const parts: Uint8Array[] = [];
  let done = 0;
  for (const { span, text } of cuts) {
    parts.push(bytes.subarray(done, span.from), text);
    done = span.to;
  }
  return Buffer.concat([...parts, bytes.subarray(done)]);
}

function spanAt(bytes: Uint8Array, path: readonly string[]): Span | null {
  let span: Span | null = { from: skipSpace(bytes, 0), to: bytes.length };
  for (const name of path) {
    if (span !== null) span = memberSpan(bytes, span, name);
  }
  return span;
}

const [QUOTE, COMMA, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [34, 44, 92, 123, 125, 91, 93] as const;

/** The bytes were parsed before, so they are JSON, and only its ends have to be found. */
function memberSpan(bytes: Uint8Array, holder: Span, name: string): Span | null {
  if (bytes[holder.from] !== OPEN_BRACE) return null;
  let found: Span | null = null;
  let at = skipSpace(bytes, holder.from + 1);
  while (at < holder.to && bytes[at] === QUOTE) {
    const keyEnd = endOfString(bytes, at);
    const colon = skipSpace(bytes, keyEnd);
    const from = skipSpace(bytes, colon + 1);
    const to = endOfValue(bytes, from);
    if (textOf(bytes, at, keyEnd) === name) {
      if (found !== null) return null;
      found = { from, to };
    }
    at = skipSpace(bytes, to);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return found;
}

/** A name may be written with escapes. */
const textOf = (bytes: Uint8Array, from: number, to: number): unknown =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8'));

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 10 || bytes[at] === 13) at += 1;
  return at;
}

function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return bytes.length;
}

/** Counts instead of recursing: nesting is as deep as the other side likes. */
function endOfValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET)) return at;
    else {
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
      at += 1;
    }
    if (depth === 0 && (byte === QUOTE || byte === CLOSE_BRACE || byte === CLOSE_BRACKET)) return at;
  }
  return at;
}
