/** Who waits for a place: in order of arrival for each owner, and the owners take turns. */

export interface FairLine<T> extends Iterable<T> {
  readonly size: number;
  countOf(owner: string): number;
  add(owner: string, waiting: T): void;
  remove(owner: string, waiting: T): void;
  /**
   * Takes the first of the owner who has waited longest for a turn and whose first may go. That
   * owner then is behind all others.
   */
  next(mayGo: (waiting: T) => boolean): T | null;
}

/** Who has ten thousand in the line is served as often as who has one. */
export function fairLine<T>(): FairLine<T> {
  // Both keep the order in which members came: an owner who had a turn comes again behind all
  // others.
  const owners = new Map<string, Set<T>>();
  let size = 0;
  const remove = (owner: string, waiting: T): void => {
    const own = owners.get(owner);
    if (own === undefined || !own.delete(waiting)) return;
    size -= 1;
    if (own.size === 0) owners.delete(owner);
  };
  return {
    get size() {
      return size;
    },
    countOf: (owner) => owners.get(owner)?.size ?? 0,
    add(owner, waiting) {
      owners.set(owner, (owners.get(owner) ?? new Set()).add(waiting));
      size += 1;
    },
    remove,
    next(mayGo) {
      for (const [owner, own] of owners) {
        const [first] = own;
        if (first === undefined || !mayGo(first)) continue;
        remove(owner, first);
        if (owners.delete(owner)) owners.set(owner, own);
        return first;
      }
      return null;
    },
    *[Symbol.iterator]() {
      for (const own of owners.values()) yield* own;
    },
  };
}
