/**
 * The limit's one walk over a JSON value: it is checked, copied and frozen, its RFC 8785 text is
 * written as bytes, every character is looked at for what secrets begin with, and the bytes are
 * hashed where they lie.
 */

import { hash } from 'node:crypto';
import { beginningAt, isTelling, mayBegin, seenWith } from './limit-secrets.ts';

/** A value that was walked. */
export interface Taken {
  /** The frozen copy. */
  readonly value: unknown;
  /** HMAC-SHA-256 of the canonical text, as receipts name it. */
  readonly hash: string;
  /** Whether a closer look is needed: something in it begins like a secret. */
  readonly isSuspect: boolean;
}

/** A value that is no JSON, told for a model. */
export class NotJson extends Error {}

const MAX_DEPTH = 64;
const TOO_DEEP = `the arguments nest too deep: at most ${MAX_DEPTH} levels are taken`;
const BLOCK = 64;
const [QUOTE, COMMA, BRACE, BRACE_END, LIST, LIST_END] = [0x22, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d];

/** Characters that stand between quotes as they are. */
const PLAIN = new Uint8Array(128);
for (let code = 0x20; code < 0x7f; code += 1) PLAIN[code] = 1;
PLAIN[QUOTE] = 0;
PLAIN[0x5c] = 0;

// One buffer for all walks: none of them waits. The HMAC's first block stands before the text.
let bytes = Buffer.allocUnsafeSlow(1 << 16);
let at = BLOCK;
let isSuspect = false;

function makeRoom(more: number): void {
  if (at + more <= bytes.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * bytes.length, at + more));
  bytes.copy(larger, 0, 0, at);
  bytes = larger;
}

/** Makes the walk for one key. */
export function walker({ id, secret }: { readonly id: string; readonly secret: string }) {
  const inner = Buffer.alloc(BLOCK, 0x36);
  const outer = Buffer.alloc(BLOCK + 32, 0x5c);
  const key = Buffer.from(secret);
  if (key.length > BLOCK) throw new Error('the limit takes keys of up to 64 bytes');
  key.forEach((byte, index) => {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  });
  const prefix = `hmac-sha256:${id}:`;

  /** RFC 2104, of the bytes behind the first block. */
  function digest(): string {
    inner.copy(bytes);
    const digested = hash('sha256', new Uint8Array(bytes.buffer, 0, at), 'binary');
    for (let index = 0; index < 32; index += 1) outer[BLOCK + index] = digested.charCodeAt(index);
    return prefix + hash('sha256', outer);
  }

  return {
    /** Throws `NotJson`. */
    take(value: unknown): Taken {
      at = BLOCK;
      isSuspect = false;
      const copy = write(value, 0);
      return { value: copy, hash: digest(), isSuspect };
    },
    /** The HMAC of a short text. */
    ofText(text: string): string {
      at = BLOCK;
      makeRoom(3 * text.length);
      at += bytes.write(text, at);
      return digest();
    },
  };
}

/** Whether a text of the record needs a closer look. */
export function isSuspectText(text: string): boolean {
  let seen = 0;
  for (let index = 0; index < text.length; index += 1) {
    seen = seenWith(seen, text.charCodeAt(index));
    if (mayBegin(seen) && beginningAt(text, index - 2, seen) !== null) return true;
  }
  return false;
}

function write(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      writeText(value);
      return value;
    case 'number':
      // RFC 8785 takes what ECMAScript writes, also for `-0`.
      if (!Number.isFinite(value))
        throw new NotJson('the arguments hold a number that JSON has not');
      writeAscii(String(value));
      return value;
    case 'boolean':
      writeAscii(value ? 'true' : 'false');
      return value;
    case 'object':
      if (value !== null) return writeNested(value, depth + 1);
      writeAscii('null');
      return null;
    default:
      throw new NotJson(`the arguments hold a ${typeof value}`);
  }
}

