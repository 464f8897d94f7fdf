/** Patterns on paths, compared so that no spelling of a protected name gets past them. */

import { homedir } from 'node:os';
import { isAbsolute, join, resolve, sep } from 'node:path';

const ANY_PARTS = '**';

/**
 * Signs that mean something in other globs and nothing here: taken as plain letters they would
 * protect nothing.
 */
const UNKNOWN_SIGNS = /[\\[\]{}\0]|^!|(^|\/)\.\.?(\/|$)|^~[^/]/;

/** What a host may write for a path: a leading `~` is its own home. */
export const expandHome = (path: string): string =>
  path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;

/**
 * Whether a text is a pattern: names with `*` and `?`, and `**` for any number of them. Nothing
 * else is special.
 */
export const isPathPattern = (value: unknown): boolean =>
  typeof value === 'string' &&
  value !== '' &&
  !UNKNOWN_SIGNS.test(value) &&
  !/\/\//.test(value) &&
  value.isWellFormed();

/**
 * Compares an absolute path. It holds for what the pattern names, and for everything below that.
 */
export type PathMatcher = (path: string) => boolean;

/**
 * A pattern without a slash means a name anywhere, one with a slash a place below any of the roots,
 * one with a slash in front a place in the file system.
 */
export function pathMatcher(pattern: string, roots: readonly string[]): PathMatcher {
  const expanded = expandHome(pattern);
  const trimmed = expanded.replace(/(?<!^)(\/\*\*)+$/, '').replace(/(?<=.)\/$/, '');
  if (!trimmed.includes('/')) return matcherOf([ANY_PARTS, trimmed]);
  if (isAbsolute(trimmed)) return matcherOf(namesOf(trimmed));
  // Behind "**" it may lie anywhere, also outside of the roots.
  if (trimmed.startsWith(`${ANY_PARTS}/`)) return matcherOf(namesOf(trimmed));
  const matchers = roots.map((root) =>
    matcherOf([...namesOf(root), ...namesOf(trimmed)], namesOf(root).length),
  );
  return (path) => matchers.some((matches) => matches(path));
}

const namesOf = (path: string): readonly string[] =>
  path.split(/[/\\]/).filter((name) => name !== '');

/**
 * `literal` is how many names in front are meant as they are: a root may have a star in its name.
 */
function matcherOf(names: readonly string[], literal = 0): PathMatcher {
  const wanted = names.map((name, index) =>
    index < literal ? fold(name).replace(/[*?]/g, '?') : fold(name),
  );
  const whole = wanted.at(-1) === ANY_PARTS ? wanted : [...wanted, ANY_PARTS];
  return (path) => matchesAll(whole, namesOf(path).map(fold), ANY_PARTS, matchesName);
}

/**
 * Names that some file system takes for the same: case, width, accents written in two ways, letters
 * that are not seen, dots and blanks at the end. Comparing so can only match more.
 */
function fold(name: string): string {
  const folded = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .normalize('NFKC');
  return folded.replace(/(?<=[^. ])[. ]+$/, '');
}

const matchesName = (pattern: string, name: string): boolean =>
  matchesAll(
    Array.from(pattern),
    Array.from(name),
    '*',
    (wanted, letter) => wanted === '?' || wanted === letter,
  );

/** Goes back to the last star only, so that the longest time is the product of both lengths. */
function matchesAll(
  pattern: readonly string[],
  items: readonly string[],
  star: string,
  same: (wanted: string, item: string) => boolean,
): boolean {
  let [at, from, lastStar, resumeAt] = [0, 0, -1, 0];
  while (from < items.length) {
    const wanted = pattern[at];
    if (wanted === star) {
      lastStar = at;
      resumeAt = from;
      at += 1;
    } else if (wanted !== undefined && same(wanted, items[from] ?? '')) {
      at += 1;
      from += 1;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      resumeAt += 1;
      from = resumeAt;
    } else return false;
  }
  return pattern.slice(at).every((wanted) => wanted === star);
}

/**
 * Whether a path is a folder or lies below it. Compared letter for letter: what only looks the same
 * is outside.
 */
export const isBelow = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);

/** An absolute path of what a host wrote. */
export const hostPath = (path: string): string => resolve(expandHome(path));
