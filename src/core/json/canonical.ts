/**
 * Canonical JSON after RFC 8785: equal values have equal bytes, so they can be hashed and compared.
 * Nothing is turned into JSON that is not JSON already: two values with one hash are worse than an
 * error.
 */

import { type Member, membersOf } from './canonical-members.ts';
import { NEEDS_CARE, quoted } from './canonical-text.ts';
import { keepText, keptText, MAX_JSON_DEPTH, notJson } from './json.ts';

/**
 * Longer texts are written anew: arguments are asked for again and again, results are not, and
 * would weigh twice as much.
 */
const MAX_KNOWN = 4_000;

/**
 * The RFC 8785 text of a JSON value. Throws `ERR_NOT_JSON` with the path for everything else:
 * `undefined` (also as a member), holes, functions, symbols, bigints, NaN, infinities, class
 * instances, cycles, lone surrogates, and nesting deeper than `MAX_JSON_DEPTH`. Reads every member
 * once and never calls a `toJSON`. Does not look at members under symbols, members that are not
 * enumerable, and named members of arrays: JSON has no place for them.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return scalarText(value, []);
  const before = keptText(value);
  if (before !== null) return before;
  const text = containerText(value);
  if (text.length <= MAX_KNOWN) keepText(value, text);
  return text;
}

/** One open array or object on the way down. */
interface Frame {
  readonly source: Readonly<Record<string | number, unknown>>;
  /** In the order they are written; `null` for arrays. */
  readonly members: readonly Member[] | null;
  readonly length: number;
  /** How many items have been read. The last of them is the one a path leads through. */
  index: number;
  /**
   * The item that has to be written before the next one is read, because it has items of its own.
   */
  child: object | null;
  done: boolean;
}

/**
 * From this length on, text is put aside flat: one rope of a million pieces costs more than many
 * short ones.
 */
const CHUNK = 8192;

/**
 * Keeps a stack of its own: recursion on a foreign value would end where the thread's stack does.
 */
function containerText(root: object): string {
  const frames: Frame[] = [];
  const chunks: string[] = [];
  let text = '';
  let frame: Frame | undefined = openFrame(root, frames);
  while (frame !== undefined) {
    text =
      frame.members === null
        ? addItems(text, frame, frames)
        : addMembers(text, frame, frame.members, frames);
    if (text.length >= CHUNK) {
      chunks.push(flattened(text));
      text = '';
    }
    if (frame.child !== null) {
      frame = openFrame(frame.child, frames);
    } else if (frame.done) {
      frames.pop();
      frame = frames.at(-1);
    }
  }
  if (chunks.length === 0) return text;
  chunks.push(text);
  return chunks.join('');
}

/** Reading one character makes the engine lay a rope out as one run of characters. */
const flattened = (text: string): string => (text.charCodeAt(0) === 0 ? '' : text);

function openFrame(value: object, frames: Frame[]): Frame {
  for (const frame of frames) if (frame.source === value) refuse(frames, 'contains itself');
  if (frames.length >= MAX_JSON_DEPTH) refuse(frames, `nests deeper than ${MAX_JSON_DEPTH}`);
  const isList = Array.isArray(value);
  if (!isPlain(value, isList)) refuse(frames, 'is neither a plain object nor a list');
  const members = isList
    ? null
    : (membersOf(Object.keys(value)) ?? refuse(frames, 'has a member name with a lone surrogate'));
  // Every object can be read by name and by index; what comes out is unknown.
  const frame: Frame = {
    source: value as Frame['source'],
    members,
    length: isList ? value.length : 0,
    index: 0,
    child: null,
    done: false,
  };
  frames.push(frame);
  return frame;
}

/**
 * A class instance is not plain: what it means is not in its members. What another realm made is.
 */
function isPlain(value: object, isList: boolean): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === (isList ? Array.prototype : Object.prototype)) return true;
  if (prototype === null) return !isList;
  if (typeof prototype !== 'object') return false;
  // Another realm's prototypes are not ours, but they have the same methods of their own.
  if (isList) return Array.isArray(prototype) && Object.hasOwn(prototype, 'concat');
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/**
 * Adds the items of an array up to the next one that has items of its own, or until the text is
 * long enough.
 */
function addItems(before: string, frame: Frame, frames: readonly Frame[]): string {
  let text = frame.index === 0 ? `${before}[` : before;
  frame.child = null;
  while (frame.index < frame.length) {
    const item = frame.source[frame.index];
    if (frame.index > 0) text += ',';
    frame.index += 1;
    if (typeof item === 'object' && item !== null) {
      frame.child = item;
      return text;
    }
    text += scalarText(item, frames);
    // Not before the first item: the bracket would be written again.
    if (text.length >= CHUNK) return text;
  }
  frame.done = true;
  return `${text}]`;
}

/** Adds the members of an object up to the next one that has members of its own. */
function addMembers(
  before: string,
  frame: Frame,
  members: readonly Member[],
  frames: readonly Frame[],
): string {
  let text = frame.index === 0 ? `${before}{` : before;
  frame.child = null;
  for (let member = members[frame.index]; member !== undefined; member = members[frame.index]) {
    const item = frame.source[member.name];
    frame.index += 1;
    if (typeof item === 'string' && !NEEDS_CARE.test(item)) {
      // The case that counts: a label that holds the quote already makes one piece less.
      text += `${member.quoteLabel}${item}"`;
    } else if (typeof item === 'object' && item !== null) {
      frame.child = item;
      return text + member.label;
    } else {
      text += member.label + scalarText(item, frames);
    }
  }
  frame.done = true;
  return `${text}}`;
}

function scalarText(value: unknown, frames: readonly Frame[]): string {
  switch (typeof value) {
    case 'string':
      return quoted(value) ?? refuse(frames, 'has a lone surrogate');
    case 'number':
      // ECMAScript's own number text is the one RFC 8785 asks for, and it writes -0 as 0.
      return Number.isFinite(value) ? `${value}` : refuse(frames, 'is not a finite number');
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return 'null';
    case 'undefined':
      return refuse(frames, 'is undefined');
    case 'bigint':
    case 'function':
    case 'symbol':
      return refuse(frames, `is a ${typeof value}`);
  }
}

function refuse(frames: readonly Frame[], problem: string): never {
  throw notJson(pathOf(frames), problem);
}

function pathOf(frames: readonly Frame[]): string {
  let path = '';
  for (const { members, index } of frames) {
    const name = members?.[index - 1]?.name;
    if (name === undefined) path += `[${index - 1}]`;
    else path += path === '' ? name : `.${name}`;
  }
  return path;
}
