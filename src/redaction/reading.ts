/**
 * The text that is being read: its codes, what must not be read twice in it, and the effort that is
 * left. There is one at a time, in one place for all: a text is read to its end at once, and
 * nothing on the way calls what a stranger wrote.
 */

import { judge, KINDS, type Looks, MASKS } from './characters.ts';

const INITIAL = 65_536;
let bytes = Buffer.alloc(INITIAL * 2);
let shared = new Uint16Array(bytes.buffer, bytes.byteOffset, INITIAL);
let sharedPairs = new Uint32Array(bytes.buffer, bytes.byteOffset, INITIAL / 2);
const BLANK = 32;
/** The text that is laid out, which several detectors look at one after another. */
let laidOut = '';

/**
 * The character codes of a text as an array: reading them one by one from the text takes three
 * times as long. Good until the next call: all texts share one array. What stands after the end of
 * the text is left from another.
 */
export function codesOf(text: string): Uint16Array {
  return text === laidOut ? shared : layOut(text);
}

/**
 * Lays a text out, also one that is laid out already: blanks may have been laid over parts of it.
 */
export function layOut(text: string): Uint16Array {
  if (text.length >= shared.length) {
    const length = text.length + 2 - (text.length & 1);
    bytes = Buffer.alloc(length * 2);
    shared = new Uint16Array(bytes.buffer, bytes.byteOffset, length);
    sharedPairs = new Uint32Array(bytes.buffer, bytes.byteOffset, length / 2);
  }
  bytes.write(text, 'utf16le');
  // A blank, so that the last character makes no pair with what another text has left there.
  shared[text.length] = BLANK;
  laidOut = text;
  return shared;
}

/**
 * Lays blanks over a stretch of the text that is laid out, for whatever asks for its codes until it
 * is laid out anew.
 */
export const layBlanks = (start: number, end: number): void => void shared.fill(BLANK, start, end);

/**
 * What a step costs, in microseconds of an ordinary machine. A place that is told by three
 * characters to be none of a word; a word that is told by its next characters to lead nowhere, as
 * nearly all are; and one whose next characters are read with an expression.
 */
export const A_STOP = 0.07;
export const A_GLANCE = 0.2;
export const A_WORD = 0.12;
/**
 * Reading a name or a line; weighing the letters of a value; and a finding, with all that becomes
 * of it.
 */
export const A_LOOK = 0.5;
export const A_JUDGEMENT = 2;
export const A_FINDING = 4;

/**
 * As much as a short text may ask for, and what every further character adds: about twice what it
 * takes to read one.
 */
const AT_ONCE = 3_000;
const PER_CHARACTER = 0.025;

/** What is left, and up to where the characters of the whole text were counted. */
export interface Effort {
  left: number;
  at: number;
  /**
   * Where in the whole text the stretch begins that is being read; `-Infinity` for one that was
   * decoded, which earns nothing.
   */
  origin: number;
}

/** The effort at the start of a text, in `effort` where that is not needed any more. */
export function startEffort(effort: Effort = { left: 0, at: 0, origin: 0 }): Effort {
  effort.left = AT_ONCE;
  effort.at = 0;
  effort.origin = 0;
  return effort;
}

/**
 * Takes the cost of a step at this place; `false` once there is nothing left. No ordinary text is
 * so full of words that lead to secrets that this is spent. What is not used does not add up, and a
 * character that two stretches share is counted once.
 */
export function spend(effort: Effort, at: number, cost: number): boolean {
  const place = effort.origin + at;
  if (place > effort.at) {
    effort.left = Math.min(AT_ONCE, effort.left + (place - effort.at) * PER_CHARACTER);
    effort.at = place;
  }
  effort.left -= cost;
  return effort.left > 0;
}

/** Characters up to here were hidden unread, and earn nothing. */
export function passOver(effort: Effort, to: number): void {
  effort.at = Math.max(effort.at, effort.origin + to);
}

/**
 * One text while secrets are looked for from its start to its end. However many words lead to a
 * place, it is read once.
 */
export interface Reading {
  text: string;
  codes: Uint16Array;
  /** The codes two by two, the first in the lower half. */
  pairs: Uint32Array;
  effort: Effort;
  /** Up to where tokens were found: none that begins before needs a look. */
  done: number;
  /** Up to where the values of names were read. */
  named: number;
  /** Up to where private keys were read, and where the next footer of one begins. */
  keys: number;
  footer: number;
  /** Up to where command lines, the values of headers and piped passwords were read. */
  line: number;
  value: number;
  piped: number;
  /** The run that was judged last. */
  judgedFrom: number;
  judgedEnd: number;
  judged: Looks;
}

const NO_LOOKS: Looks = { digits: 0, uppers: 0, lowers: 0, distinct: 0 };
const runStarts = new Int32Array(MASKS.length);
const runEnds = new Int32Array(MASKS.length).fill(-1);
let areRunsKnown = false;

const reading: Reading = {
  text: '',
  codes: shared,
  pairs: sharedPairs,
  effort: startEffort(),
  done: 0,
  named: 0,
  keys: 0,
  footer: 0,
  line: 0,
  value: 0,
  piped: 0,
  judgedFrom: -1,
  judgedEnd: -1,
  judged: NO_LOOKS,
};

/** Good until the next call. */
export function startReading(text: string, effort: Effort): Reading {
  reading.text = text;
  reading.codes = codesOf(text);
  reading.pairs = sharedPairs;
  reading.effort = effort;
  reading.done = reading.named = reading.keys = reading.footer = 0;
  reading.line = reading.value = reading.piped = 0;
  reading.judgedEnd = -1;
  if (areRunsKnown) runEnds.fill(-1);
  areRunsKnown = false;
  return reading;
}

/**
 * The end of the run of the alphabet in this slot that goes through `from`, followed for `reach`
 * characters at most. Ask with places that only grow.
 */
export function runEnd(
  { text: { length }, codes }: Reading,
  slot: number,
  from: number,
  reach = length,
): number {
  areRunsKnown = true;
  let end = runEnds[slot] ?? -1;
  if (from > end || from < (runStarts[slot] ?? 0)) {
    runStarts[slot] = from;
    end = from;
  }
  const mask = MASKS[slot] ?? 0;
  const limit = Math.min(length, from + reach);
  while (end < limit && ((KINDS[codes[end] ?? 0] ?? 0) & mask) !== 0) end += 1;
  runEnds[slot] = end;
  return end;
}

/** As much of a run as its looks are judged by. */
const JUDGED = 160;

/**
 * What the run up to `end` looks like, from its last characters; what begins later in the same run
 * looks no better.
 */
export function looksOf(read: Reading, from: number, end: number): Looks {
  if (end === read.judgedEnd && from >= read.judgedFrom) return read.judged;
  read.judgedFrom = from;
  read.judgedEnd = end;
  return (read.judged = judge(read.codes, Math.max(from, end - JUDGED), end));
}
