/** Bytes become lines. Never holds more than one line of the longest length that is allowed. */

const NEWLINE = 0x0a;
const FIRST_CAPACITY = 4_096;
/** As much of a line that is too long as is passed on, to tell what it was. */
const START_BYTES = 256;

export interface LineReaders {
  /** A whole line without its end; never an empty one. To be read at once: its bytes are used again. */
  readonly onLine: (line: Buffer) => void;
  /** The start of a line that is longer than allowed, told once the line has ended. */
  readonly onLongLine: (start: Buffer) => void;
}

/** Gives back what takes the chunks. What follows the last line end is no line: somebody may have died writing it. */
export function splitLines(
  maxLineBytes: number,
  { onLine, onLongLine }: LineReaders,
): (chunk: Buffer) => void {
  const begun = growingBuffer(maxLineBytes);
  const finish = (rest: Buffer): void => {
    const length = begun.length + rest.length;
    // Most lines come in one piece, which need not be copied.
    const line = begun.length === 0 ? rest.subarray(0, maxLineBytes) : begun.append(rest);
    begun.clear();
    if (length > maxLineBytes) onLongLine(line.subarray(0, START_BYTES));
    else if (length > 0) onLine(line);
  };
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      finish(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from < chunk.length) begun.append(chunk.subarray(from));
  };
}

interface GrowingBuffer {
  /** Of everything appended, also of what was not kept. */
  readonly length: number;
  append(bytes: Buffer): Buffer;
  clear(): void;
}

/** One piece of memory that doubles: a line that comes byte by byte would otherwise be a million small buffers. */
function growingBuffer(maxBytes: number): GrowingBuffer {
  let memory = Buffer.alloc(0);
  let length = 0;
  const reserve = (wanted: number): void => {
    if (wanted <= memory.length) return;
    const larger = Buffer.alloc(
      Math.min(maxBytes, Math.max(wanted, memory.length * 2, FIRST_CAPACITY)),
    );
    memory.copy(larger);
    memory = larger;
  };
  return {
    get length() {
      return length;
    },
    append(bytes) {
      const kept = Math.min(maxBytes, length + bytes.length);
      reserve(kept);
      if (length < maxBytes) bytes.copy(memory, length);
      length += bytes.length;
      return memory.subarray(0, kept);
    },
    clear() {
      length = 0;
      // Memory that one long line has taken is given back.
      if (memory.length > FIRST_CAPACITY) memory = Buffer.alloc(0);
    },
  };
}
