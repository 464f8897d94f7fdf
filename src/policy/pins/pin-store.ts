/** The port that keeps pins. */

import type { Awaitable } from '../../stores/claim-store.ts';
import type { PinBook } from './pin-book.ts';

/** Answers the next book, the same one for no change, or `null` where there is none and none is to be made. */
export type ChangePins = (book: PinBook | null) => PinBook | null;

/** Keeps a book for each source. One that cannot be read throws: then no tool of the source is what it was. */
export interface PinStore {
  /** At once, because tools are listed without waiting. `null` where nothing was ever pinned. */
  read(source: string): PinBook | null;
  /** Reads, decides and keeps in one step, also between processes; answers what is kept then. `change` may be called again. */
  update(source: string, change: ChangePins): Awaitable<PinBook | null>;
}
