/** A table that several share: it knows who holds how much of it, and who used what last. */

import { append, type Linked, type LinkedList, linkedList, unlink } from './linked-list.ts';

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

interface Entry<V> extends FairEntry<V>, Linked<Entry<V>> {
  value: V;
}

interface Owner<V> extends Linked<Owner<V>> {
  /** The one used longest ago is the first. */
  readonly entries: LinkedList<Entry<V>>;
  count: number;
}

/**
 * Has no bound of its own: who fills it asks for the `loser` and decides whether that entry may go.
 * So a flood takes from the one who floods, and only where everybody holds the same, from the one
 * idle longest. Every step takes the same time at any size.
 */
export function fairTable<V>(): FairTable<V> {
  const entries = new Map<string, Entry<V>>();
  const owners = new Map<string, Owner<V>>();
  const ranks: Ranks<V> = [];

  const remove = (entry: Entry<V>): void => {
    entries.delete(entry.key);
    const owner = owners.get(entry.owner);
    if (owner === undefined) return;
    unlink(owner.entries, entry);
    rank(ranks, owner, owner.count - 1);
    if (owner.count === 0) owners.delete(entry.owner);
  };

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key)?.value,
    set(key, name, value) {
      const before = entries.get(key);
      if (before !== undefined && before.owner !== name) remove(before);
      const owner = owners.get(name) ?? createOwner<V>();
      if (before?.owner === name) {
        before.value = value;
        unlink(owner.entries, before);
        append(owner.entries, before);
        return rank(ranks, owner, owner.count);
      }
      const entry: Entry<V> = { key, owner: name, value, before: null, after: null };
      entries.set(key, entry);
      if (owner.count === 0) owners.set(name, owner);
      append(owner.entries, entry);
      rank(ranks, owner, owner.count + 1);
    },
    delete(key) {
      const entry = entries.get(key);
      if (entry !== undefined) remove(entry);
    },
    countOf: (name) => owners.get(name)?.count ?? 0,
    loser: () => ranks.at(-1)?.first?.entries.first ?? null,
  };
}

const createOwner = <V>(): Owner<V> => ({
  entries: linkedList(),
  count: 0,
  before: null,
  after: null,
});

/** Owners by how many entries they hold; of those that hold as many, the one idle longest first. */
type Ranks<V> = LinkedList<Owner<V>>[];

/** The owner holds so many entries, and is the one of those that was active last. */
function rank<V>(ranks: Ranks<V>, owner: Owner<V>, count: number): void {
  const left = ranks[owner.count];
  if (left !== undefined) unlink(left, owner);
  owner.count = count;
  if (count > 0) append((ranks[count] ??= linkedList()), owner);
  // Counts change by one: the next lower one is never far.
  while (ranks.length > 0 && (ranks.at(-1)?.first ?? null) === null) ranks.pop();
}
