/**
 * SHA-256 over the canonical JSON of a snapshot, written as bytes where they are hashed: a text in between costs as much again. Writes
 * only what is plain. For everything else the text is the way, and it says what is wrong.
 */

import { createHash, hash, type Hash } from 'node:crypto';
import { membersOf } from './canonical-members.ts';
import { quoted } from './canonical-text.ts';
import { isSnapshot, MAX_JSON_DEPTH } from './json.ts';

const SIZE = 65_536;
const bytes = Buffer.alloc(SIZE);
const view = new DataView(bytes.buffer, bytes.byteOffset, SIZE);
/** Up to here there is room for the longest thing that is written without asking. */
const FULL = SIZE - 1024;
/** Longer strings are checked and written as a whole. */
const SHORT = 128;
/** More names, or longer ones, than are kept with their bytes are better written as text. */
const MAX_LABEL_WORDS = 64;
/** Instead of a place: something that is not plain. */
const NOT_PLAIN = -1;

/** Takes what does not fit. Nothing foreign runs while a snapshot is read, so there is one at a time. */
let overflow: Hash | null = null;

/** The digest of `head` and the canonical JSON of a value, or `null` where that has to be made from its text. */
export function snapshotDigest(value: unknown, head: Uint8Array, encoding: 'hex' | 'binary'): string | null {
  if (typeof value !== 'object' || value === null || !isSnapshot(value)) return null;
  bytes.set(head);
  overflow = null;
  const end = writeContainer(value, head.length, 1);
  if (end === NOT_PLAIN) return null;
  return overflow === null ? hash('sha256', bytes.subarray(0, end), encoding) : overflowed(end).digest(encoding);
}

/** Each of these writes at a place and answers the next one. */
function writeValue(value: unknown, at: number, depth: number): number {
  switch (typeof value) {
    case 'string':
      return writeString(value, at);
    case 'number':
      return Number.isFinite(value) ? writeNumber(value, at) : NOT_PLAIN;
    case 'boolean':
      return writeAscii(value ? 'true' : 'false', at);
    case 'object':
      return value === null ? writeAscii('null', at) : writeContainer(value, at, depth + 1);
    default:
      return NOT_PLAIN;
  }
}

const writeContainer = (value: object, at: number, depth: number): number => {
  if (depth > MAX_JSON_DEPTH) return NOT_PLAIN;
  return Array.isArray(value) ? writeItems(value, at, depth) : writeMembers(value, at, depth);
};

function writeItems(items: readonly unknown[], start: number, depth: number): number {
  let at = start;
  for (let index = 0; index < items.length; index += 1) {
    bytes[at] = index === 0 ? 0x5b : 0x2c;
    at = writeValue(items[index], roomAt(at + 1), depth);
    if (at === NOT_PLAIN) return NOT_PLAIN;
  }
  if (items.length === 0) return writeAscii('[]', at);
  bytes[at] = 0x5d;
  return roomAt(at + 1);
}

function writeMembers(source: object, start: number, depth: number): number {
  const members = membersOf(Object.keys(source));
  if (members === undefined) return NOT_PLAIN;
  let at = roomAt(start);
  bytes[at] = 0x7b;
  at += 1;
  for (const { name, label, words } of members) {
    if (words === null || words.length > MAX_LABEL_WORDS) return NOT_PLAIN;
    // The last word may say more than the label. What follows is written over it.
    for (let index = 0; index < words.length; index += 1) view.setInt32(at + 4 * index, words[index] ?? 0, true);
    // A snapshot can be read by its own names.
    at = writeValue((source as Readonly<Record<string, unknown>>)[name], at + label.length, depth);
    if (at === NOT_PLAIN) return NOT_PLAIN;
    at = roomAt(at);
  }
  bytes[at] = 0x7d;
  return at + 1;
}

/** Character by character: for a short string this costs half of what a call out of the engine does. */
function writeString(text: string, start: number): number {
  if (text.length > SHORT) return writeLong(text, start);
  bytes[start] = 0x22;
  let at = start + 1;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f || PLAIN[unit] === 0) return writeLong(text, start);
    bytes[at] = unit;
    at += 1;
  }
  bytes[at] = 0x22;
  return at + 1;
}

/** 1 for characters that stand for themselves, and are one byte. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, unit) => (unit < 0x20 || unit === 0x22 || unit === 0x5c ? 0 : 1));

function writeLong(text: string, start: number): number {
  const written = quoted(text);
  if (written === undefined) return NOT_PLAIN;
  // A character is at most three bytes of UTF-8.
  if (start + 3 * written.length <= FULL) return start + bytes.write(written, start);
  overflowed(start).update(written);
  return 0;
}

/** The common kinds of numbers by their digits; a text of each would be made and thrown away. */
function writeNumber(value: number, start: number): number {
  if ((value | 0) === value && value >= 0) return writeDigits(value, start);
  const hundredths = Math.round(value * 100);
  // Of all decimals with up to fifteen digits no two are the same number, so this one is its shortest text.
  if (hundredths <= 0 || hundredths > 1e9 || hundredths / 100 !== value) return writeAscii(`${value}`, start);
  const whole = Math.floor(hundredths / 100);
  const at = writeDigits(whole, start);
  const tenths = Math.floor((hundredths - 100 * whole) / 10);
  const rest = hundredths - 100 * whole - 10 * tenths;
  bytes[at] = 0x2e;
  bytes[at + 1] = 0x30 + tenths;
  bytes[at + 2] = 0x30 + rest;
  return rest === 0 ? at + 2 : at + 3;
}

function writeDigits(value: number, start: number): number {
  let length = 1;
  for (let bound = 10; value >= bound; bound *= 10) length += 1;
  let left = value;
  for (let at = start + length - 1; at >= start; at -= 1) {
    const above = Math.floor(left / 10);
    bytes[at] = 0x30 + left - 10 * above;
    left = above;
  }
  return start + length;
}

function writeAscii(text: string, start: number): number {
  for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index);
  return start + text.length;
}

/** The same place, or the first one where there is not enough room for whatever comes next. */
function roomAt(at: number): number {
  if (at <= FULL) return at;
  overflowed(at);
  return 0;
}

/** Hashes what stands before a place. */
function overflowed(end: number): Hash {
  overflow ??= createHash('sha256');
  return overflow.update(bytes.subarray(0, end));
}
