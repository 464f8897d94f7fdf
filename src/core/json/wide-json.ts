/**
 * Messages of a few bytes a value: counted before they are parsed, because parsing a million
 * members holds up everybody.
 */

import type { JsonObject } from './json-value.ts';

/** How many values one message may hold. A list of a thousand tools has some twenty thousand. */
export const MAX_WIRE_VALUES = 200_000;

const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Whether a JSON text holds more values than that. It does not judge whether the text is JSON; of
 * what is none it only ever counts too many.
 */
export function holdsMoreThan(text: string, limit: number): boolean {
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) values += 1;
    if (values > limit) return true;
  }
  return false;
}

/** Where the quote stands that ends the text which begins here. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/**
 * Reads only as much of a text with too many values as it takes to answer it: the members of the
 * outermost object that are no object or list. `null` for a text that holds no more than a message
 * may.
 */
export function headOfWide(text: string, limit = MAX_WIRE_VALUES): JsonObject | null {
  // No value is written with less than two characters, its comma included.
  return text.length < limit * 2 || !holdsMoreThan(text, limit) ? null : ownMembers(text);
}

/** The last of one name counts, as for `JSON.parse`. */
function ownMembers(text: string): JsonObject {
  const members: JsonObject = Object.create(null) as JsonObject; // A name may be any.
  let depth = 0;
  let start = 0;
  const take = (end: number): void => {
    if (depth !== 1 || end - start > MAX_MEMBER) return;
    const member = text.slice(start, end);
    if (!MEMBER.test(member)) return;
    try {
      Object.assign(members, JSON.parse(`{${member}}`));
    } catch {
      // Not JSON: the caller goes on without the member.
    }
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth === 1) start = at + 1;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT || code === COMMA) {
      take(at);
      if (depth === 1 && code === COMMA) start = at + 1;
      if (code !== COMMA) depth -= 1;
    }
  }
  return members;
}

const MAX_MEMBER = 1024;
const MEMBER = /^\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?[\d.eE+-]+)\s*$/;
