/**
 * Where a path leads, also when what it names is not there yet, and patterns on paths, compared so
 * that no spelling of a protected name gets past them.
 */

import { opendir, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';
import { homedir } from 'node:os';

interface ResolvedPath {
  /** Without links, as far as there is anything. What is not there yet counts as its name says. */
  readonly path: string;
  /** Every link on the way. */
  readonly links: readonly string[];
}

const MAX_LINKS = 40;

/**
 * Follows the links of an absolute path one after the other, as the kernel does: `..` behind a link
 * leaves what the link points to. A link to something that is not there counts as what it points
 * to. Rejects where links go round, where a directory cannot be looked into, and where links of
 * `/proc` are met: they lead every process somewhere else. What it finds may have changed by the
 * time it is used.
 */
export async function resolvePath(path: string): Promise<ResolvedPath> {
  const { root } = parse(path);
  const links: string[] = [];
  const rest = partsOf(path.slice(root.length));
  let current = root;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === '..') {
      current = dirname(current);
      continue;
    }
    const place = join(current, part);
    const target = await linkTarget(place);
    if (target === null) {
      current = place;
      continue;
    }
    if (links.push(place) > MAX_LINKS) throw new Error('too many links');
    if (place.startsWith('/proc/'))
      throw new Error('a link that leads every process somewhere else');
    if (isAbsolute(target)) current = parse(target).root;
    rest.unshift(...partsOf(isAbsolute(target) ? target.slice(current.length) : target));
  }
  return { path: current, links };
}

const partsOf = (path: string): string[] =>
  path.split(sep).filter((part) => part !== '' && part !== '.');

/** `null` for what is no link, and for what is not there. */
async function linkTarget(place: string): Promise<string | null> {
  try {
    return await readlink(place);
  } catch (error) {
    // Every error of the file system has a code. EINVAL: no link; UNKNOWN: the same on Windows;
    // ENOTDIR: below a file nothing can be.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['EINVAL', 'UNKNOWN', 'ENOENT', 'ENOTDIR'].includes(code)) return null;
    throw error;
  }
}

const MAX_LENGTH = 4096;

/**
 * The sentence for what is wrong with a path, or `null`. Whatever two programs may read in two ways
 * is wrong.
 */
export function pathProblem(path: unknown): string | null {
  if (typeof path !== 'string' || path === '') return 'must be a path';
  if (path.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (/[\0-\x1f\x7f]/.test(path) || !path.isWellFormed()) return 'must have no control characters';
  if (path.startsWith('~')) return 'must not begin with "~": write the folder out';
  if (/^(?:[a-z][a-z0-9+.-]+:\/|file:)/i.test(path)) return 'must be a path, not a URL';
  return sep === '/' ? posixProblem(path) : windowsProblem(path);
}

const posixProblem = (path: string): string | null =>
  path.includes('\\') ? 'must have no backslashes' : null;

/** Streams, devices and names that Windows cuts: each is another spelling of something else. */
function windowsProblem(path: string): string | null {
  if (/^[\\/]{2}/.test(path) || /^[a-z]:(?![\\/])/i.test(path))
    return 'must be a plain path with or without a drive';
  const names = path.slice(isAbsolute(path) ? path.indexOf(sep) + 1 : 0).split(/[\\/]/);
  const isOdd = (name: string): boolean =>
    /[:*?"<>|]/.test(name) || (/[. ]$/.test(name) && name !== '.' && name !== '..');
  return names.some(isOdd) ? 'must have plain names only' : null;
}

/** A folder with more in it is not searched to the end. */
const MAX_ENTRIES = 20_000;

/**
 * Whether anything below a folder is meant. Takes the names as they are and follows no links: a
 * link is removed, not what it points to. Says yes where there is too much to look at, and rejects
 * where it cannot look.
 */
export async function holdsAny(
  folder: string,
  isMeant: (below: string) => boolean,
): Promise<boolean> {
  const waiting = [''];
  let seen = 0;
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    for await (const entry of await opened(join(folder, below))) {
      const path = join(below, entry.name);
      seen += 1;
      if (seen > MAX_ENTRIES || isMeant(path)) return true;
      if (entry.isDirectory()) waiting.push(path);
    }
  }
  return false;
}

/** Nothing for what is no folder, or not there. */
async function opened(
  folder: string,
): Promise<AsyncIterable<{ readonly name: string; isDirectory(): boolean }>> {
  try {
    return await opendir(folder);
  } catch (error) {
    // Every error of the file system has a code.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    return nothing();
  }
}

async function* nothing(): AsyncIterable<never> {}

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
