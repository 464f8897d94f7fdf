/** A merged list in pages that fit into one message. */

import type { JsonObject } from '../../core/json.ts';

const MAX_PAGE_ITEMS = 1000;
/** Far below what a line may have. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

export interface Page {
  readonly items: readonly JsonObject[];
  readonly nextCursor?: string;
}

export interface Pager {
  first(items: readonly JsonObject[]): Page;
  /** `null` for a cursor that is not of the list that was read last. */
  next(cursor: string): Page | null;
}

/** Keeps the list that is being read, so that its pages belong together. A list that is begun anew ends the one before. */
export function pager(): Pager {
  let edition = 0;
  let list: readonly JsonObject[] = [];
  const pageAt = (start: number): Page => {
    const end = endOfPage(list, start);
    const items = list.slice(start, end);
    if (end < list.length) return { items, nextCursor: `${edition}.${end}` };
    return { items };
  };
  return {
    first(items) {
      edition += 1;
      list = items;
      return pageAt(0);
    },
    next(cursor) {
      const [, of, start] = /^(\d{1,9})\.(\d{1,9})$/.exec(cursor) ?? [];
      return Number(of) === edition && Number(start) < list.length ? pageAt(Number(start)) : null;
    },
  };
}

function endOfPage(list: readonly JsonObject[], start: number): number {
  let bytes = 0;
  let end = start;
  while (end < list.length && end - start < MAX_PAGE_ITEMS) {
    bytes += Buffer.byteLength(JSON.stringify(list[end]));
    // One that is larger than a page came in one message, so it fits into one.
    if (bytes > MAX_PAGE_BYTES && end > start) break;
    end += 1;
  }
  return end;
}
