/** Lists in the order of last use, from which anything can be taken out at once. */

/** A place in a list. It is in one list at a time. */
export interface Place<T> {
  item: T;
  before: Place<T> | null;
  after: Place<T> | null;
}

/**
 * A list that is linked by hand. A `Map` or `Set` that is emptied from the front keeps the holes until it grows, and finding its first
 * member walks over all of them. Plain data: there is one for every owner of a table.
 */
export interface Ring<T> {
  first: Place<T> | null;
  last: Place<T> | null;
}

export const placeFor = <T>(item: T): Place<T> => ({ item, before: null, after: null });

export const createRing = <T>(): Ring<T> => ({ first: null, last: null });

/** Puts a place in as the last. */
export function append<T>(ring: Ring<T>, place: Place<T>): void {
  place.before = ring.last;
  place.after = null;
  if (ring.last === null) ring.first = place;
  else ring.last.after = place;
  ring.last = place;
}

/** Takes a place out of the list it is in. */
export function unlink<T>(ring: Ring<T>, place: Place<T>): void {
  if (place.before === null) ring.first = place.after;
  else place.before.after = place.after;
  if (place.after === null) ring.last = place.before;
  else place.after.before = place.before;
}

/** Makes a place the last one of the list it is in. */
export function moveToEnd<T>(ring: Ring<T>, place: Place<T>): void {
  if (ring.last === place) return;
  unlink(ring, place);
  append(ring, place);
}
