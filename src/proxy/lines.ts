/** Bytes into lines, without copying those that arrive whole, and without keeping more than a bound of one that never ends. */

/** What the SDK takes at most, too. */
export const MAX_LINE_BYTES = 10 * 1024 * 1024;

const NEWLINE = 10;

export interface LineSplitter {
  /** Calls `onLine` for every line that is complete now, newline included. */
  push(chunk: Uint8Array): void;
}

/** A line over the bound is dropped whole: `onTooLong` is told once, and reading goes on behind its newline. */
export function lineSplitter(
  onLine: (bytes: Uint8Array) => void,
  onTooLong: () => void,
  maxBytes = MAX_LINE_BYTES,
): LineSplitter {
  let parts: Uint8Array[] = [];
  let kept = 0;
  let isSkipping = false;

  const keep = (rest: Uint8Array): void => {
    if (rest.length === 0 || isSkipping) return;
    if (kept + rest.length > maxBytes) {
      parts = [];
      kept = 0;
      isSkipping = true;
      onTooLong();
      return;
    }
    parts.push(rest);
    kept += rest.length;
  };

  const finish = (tail: Uint8Array): void => {
    if (isSkipping) return void (isSkipping = false);
    const line = parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
    parts = [];
    kept = 0;
    if (line.length > maxBytes) onTooLong();
    else onLine(line);
  };

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        finish(chunk.subarray(start, end + 1));
        start = end + 1;
      }
      keep(chunk.subarray(start));
    },
  };
}
