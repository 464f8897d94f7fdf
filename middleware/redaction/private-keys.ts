/** Private keys in PEM, whole or cut off. */

import type { Emit } from './detector.ts';

const HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const FOOTER = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const BODY = /[A-Za-z0-9+/=\s\\:,.-]*/y;

/** How far a text was read: up to where keys were found, and where the next footer ends. */
export interface KeyProgress {
  done: number;
  footerEnd: number;
}

/**
 * Looks at the header that begins here. By hand, because one expression from header to footer reads the rest of the text
 * again for every header that has none.
 */
export function privateKey(text: string, start: number, emit: Emit, progress: KeyProgress): void {
  HEADER.lastIndex = start;
  if (start < progress.done || !HEADER.test(text)) return;
  const from = HEADER.lastIndex;
  if (progress.footerEnd < from) {
    FOOTER.lastIndex = from;
    progress.footerEnd = FOOTER.test(text) ? FOOTER.lastIndex : Infinity;
  }
  BODY.lastIndex = from;
  BODY.test(text);
  progress.done = progress.footerEnd === Infinity ? Math.max(BODY.lastIndex, from) : progress.footerEnd;
  emit(start, progress.done, 'private-key');
}
