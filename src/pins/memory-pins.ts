/** Pins of this process only. */

import { isPinBook, type PinBook, type PinStore } from './pin-book.ts';

/**
 * Keeps pins until the process ends: the next one trusts whatever is there first. For tests, and
 * for sources that live as long.
 */
export function memoryPins(): PinStore {
  const books = new Map<string, PinBook>();
  return Object.freeze<PinStore>({
    read: (source) => books.get(source) ?? null,
    update(source, change) {
      const before = books.get(source) ?? null;
      const after = change(before);
      if (after === null || after === before) return before;
      if (!isPinBook(after) || after.source !== source)
        throw new Error('memoryPins: what is to be kept are no pins of this source');
      books.set(source, after);
      return after;
    },
  });
}
