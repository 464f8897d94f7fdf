/** A table that several share: it knows who holds how much of it, and who used what last. */

/** Values by key, each under an owner. */
export interface FairTable<V> {
  readonly size: number;
  /** Reads without counting as a use. */
  get(key: string): V | undefined;
  /** Puts a value in, under this owner, as the one used last. */
  set(key: string, owner: string, value: V): void;
  delete(key: string): void;
  /** How many entries an owner holds. */
  countOf(owner: string): number;
  /**
   * Of the owner that holds most entries, the one used longest ago; where several hold as many, of
   * the one of them idle longest.
   */
  loser(): FairEntry<V> | null;
}

/** One value of a `FairTable`, with its key. */
export interface FairEntry<V> {
  readonly key: string;
  readonly owner: string;
  readonly value: V;
}

interface Owner<V> {
  readonly entries: Ring<FairEntry<V>>;
  count: number;
}

/**
 * Has no bound of its own: who fills it asks for the `loser` and decides whether that entry may go.
 * So a flood takes from the one who floods, and only where everybody holds the same, from the one
 * idle longest. Every step takes the same time at any size.
 */
export function fairTable<V>(): FairTable<V> {
  const places = new Map<string, Place<FairEntry<V>>>();
  const owners = new Map<string, Place<Owner<V>>>();
  const ranks = createRanks<Owner<V>>();
  const count = (held: Place<Owner<V>>, change: 1 | -1): void => {
    const { item } = held;
    ranks.move(held, item.count, item.count + change);
    item.count += change;
  };

  const remove = (place: Place<FairEntry<V>>): void => {
    const { key, owner } = place.item;
    places.delete(key);
    const held = owners.get(owner);
    if (held === undefined) return;
    unlink(held.item.entries, place);
    count(held, -1);
    if (held.item.count === 0) owners.delete(owner);
  };

  return {
    get size() {
      return places.size;
    },
    get: (key) => places.get(key)?.item.value,
    set(key, owner, value) {
      const before = places.get(key);
      const known = owners.get(owner);
      if (before !== undefined && known !== undefined && before.item.owner === owner) {
        before.item = { key, owner, value };
        moveToEnd(known.item.entries, before);
        return ranks.move(known, known.item.count, known.item.count);
      }
      if (before !== undefined) remove(before);
      const held = known ?? placeFor<Owner<V>>({ entries: createRing(), count: 0 });
      const place = placeFor({ key, owner, value });
      places.set(key, place);
      owners.set(owner, held);
      append(held.item.entries, place);
      count(held, 1);
    },
    delete(key) {
      const place = places.get(key);
      if (place !== undefined) remove(place);
    },
    countOf: (owner) => owners.get(owner)?.item.count ?? 0,
    loser: () => ranks.first()?.entries.first?.item ?? null,
  };
}

interface Ranks<T> {
  /**
   * Something that counted `from` counts `to`, and is the one of those that was active last. 0 is
   * none.
   */
  move(place: Place<T>, from: number, to: number): void;
  /** What counts most, and of several what was idle longest. */
  first(): T | null;
}

function createRanks<T>(): Ranks<T> {
  const ranks = new Map<number, Ring<T>>();
  let most = 0;
  return {
    move(place, from, to) {
      const left = ranks.get(from);
      if (left !== undefined && from === to) return moveToEnd(left, place);
      if (left !== undefined) unlink(left, place);
      if (left?.first === null) ranks.delete(from);
      const joined = ranks.get(to) ?? createRing<T>();
      if (to > 0) {
        append(joined, place);
        ranks.set(to, joined);
      }
      most = Math.max(most, to);
      // Counts change by one: the next lower one is never far.
      while (most > 0 && !ranks.has(most)) most -= 1;
    },
    first: () => ranks.get(most)?.first?.item ?? null,
  };
}

/** A place in a list. It is in one list at a time. */
interface Place<T> {
  item: T;
  before: Place<T> | null;
  after: Place<T> | null;
}

/**
 * A list that is linked by hand. A `Map` or `Set` that is emptied from the front keeps the holes
 * until it grows, and finding its first member walks over all of them. Plain data: there is one for
 * every owner of a table.
 */
interface Ring<T> {
  first: Place<T> | null;
  last: Place<T> | null;
}

const placeFor = <T>(item: T): Place<T> => ({ item, before: null, after: null });

const createRing = <T>(): Ring<T> => ({ first: null, last: null });

/** Puts a place in as the last. */
function append<T>(ring: Ring<T>, place: Place<T>): void {
  place.before = ring.last;
  place.after = null;
  if (ring.last === null) ring.first = place;
  else ring.last.after = place;
  ring.last = place;
}

/**
 * Takes a place out of the list it is in, and lets go of its neighbours: a place that is gone would
 * keep them, and they the next ones, until the next collection of everything.
 */
function unlink<T>(ring: Ring<T>, place: Place<T>): void {
  const { before, after } = place;
  if (before === null) ring.first = after;
  else before.after = after;
  if (after === null) ring.last = before;
  else after.before = before;
  place.before = null;
  place.after = null;
}

/** Makes a place the last one of the list it is in. */
function moveToEnd<T>(ring: Ring<T>, place: Place<T>): void {
  if (ring.last === place) return;
  unlink(ring, place);
  append(ring, place);
}
