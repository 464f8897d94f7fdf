/**
 * Headers that repeat parts of a message for those on the way: what 2026-07-28 wants beside every
 * request.
 */

import { METHODS } from '../wire.ts';

const NAME_SOURCES: ReadonlyMap<string, string> = new Map([
  [METHODS.callTool, 'name'],
  [METHODS.getPrompt, 'name'],
  [METHODS.readResource, 'uri'],
  [METHODS.getTask, 'taskId'],
  [METHODS.updateTask, 'taskId'],
  [METHODS.cancelTask, 'taskId'],
]);

/** The parameter that the `Mcp-Name` header repeats for a method. */
export const nameSourceOf = (method: string): string | undefined => NAME_SOURCES.get(method);

/**
 * Text as a header can carry it: as it is, or as base64 of its UTF-8 in the marks that the protocol
 * has for that.
 */
export function encodeHeaderValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;

/**
 * What was meant by a header; `null` for marks around something that is no base64 of UTF-8, and for
 * what may only come within them.
 */
export function decodeHeaderValue(value: string): string | null {
  const trimmed = value.replace(/^[\t ]+|[\t ]+$/g, '');
  const [, inner] = ENCODED.exec(trimmed) ?? [];
  if (inner === undefined) return /^[\t\x20-\x7e]*$/.test(trimmed) ? trimmed : null;
  const text = Buffer.from(inner, 'base64').toString('utf8');
  // The decoders of Node skip or replace what they cannot read, and somebody else's might not.
  return Buffer.from(text, 'utf8').toString('base64') === inner ? text : null;
}
