// String methods that take a text apart or put it together: split, splitlines, strip, join.

import { decodeCodepoint } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { elementsOf } from '../iterate.ts';
import { SLOT_BYTES, type Thread } from '../thread.ts';
import { List, type Value } from '../values.ts';
import { accountItems, accountText } from './accounting.ts';
import { positional } from './arguments.ts';
import type { MethodCalls } from './method-table.ts';
import { clamped } from './numbers.ts';
import { chargeWork, countOf, finder } from './search.ts';
import { codepointsOf, decodeLastCodepoint } from './unicode.ts';
import { typeName } from '../kinds.ts';

type StringCall = MethodCalls<string>[string];

const joinArguments = positional('join', ['iterable']);
const splitlinesArguments = positional('splitlines', [], ['bool']);

/** The methods of this file by name. */
export const splitMethods: MethodCalls<string> = {
  join: (thread, receiver, args, kwargs) => {
    const [iterable] = joinArguments(args, kwargs);
    return join(thread, receiver, elementsOf(thread, iterable) ?? []);
  },
  split: splitMethod('split'),
  rsplit: splitMethod('rsplit'),
  splitlines: (thread, receiver, args, kwargs) => {
    const [keepEnds = false] = splitlinesArguments(args, kwargs);
    return new List(linesOf(thread, receiver, keepEnds));
  },
  strip: stripMethod('strip', { start: true, end: true }),
  lstrip: stripMethod('lstrip', { start: true, end: false }),
  rstrip: stripMethod('rstrip', { start: false, end: true }),
};

function join(thread: Thread, separator: string, items: readonly Value[]): string {
  let length = Math.max(0, items.length - 1) * separator.length;
  for (const item of items) {
    if (typeof item !== 'string')
      throw new StarlarkError(`join: in list, want string, got ${typeName(item)}`);
    length += item.length;
  }
  accountText(thread, length);
  chargeWork(thread, items.length * 8 + length);
  // Each was seen to be a string.
  return (items as readonly string[]).join(separator);
}

function splitMethod(name: 'split' | 'rsplit'): StringCall {
  const readArguments = positional(name, [], ['any', 'int']);
  return (thread, receiver, args, kwargs) => {
    const [separator = null, limit = -1] = readArguments(args, kwargs);
    const most = limit < 0 ? Number.POSITIVE_INFINITY : clamped(limit);
    accountItems(thread, 0);
    if (separator === null)
      return new List(
        name === 'split' ? words(thread, receiver, most) : wordsFromEnd(thread, receiver, most),
      );
    // Both methods call themselves split in these messages.
    if (typeof separator !== 'string')
      throw new StarlarkError(`split: got ${typeName(separator)} for separator, want string`);
    if (separator === '') throw new StarlarkError('split: empty separator');
    const skipped = name === 'split' ? 0 : Math.max(0, countOf(thread, receiver, separator) - most);
    return new List(pieces(thread, receiver, { separator, most, skipped }));
  };
}

/** Adds a piece, accounted before. */
function addPiece(thread: Thread, pieces: string[], piece: string): void {
  thread.account(piece.length + 3 * SLOT_BYTES);
  pieces.push(piece);
}

interface Splitting {
  readonly separator: string;
  readonly most: number;
  /** How many separators stay in the first piece, for a split that counts from the end. */
  readonly skipped: number;
}

function pieces(thread: Thread, text: string, { separator, most, skipped }: Splitting): string[] {
  const found: string[] = [];
  const find = finder(thread, text, separator);
  let start = 0;
  let seen = 0;
  for (
    let index = find(0);
    index >= 0 && found.length < most;
    index = find(index + separator.length)
  ) {
    if (seen++ < skipped) continue;
    addPiece(thread, found, text.slice(start, index));
    start = index + separator.length;
  }
  addPiece(thread, found, text.slice(start));
  return found;
}

