/**
 * Canonical JSON after RFC 8785: equal values have equal bytes, so they can be hashed and compared.
 * Nothing is turned into JSON that is not JSON already: two values with one hash are worse than an
 * error.
 */

import { knownOf, MAX_JSON_DEPTH, notJson } from './json.ts';
import {
  bytes,
  FULL,
  type Label,
  NOT_PLAIN,
  shapeCache,
  type Style,
  wordsOf,
  writeJson,
} from './json-bytes.ts';

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
  if (typeof value !== 'object' || value === null) return textOf(value, open.length);
  const known = knownOf(value);
  if (known === null) return wholeText(value);
  if (known.text !== null) return known.text;
  // From its bytes in one piece: the pieces that `containerText` joins would be garbage at once.
  const end = writeJson(value, 0, ASCII);
  const text = end === NOT_PLAIN ? wholeText(value) : bytes.toString('latin1', 0, end);
  if (text.length <= MAX_KNOWN) known.text = text;
  return text;
}

function wholeText(value: object): string {
  const outside = open.length;
  try {
    return containerText(value, outside);
  } finally {
    // A getter of a foreign value may ask for another text in between.
    if (open.length > outside) {
      open.length = outside;
      steps.length = outside;
    }
  }
}

/** The objects around the one being written, and the way to each: for the path in an error. */
const open: object[] = [];
const steps: (string | number)[] = [];

/**
 * From this length on, text is put aside flat: one rope of a million pieces costs more than many
 * short ones.
 */
const CHUNK = 8192;

/** `outside` is how many objects are open that belong to another text. */
function containerText(value: object, outside: number): string {
  const depth = open.length - outside;
  if (depth >= MAX_JSON_DEPTH) refuse(`nests deeper than ${MAX_JSON_DEPTH}`, outside);
  if (open.includes(value, outside)) refuse('contains itself', outside);
  const isList = Array.isArray(value);
  if (!isPlain(value, isList)) refuse('is neither a plain object nor a list', outside);
  open.push(value);
  // Every object can be read by name; what comes out is unknown.
  const text = isList
    ? listText(value, outside)
    : objectText(value as Readonly<Record<string, unknown>>, outside);
  open.pop();
  steps.pop();
  return text;
}

function listText(list: readonly unknown[], outside: number): string {
  const at = open.length - 1;
  let done = '';
  let text = '[';
  for (let index = 0; index < list.length; index += 1) {
    steps[at] = index;
    if (index > 0) text += ',';
    text += textOf(list[index], outside);
    if (text.length < CHUNK) continue;
    done += flattened(text);
    text = '';
  }
  steps[at] = '';
  return `${done}${text}]`;
}

function objectText(source: Readonly<Record<string, unknown>>, outside: number): string {
  const at = open.length - 1;
  const members = membersOf(source);
  if (members === undefined) {
    open.pop();
    refuse('has a member name with a lone surrogate', outside);
  }
  let done = '';
  let text = '{';
  for (const { name, label, quoteLabel } of members) {
    steps[at] = name;
    const item = source[name];
    // The case that counts: a label that holds the quote already makes one piece less.
    if (typeof item === 'string' && !NEEDS_CARE.test(item)) text += `${quoteLabel}${item}"`;
    else text += label + textOf(item, outside);
    if (text.length < CHUNK) continue;
    done += flattened(text);
    text = '';
  }
  steps[at] = '';
  return `${done}${text}}`;
}

/** Reading one character makes the engine lay a rope out as one run of characters. */
const flattened = (text: string): string => (text.charCodeAt(0) === 0 ? '' : text);

function textOf(value: unknown, outside: number): string {
  switch (typeof value) {
    case 'string':
      return quoted(value) ?? refuse('has a lone surrogate', outside);
    case 'number':
      // ECMAScript's own number text is the one RFC 8785 asks for, and it writes -0 as 0.
      return Number.isFinite(value) ? `${value}` : refuse('is not a finite number', outside);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : containerText(value, outside);
    case 'undefined':
      return refuse('is undefined', outside);
    case 'bigint':
    case 'function':
    case 'symbol':
      return refuse(`is a ${typeof value}`, outside);
  }
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

function refuse(problem: string, outside: number): never {
  throw notJson(pathTo(outside), problem);
}

function pathTo(outside: number): string {
  let path = '';
  for (const step of steps.slice(outside, open.length)) {
    if (typeof step === 'number') path += `[${step}]`;
    else path += path === '' ? step : `.${step}`;
  }
  return path;
}

/** What a string may hold that cannot stand between quotes as it is. */
export const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * The string between quotes, or `undefined` where it holds half a surrogate pair. Most strings need
 * no escape, and finding that out costs half of what `JSON.stringify` does.
 */
export function quoted(text: string): string | undefined {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}

export interface Member extends Label {
  /** The quoted name with the punctuation around it. */
  readonly label: string;
  /** The same with the quote that opens a string. */
  readonly quoteLabel: string;
}

/**
 * Members in the order of their names' UTF-16 code units, or `undefined` if a name cannot be
 * written. Sorting and quoting them once for each shape saves a third of the whole work.
 */
export const membersOf: (source: object) => readonly Member[] | undefined = shapeCache((names) => {
  const members: Member[] = [];
  // Without a comparator `toSorted` compares UTF-16 code units, which is RFC 8785's order.
  for (const name of names.toSorted()) {
    const text = quoted(name);
    if (text === undefined) return undefined;
    const label = members.length === 0 ? `${text}:` : `,${text}:`;
    members.push({
      name,
      label,
      quoteLabel: `${label}"`,
      words: wordsOf(label),
      length: label.length,
    });
  }
  return members;
});

const ASCII: Style = {
  maxDepth: MAX_JSON_DEPTH,
  labels: membersOf,
  below: null,
  writeText(text, at) {
    const written = quoted(text);
    if (written === undefined || at + 3 * written.length > FULL) return NOT_PLAIN;
    return bytes.write(written, at) === written.length ? at + written.length : NOT_PLAIN;
  },
  makeRoom: () => NOT_PLAIN,
};
