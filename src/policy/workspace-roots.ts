/**
 * Folders as policies speak of them: absolute, compared part by part as text. Links are not
 * followed here.
 */

import { posix } from 'node:path';
import type { Expectation } from '../core/contract/options.ts';

/** Nothing to take out of it: no empty part, and none that begins with a dot. */
const PLAIN = /^(?:\/[^/.][^/]*)+$/;

/**
 * An absolute path without `.`, `..`, doubled and trailing slashes, or `null` for what is none.
 * Does not look at the disk.
 */
function normalisedPath(path: unknown): string | null {
  // A path with a NUL in it ends there for the system, and not here.
  if (typeof path !== 'string' || !path.startsWith('/') || path.includes('\0')) return null;
  return PLAIN.test(path) ? path : posix.resolve(path);
}

/** For options that take a path which `normalisedPath` can read. */
export const absolutePath: Expectation = Object.freeze({
  text: 'an absolute path',
  test: (value: unknown) => normalisedPath(value) !== null,
});

/**
 * Whether a path lies in one of the folders, or is one. A path or a folder that is not absolute
 * lies nowhere and holds nothing.
 */
export function isWithin(roots: readonly string[], path: unknown): boolean {
  const place = normalisedPath(path);
  return place !== null && roots.some((root) => holds(normalisedPath(root), place));
}

/**
 * The folders that lie in both lists, in one form: of two that overlap the deeper one, sorted, none
 * inside another.
 */
export function commonRoots(a: readonly string[], b: readonly string[]): readonly string[] {
  const [ours, theirs] = [normalisedRoots(a), normalisedRoots(b)];
  const heldBy = (roots: readonly string[]) => (place: string) =>
    roots.some((root) => holds(root, place));
  return Object.freeze(outermost([...ours.filter(heldBy(theirs)), ...theirs.filter(heldBy(ours))]));
}

const normalisedRoots = (roots: readonly string[]): readonly string[] =>
  outermost(roots.flatMap((root) => normalisedPath(root) ?? []));

/** Sorted, and without those that another one holds. */
function outermost(places: readonly string[]): readonly string[] {
  const once = [...new Set(places)].sort();
  return once.filter((place) => !once.some((other) => other !== place && holds(other, place)));
}

/** Part by part: `/a/b` does not hold `/a/bc`. */
const holds = (root: string | null, place: string): boolean =>
  root !== null && (root === '/' || place === root || place.startsWith(`${root}/`));