function writeNested(value: object, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new NotJson(TOO_DEEP);
  if (Array.isArray(value)) return writeList(value, depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new NotJson('the arguments hold no plain data');
  return writeObject(value, depth);
}

function writeList(list: readonly unknown[], depth: number): unknown {
  const copy = new Array<unknown>(list.length);
  writeByte(LIST);
  for (let index = 0; index < list.length; index += 1) {
    if (index > 0) writeByte(COMMA);
    copy[index] = write(list[index], depth);
  }
  writeByte(LIST_END);
  return Object.freeze(copy);
}

function writeObject(source: object, depth: number): unknown {
  const copy: Record<string, unknown> = { ...source };
  const { names, labels, isNamed } = shapeOf(Object.keys(copy));
  writeByte(BRACE);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? '';
    writeBytes(labels[index] ?? NOTHING);
    const member = copy[name];
    if (typeof member === 'string') {
      writeText(member);
      continue;
    }
    const taken = write(member, depth);
    if (taken !== member) copy[name] = taken;
  }
  writeByte(BRACE_END);
  if (isNamed) isSuspect = true;
  return Object.freeze(copy);
}

/** The members of objects with the same names in the same order. */
interface Shape {
  readonly keys: readonly string[];
  /** The names in their canonical order, and each as it is written: comma, name, colon. */
  readonly names: readonly string[];
  readonly labels: readonly Uint8Array[];
  /** Whether a name tells that its text is a secret, or is one. */
  readonly isNamed: boolean;
}

const NOTHING = new Uint8Array();
/** Names come from outside, so there may be endlessly many shapes. */
const MAX_SHAPES = 256;
const shapes = new Map<string, Shape[]>();
let shapeCount = 0;
let last: Shape = { keys: [], names: [], labels: [], isNamed: false };

function shapeOf(keys: readonly string[]): Shape {
  if (hasKeys(last, keys)) return last;
  const known = shapes.get(keys[0] ?? '')?.find((shape) => hasKeys(shape, keys));
  return (last = known ?? newShape(keys));
}

function hasKeys(shape: Shape, keys: readonly string[]): boolean {
  const { length } = keys;
  if (shape.keys.length !== length) return false;
  for (let index = 0; index < length; index += 1)
    if (shape.keys[index] !== keys[index]) return false;
  return true;
}

function newShape(keys: readonly string[]): Shape {
  const names = [...keys].sort();
  if (!names.every((name) => name.isWellFormed()))
    throw new NotJson('the name of a member has half of a surrogate pair');
  const shape = {
    keys,
    names,
    labels: names.map((name, index) =>
      Uint8Array.from(Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`)),
    ),
    isNamed: names.some((name) => isTelling(name) || isSuspectText(name)),
  };
  if (shapeCount >= MAX_SHAPES) shapes.clear();
  shapeCount = shapeCount >= MAX_SHAPES ? 1 : shapeCount + 1;
  const first = keys[0] ?? '';
  shapes.set(first, [...(shapes.get(first) ?? []), shape]);
  return shape;
}

function writeByte(byte: number): void {
  if (at === bytes.length) makeRoom(1);
  bytes[at] = byte;
  at += 1;
}

function writeBytes(label: Uint8Array): void {
  makeRoom(label.length);
  for (let index = 0; index < label.length; index += 1) bytes[at + index] = label[index] ?? 0;
  at += label.length;
}

function writeAscii(text: string): void {
  makeRoom(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index);
  at += text.length;
}

/** Between quotes. Each character is classified, looked at and written in one go. */
function writeText(text: string): void {
  const { length } = text;
  makeRoom(6 * length + 2);
  const out = bytes;
  let to = at;
  let seen = 0;
  out[to++] = QUOTE;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (PLAIN[code] !== 1) return writeEscaped(text);
    out[to++] = code;
    seen = seenWith(seen, code);
    if (mayBegin(seen) && beginningAt(text, index - 2, seen) !== null) isSuspect = true;
  }
  out[to++] = QUOTE;
  at = to;
}

/** `JSON.stringify` escapes as RFC 8785 asks for. */
function writeEscaped(text: string): void {
  if (!text.isWellFormed())
    throw new NotJson('a text in the arguments has half of a surrogate pair');
  if (isSuspectText(text)) isSuspect = true;
  at += bytes.write(JSON.stringify(text), at);
}
