/** The beginning of something that may be endless. */

import { borderBefore } from '../../core/json/cut-utf8.ts';

interface KeptBytes {
  /** Takes the next piece; answers how many bytes came so far. */
  add(chunk: Buffer): number;
  /** As text, cut between characters, with a mark that says how much is missing. */
  text(): string;
}

export function keptBytes(maxBytes: number): KeptBytes {
  const kept: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      // One byte more than is shown tells whether the last character is whole.
      if (bytes <= maxBytes) kept.push(chunk.subarray(0, maxBytes + 1 - bytes));
      bytes += chunk.length;
      return bytes;
    },
    text() {
      const all = Buffer.concat(kept);
      if (bytes <= maxBytes) return all.toString();
      const whole = all.subarray(0, borderBefore(all, maxBytes));
      return `${whole.toString()}\n[cut: more than ${maxBytes} bytes]`;
    },
  };
}
