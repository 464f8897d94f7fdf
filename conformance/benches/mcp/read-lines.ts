/**
 * Lines by their newline alone: `node:readline` would also end them at characters that JSON lets
 * stand inside.
 */

import type { Readable } from 'node:stream';

export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let parts: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      onLine(Buffer.concat([...parts, chunk.subarray(start, end)]).toString());
      parts = [];
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
  });
}
