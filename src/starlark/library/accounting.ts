// What built-ins account before they make something.

import { OBJECT_BYTES, SLOT_BYTES, type Thread } from '../thread.ts';

/** A string's own size beside its bytes. */
const STRING_BYTES = 16;

/** Room for a string of that many bytes. Answers nothing: it throws when there is none. */
export function accountText(thread: Thread, length: number): void {
  thread.account(STRING_BYTES + length);
}

/** Room for a list or tuple of that many elements, and the work to fill it. */
export function accountItems(thread: Thread, length: number): void {
  thread.account(OBJECT_BYTES + length * SLOT_BYTES);
  thread.step(Math.ceil(length / 16));
}

/** Parts of a text put together. */
export function joined(thread: Thread, parts: readonly string[]): string {
  let length = 0;
  for (const part of parts) length += part.length;
  accountText(thread, length);
  return parts.join('');
}
