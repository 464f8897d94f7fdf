/**
 * Lists that are linked by hand. A `Map` or `Set` that is emptied from the front keeps the holes
 * until it grows, and finding its first member walks over all of them.
 */

/** A member knows its neighbours. It is in one list at a time. */
export interface Linked<T> {
  before: T | null;
  after: T | null;
}

/** The members are their own links: there is nothing to look up, and nothing else to let go of. */
export interface LinkedList<T> {
  first: T | null;
  last: T | null;
}

export const linkedList = <T>(): LinkedList<T> => ({ first: null, last: null });

/** Puts a member in as the last. */
export function append<T extends Linked<T>>(list: LinkedList<T>, member: T): void {
  const { last } = list;
  member.before = last;
  if (last === null) list.first = member;
  else last.after = member;
  list.last = member;
}

/**
 * Takes a member out of the list it is in, and lets go of its neighbours: a member that is gone
 * would keep them, and they the next ones, until the next collection of everything.
 */
export function unlink<T extends Linked<T>>(list: LinkedList<T>, member: T): void {
  const { before, after } = member;
  if (before === null) list.first = after;
  else before.after = after;
  if (after === null) list.last = before;
  else after.before = before;
  member.before = null;
  member.after = null;
}
