/** The bytes of a file as text, or where they stop being text. */

import { isUtf8 } from 'node:buffer';
import type { Position } from '../artifact.ts';

/** A byte order mark at the beginning is dropped: it is no column of the first line. */
export function decodeText(bytes: Buffer): string | Position {
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) return firstBadByte(bytes, text);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** A replacement character that the file does not hold itself stands where a byte could not be read. */
function firstBadByte(bytes: Buffer, text: string): Position {
  let [offset, line, column] = [0, 1, 1];
  for (const character of text) {
    const length = Buffer.byteLength(character);
    if (character === '\uFFFD' && !bytes.subarray(offset, offset + length).equals(REPLACEMENT))
      break;
    if (character === '\n') [line, column] = [line + 1, 1];
    else if (offset > 0 || character !== '\uFEFF') column += character.length;
    offset += length;
  }
  return { line, column };
}

const REPLACEMENT = Buffer.from('\uFFFD');
