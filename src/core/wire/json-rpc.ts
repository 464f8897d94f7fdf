/**
 * Messages of JSON-RPC by line, as everything here reads and writes them: one reading of each, or
 * none.
 */

import type { JsonObject } from '../json/json-value.ts';
import {
  type ExactJson,
  readExactBytes,
  readExactText,
  type RefusedJson,
} from '../json/exact-json.ts';
import { isObject } from '../json/json.ts';

export type MessageReading = { readonly message: JsonObject } | RefusedMessage;

export interface RefusedMessage {
  /** Ends the sentence "the sender sent …", and quotes nothing of what was sent. */
  readonly problem: string;
  /** The id that every reader would give it: with it the side that waits can be told. */
  readonly id?: string | number;
  /** It has no method, so that it would have been an answer. */
  readonly isAnswer: boolean;
}

/** Reads one message, from bytes or from text that was decoded before. */
export function readMessage(given: Uint8Array | string): MessageReading {
  const read: ExactJson = typeof given === 'string' ? readExactText(given) : readExactBytes(given);
  if ('problem' in read) return refused(read);
  const { value } = read;
  // Lists of messages went out of the protocol: one that is let through could hold a call
  // that is not governed.
  if (!isObject(value))
    return {
      problem: Array.isArray(value) ? 'a batch of messages' : 'something that is not a message',
      isAnswer: false,
    };
  return { message: value };
}

function refused({ problem, value, names, doubtful }: RefusedJson): RefusedMessage {
  const isAnswer = isObject(value) && !names.some((name) => foldedName(name) === 'method');
  const ids = names.filter((name) => foldedName(name) === 'id');
  const id =
    isObject(value) && ids.length === 1 && ids[0] === 'id' && !doubtful.has('id')
      ? value.id
      : undefined;
  const isTrusted = typeof id === 'number' || (typeof id === 'string' && !id.includes('\ufffd'));
  return { problem, isAnswer, ...(isTrusted ? { id } : {}) };
}

/**
 * A name as the most forgiving reader takes it: without regard to case (also `ſ` for s, `ı` and `İ`
 * for i, the Kelvin sign for k), to how its characters are composed, and to white space and
 * characters that are not shown.
 */
export function foldedName(name: string): string {
  if (VISIBLE_ASCII.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .replace(/[\p{Cc}\p{Cf}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '');
}

const VISIBLE_ASCII = /^[\x21-\x7e]*$/;
