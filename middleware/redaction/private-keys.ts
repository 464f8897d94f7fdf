/** Private keys in PEM, whole or cut off. */

import type { Emit } from './detector.ts';

const HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const FOOTER = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const BODY = /[A-Za-z0-9+/=\s\\:,.-]*/y;

/**
 * Looks at one header after another. By hand, because one expression from header to footer reads the rest of the text
 * again for every header that has none.
 */
export function privateKeys(): (text: string, start: number, end: number, emit: Emit) => void {
  let done = 0;
  let footerEnd = 0;
  return (text, start, _end, emit) => {
    HEADER.lastIndex = start;
    if (start < done || !HEADER.test(text)) return;
    const from = HEADER.lastIndex;
    if (footerEnd < from) {
      FOOTER.lastIndex = from;
      footerEnd = FOOTER.test(text) ? FOOTER.lastIndex : Infinity;
    }
    BODY.lastIndex = from;
    BODY.test(text);
    done = footerEnd === Infinity ? Math.max(BODY.lastIndex, from) : footerEnd;
    emit(start, done, 'private-key');
  };
}
