/**
 * JSON that every reader takes for the same value: read without doubt or not at all, and written so
 * that no reader of lines splits it.
 */

import { isUtf8 } from 'node:buffer';
import type { JsonValue } from './json-value.ts';
import { MAX_JSON_DEPTH } from './json.ts';
import { headOfWide, MAX_WIRE_VALUES } from './wide-json.ts';

/** A value, or why the text is not taken for one. */
export type ExactJson = { readonly value: JsonValue } | RefusedJson;

export interface RefusedJson {
  /** Ends the sentence "the sender sent …", and quotes nothing of the text. */
  readonly problem: string;
  /**
   * As `JSON.parse` reads it; absent where it reads nothing. Only for finding out whom to answer.
   */
  readonly value?: JsonValue;
  /** The names of the outermost members as they stand in the text, one for each time, unescaped. */
  readonly names: readonly string[];
  /** Outermost members whose own text or number is in doubt. */
  readonly doubtful: ReadonlySet<string>;
}

/**
 * Reads bytes as UTF-8 without a byte order mark. Bytes that are no UTF-8 are refused: readers put
 * different characters in their place.
 */
export function readExactBytes(bytes: Uint8Array): ExactJson {
  const buffer =
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (isUtf8(buffer)) return readExactText(text);
  const value = parsed(text);
  const { names, doubtful } = value === undefined ? NOTHING : doubtIn(text);
  return {
    problem: 'bytes that are not UTF-8',
    ...(value === undefined ? {} : { value }),
    names,
    doubtful,
  };
}

/**
 * Refuses what readers of JSON do not agree on: a member that stands twice in one object, a number
 * that is another one after it was read and written, half of a surrogate pair, nesting that some
 * readers do not survive, and more values than can be read in a moment. Takes any spelling of a
 * number (`1.0`, `1e2`) that keeps its value.
 */
export function readExactText(text: string): ExactJson {
  const head = headOfWide(text);
  if (head !== null)
    return {
      problem: `more than ${MAX_WIRE_VALUES} values (ask for less at a time)`,
      value: head,
      names: Object.keys(head),
      doubtful: NOTHING.doubtful,
    };
  const value = parsed(text);
  if (value === undefined)
    return {
      problem: text.startsWith('\ufeff') ? 'a byte order mark' : 'something that is not JSON',
      ...NOTHING,
    };
  const { problem, names, doubtful } = doubtIn(text);
  return problem === null ? { value } : { problem, value, names, doubtful };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue; // What was parsed from JSON is JSON.
  } catch {
    return undefined;
  }
}

/**
 * Characters that `JSON.stringify` leaves as they are and that end a line for some reader (U+0085,
 * U+2028, U+2029), or that a reader drops or takes for a mark (delete, C1 controls, U+FEFF). Those
 * below U+0020 are escaped already.
 */
const SPLITTING = /[\u007f-\u009f\u2028\u2029\ufeff]/;
const EACH_SPLITTING = new RegExp(SPLITTING, 'g');

/**
 * A value as one line for every reader of lines. Whatever it escapes is the same text again for who
 * reads the JSON.
 */
export function exactLine(value: object): string {
  const text = JSON.stringify(value);
  return SPLITTING.test(text) ? text.replace(EACH_SPLITTING, escaped) : text;
}

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

type Doubt = Pick<RefusedJson, 'names' | 'doubtful'> & { readonly problem: string | null };

const NOTHING = Object.freeze({ names: [], doubtful: new Set<string>() });

const [
  QUOTE,
  COMMA,
  MINUS,
  ZERO,
  NINE,
  OPEN_BRACKET,
  BACKSLASH,
  CLOSE_BRACKET,
  OPEN_BRACE,
  CLOSE_BRACE,
] = [34, 44, 45, 48, 57, 91, 92, 93, 123, 125] as const;

/** A text while it is read from first to last. */
interface Reading {
  readonly text: string;
  /** Where the next escape is: to look for it each time would take the square of the length. */
  escape: number;
  /** The names of every object that is open here; `null` for an array. */
  readonly open: (Set<string> | null)[];
  readonly names: string[];
  doubtful: Set<string> | null;
  problem: string | null;
}

