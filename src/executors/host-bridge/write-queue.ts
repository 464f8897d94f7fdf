/**
 * Lines wait here while the other side is slow to read, so that they can still be taken back, and
 * are never too many.
 */

import type { Writable } from 'node:stream';

interface WriteQueueOptions {
  /** What may wait at a time. One line may always wait. */
  readonly maxQueuedBytes: number;
}

export interface Queued {
  /** Takes the line back. False where it has gone out already. */
  withdraw(): boolean;
}

interface WriteQueue {
  /** Hands a line on as soon as the stream takes it, or answers `null` where too much waits. */
  readonly add: (line: string) => Queued | null;
  /** Like `add`, for a line that must not be lost, however much waits. */
  readonly push: (line: string) => Queued;
  /** Whether the stream takes nothing at the moment. */
  readonly isBlocked: boolean;
  /** Resolves when nothing waits any more, or nothing can be written. */
  readonly flushed: () => Promise<void>;
  /** Forgets what waits and lets go of the stream. */
  stop(): void;
}

interface Line {
  readonly text: string;
  readonly bytes: number;
}

/** Does not listen for errors: whoever owns the stream does. */
export function createWriteQueue(
  writable: Writable,
  { maxQueuedBytes }: WriteQueueOptions,
): WriteQueue {
  const waiting = new Set<Line>();
  const listeners: (() => void)[] = [];
  let bytes = 0;
  let blocked = writable.writableNeedDrain;
  let stopped = false;

  const tellFlushed = (): void => {
    for (const tell of listeners.splice(0)) tell();
  };
  const remove = (line: Line): boolean => {
    if (!waiting.delete(line)) return false;
    bytes -= line.bytes;
    return true;
  };
  const pump = (): void => {
    for (const line of waiting) {
      if (blocked) return;
      remove(line);
      blocked = !writable.write(line.text);
    }
    if (!blocked) tellFlushed();
  };
  const drained = (): void => {
    blocked = false;
    pump();
  };
  const push = (text: string): Queued => {
    const line = { text, bytes: Buffer.byteLength(text) };
    if (!stopped) {
      waiting.add(line);
      bytes += line.bytes;
      pump();
    }
    return { withdraw: () => remove(line) };
  };
  writable.on('drain', drained);
  return {
    push,
    add: (text) =>
      waiting.size > 0 && bytes + Buffer.byteLength(text) > maxQueuedBytes ? null : push(text),
    get isBlocked() {
      return blocked;
    },
    flushed: () =>
      stopped || (waiting.size === 0 && !blocked)
        ? Promise.resolve()
        : new Promise((resolve) => listeners.push(resolve)),
    stop() {
      stopped = true;
      waiting.clear();
      bytes = 0;
      writable.removeListener('drain', drained);
      tellFlushed();
    },
  };
}