// White space of Unicode as the bytes of its UTF-8: no other character contains these sequences.
const SPACE =
  '(?:[\\t-\\r ]|\\xc2[\\x85\\xa0]|\\xe1\\x9a\\x80|\\xe2(?:\\x80[\\x80-\\x8a\\xa8\\xa9\\xaf]|\\x81\\x9f)|\\xe3\\x80\\x80)';
const SPACES = new RegExp(`${SPACE}+`, 'g');
const LEADING_SPACES = new RegExp(`^${SPACE}+`);

/**
 * The parts between white space; when there are `most` of them, the rest is the last one, with what
 * ends it.
 */
function words(thread: Thread, text: string, most: number): string[] {
  chargeWork(thread, text.length);
  const found: string[] = [];
  let start = LEADING_SPACES.exec(text)?.[0].length ?? 0;
  SPACES.lastIndex = start;
  for (
    let match = SPACES.exec(text);
    match !== null && found.length < most;
    match = SPACES.exec(text)
  ) {
    addPiece(thread, found, text.slice(start, match.index));
    start = SPACES.lastIndex;
  }
  if (start < text.length) addPiece(thread, found, text.slice(start));
  return found;
}

/** As `words`, counted from the end: the first one is the rest, with what begins it. */
function wordsFromEnd(thread: Thread, text: string, most: number): string[] {
  if (most === Number.POSITIVE_INFINITY) return words(thread, text, most);
  chargeWork(thread, text.length);
  const found: string[] = [];
  let end = endWithoutSpaces(text, text.length);
  while (end > 0 && found.length < most) {
    const start = startOfWord(text, end);
    addPiece(thread, found, text.slice(start, end));
    end = endWithoutSpaces(text, start);
  }
  if (end > 0) addPiece(thread, found, text.slice(0, end));
  return found.reverse();
}

const LAST_SPACE = new RegExp(`${SPACE}$`);

/** How many bytes a white space has that ends before an index; 0 when none does. */
function spaceBefore(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  if (last < 0x80) return last === 0x20 || (last >= 0x09 && last <= 0x0d) ? 1 : 0;
  return LAST_SPACE.exec(text.slice(Math.max(0, end - 3), end))?.[0].length ?? 0;
}

function endWithoutSpaces(text: string, from: number): number {
  let end = from;
  for (let size = spaceBefore(text, end); size > 0; size = spaceBefore(text, end)) end -= size;
  return end;
}

function startOfWord(text: string, from: number): number {
  let start = from;
  while (start > 0 && spaceBefore(text, start) === 0) start--;
  return start;
}

function linesOf(thread: Thread, text: string, keepEnds: boolean): string[] {
  accountItems(thread, 0);
  chargeWork(thread, text.length);
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    addPiece(thread, lines, text.slice(start, keepEnds ? end + 1 : end));
    start = end + 1;
  }
  return lines;
}

interface Sides {
  readonly start: boolean;
  readonly end: boolean;
}

function stripMethod(name: string, sides: Sides): StringCall {
  const readArguments = positional(name, [], ['string']);
  return (thread, receiver, args, kwargs) => {
    const [characters = ''] = readArguments(args, kwargs);
    chargeWork(thread, receiver.length + characters.length * 8);
    accountText(thread, receiver.length + characters.length * 16);
    return characters === ''
      ? stripSpaces(receiver, sides)
      : stripCharacters(receiver, characters, sides);
  };
}

function stripSpaces(text: string, sides: Sides): string {
  const start = sides.start ? (LEADING_SPACES.exec(text)?.[0].length ?? 0) : 0;
  return text.slice(
    start,
    sides.end ? Math.max(start, endWithoutSpaces(text, text.length)) : text.length,
  );
}

function stripCharacters(text: string, characters: string, sides: Sides): string {
  const set = new Set(codepointsOf(characters));
  let [start, end] = [0, text.length];
  while (sides.start && start < end) {
    const [codepoint, size] = decodeCodepoint(text, start);
    if (!set.has(codepoint)) break;
    start += size;
  }
  while (sides.end && end > start) {
    const [codepoint, size] = decodeLastCodepoint(text, end);
    if (!set.has(codepoint)) break;
    end -= size;
  }
  return text.slice(start, end);
}
