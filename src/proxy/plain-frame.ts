/** Whether a message means the same to everybody who reads its bytes. */

import type { Frame } from './link.ts';

const NAMES = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = new Set([123, 91]);
const CLOSE = new Set([125, 93]);
const COLON = 58;

/**
 * Bytes are forwarded only where every reader takes them for the same message. Some take the first of two members with one name, some
 * read names without regard to case: to one of those, a harmless message could be a call that nobody has looked at. Such a message is
 * written anew from what was read here, or not forwarded at all (`null`).
 */
export function plainFrame(frame: Frame): Frame | null {
  const { message, bytes } = frame;
  for (const name of Object.keys(message)) if (!NAMES.includes(name) && NAMES.includes(foldedName(name))) return null;
  if (bytes === undefined) return frame;
  const names = topLevelNames(bytes);
  return names === null || new Set(names).size !== names.length ? { message } : frame;
}

const foldedName = (name: string): string => name.normalize('NFKC').toLowerCase().trim();

/** The names of the outermost members as they are written, or `null` where one of them is written with an escape. */
function topLevelNames(bytes: Uint8Array): readonly string[] | null {
  const names: string[] = [];
  let depth = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      const end = endOfText(bytes, at + 1);
      const text = bytes.subarray(at + 1, end);
      at = end + 1;
      if (depth !== 1 || !isFollowedByColon(bytes, at)) continue;
      if (text.includes(BACKSLASH)) return null;
      names.push(Buffer.from(text).toString('utf8'));
      continue;
    }
    if (OPEN.has(byte)) depth += 1;
    else if (CLOSE.has(byte)) depth -= 1;
    at += 1;
  }
  return names;
}

function endOfText(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(QUOTE, from);
  while (at !== -1 && isEscaped(bytes, at)) at = bytes.indexOf(QUOTE, at + 1);
  return at === -1 ? bytes.length : at;
}

function isEscaped(bytes: Uint8Array, quote: number): boolean {
  let at = quote - 1;
  while (bytes[at] === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 0;
}

function isFollowedByColon(bytes: Uint8Array, from: number): boolean {
  let at = from;
  while (bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 10 || bytes[at] === 13) at += 1;
  return bytes[at] === COLON;
}
