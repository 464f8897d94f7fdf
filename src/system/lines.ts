/** Bytes into lines, of which never more is kept than one line of the longest length. */

const NEWLINE = 0x0a;
const FIRST_CAPACITY = 4_096;
/** How much of a line that is too long is passed on, to tell what it was. */
const START_BYTES = 256;

/** What is read, and who is told of it. */
interface LineOptions {
  /** The longest line that is read, without its newline. */
  readonly maxBytes: number;
  /** A whole line without its newline. To be read at once: its bytes are used again. */
  readonly onLine: (line: Buffer) => void;
  /** A line was longer than `maxBytes`, and is dropped whole. Gets its first bytes. */
  readonly onLongLine: (start: Buffer) => void;
  /**
   * When a long line is told: as soon as it is longer than it may be, or once it has ended, which
   * may be never.
   */
  readonly tellLong: 'at_once' | 'at_end';
}

/**
 * Gives back what takes the chunks. What follows the last newline is no line: its writer may have
 * died writing it.
 */
export function splitLines({
  maxBytes,
  onLine,
  onLongLine,
  tellLong,
}: LineOptions): (chunk: Uint8Array) => void {
  const begun = growingBuffer(maxBytes);
  let isTold = false;
  const keep = (rest: Buffer): void => {
    if (isTold) return;
    const line = begun.append(rest);
    if (tellLong === 'at_end' || begun.length <= maxBytes) return;
    isTold = true;
    begun.clear();
    onLongLine(line.subarray(0, START_BYTES));
  };
  const finish = (rest: Buffer): void => {
    if (isTold) {
      isTold = false;
      return;
    }
    const length = begun.length + rest.length;
    // Most lines come in one piece, which need not be copied.
    const line = begun.length === 0 ? rest : begun.append(rest);
    begun.clear();
    if (length > maxBytes) onLongLine(line.subarray(0, Math.min(maxBytes, START_BYTES)));
    else onLine(line);
  };
  return (bytes) => {
    const chunk = asBuffer(bytes);
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      finish(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  };
}

/** The same memory. */
const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

interface GrowingBuffer {
  /** Of everything appended, also of what was not kept. */
  readonly length: number;
  append(bytes: Buffer): Buffer;
  clear(): void;
}

/**
 * One piece of memory that doubles: a line that comes byte by byte would otherwise be a million
 * small buffers.
 */
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