/**
 * One pass over a text that `JSON.parse` has taken, so that only its tokens have to be found.
 * Counts instead of recursing.
 */
function doubtIn(text: string): Doubt {
  const reading: Reading = {
    text,
    escape: text.indexOf('\\'),
    open: [],
    names: [],
    doubtful: null,
    problem: null,
  };
  const { open } = reading;
  let isName = false;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isName) takeName(reading, at, end);
      else takeText(reading, at, end);
      isName = false;
      at = end;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      if (!survives(text.slice(at, end)))
        complainOfValue(
          reading,
          'a number that would not be the same after it was read and written',
        );
      at = end;
    } else {
      if (code === OPEN_BRACE) open.push(new Set());
      else if (code === OPEN_BRACKET) open.push(null);
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop();
      if (open.length > MAX_DEPTH) reading.problem ??= 'something that nests too deep';
      if (code === OPEN_BRACE || code === CLOSE_BRACE) isName = code === OPEN_BRACE;
      else if (code === COMMA) isName = open[open.length - 1] != null;
      at += 1;
    }
  }
  const { problem, names, doubtful } = reading;
  return { problem, names, doubtful: doubtful ?? NOTHING.doubtful };
}

/**
 * Some readers recurse, and none of ours may. A message is a little deeper than the arguments and
 * results in it.
 */
const MAX_DEPTH = MAX_JSON_DEPTH + 16;

const HALF = 'half of a surrogate pair';

function complainOfValue(reading: Reading, what: string): void {
  reading.problem ??= what;
  if (reading.open.length === 1) (reading.doubtful ??= new Set()).add(reading.names.at(-1) ?? '');
}

function takeName(reading: Reading, from: number, end: number): void {
  const { text, open, names } = reading;
  const name = hasEscape(reading, from, end)
    ? stringAt(text, from, end)
    : text.slice(from + 1, end - 1);
  const own = open[open.length - 1];
  if (own?.has(name) === true) reading.problem ??= 'a member that stands twice';
  if (!name.isWellFormed()) reading.problem ??= HALF;
  own?.add(name);
  if (open.length === 1) names.push(name);
}

/** Halves of surrogate pairs are only written with escapes: raw ones are no UTF-8. */
function takeText(reading: Reading, from: number, end: number): void {
  if (!hasEscape(reading, from, end)) return;
  const { text } = reading;
  if (!/\\u[dD][89a-fA-F]/.test(text.slice(from, end))) return;
  if (!stringAt(text, from, end).isWellFormed()) complainOfValue(reading, HALF);
}

function hasEscape(reading: Reading, from: number, end: number): boolean {
  const { text, escape } = reading;
  if (escape !== -1 && escape < from) reading.escape = text.indexOf('\\', from);
  return reading.escape !== -1 && reading.escape < end;
}

const stringAt = (text: string, from: number, end: number): string =>
  JSON.parse(text.slice(from, end)) as string; // It is the text of a string.

/** The place behind the closing quote. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** A number ends where its digits, dot, signs and exponent do. */
function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  for (
    let code = text.charCodeAt(at);
    (code >= MINUS && code <= NINE) || code === 43 || code === 69 || code === 101;
  ) {
    at += 1;
    code = text.charCodeAt(at);
  }
  return at;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Longer ones are no double's own writing, and comparing them takes long. */
const MAX_DIGITS = 400;

/**
 * Whether a number is a double as usually written: with the fewest digits that tell it from its
 * neighbours, or with the seventeen that some languages print. Up to fifteen digits without an
 * exponent always are.
 */
function survives(raw: string): boolean {
  if (raw.length <= 15 && /^(?:0|-?[1-9]\d*)(?:\.\d+)?$/.test(raw)) return true;
  const value = Number(raw);
  if (String(value) === raw) return true;
  if (raw.length > MAX_DIGITS || !Number.isFinite(value) || Object.is(value, -0)) return false;
  const exact = decimalOf(raw);
  return exact === decimalOf(String(value)) || exact === decimalOf(value.toPrecision(17));
}

/** The value of a number as text, the same for all of its spellings. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === ''
    ? '0'
    : `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}
