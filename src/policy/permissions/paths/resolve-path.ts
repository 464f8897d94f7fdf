/** Where a path leads, also when what it names is not there yet. */

import { readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';

export interface ResolvedPath {
  /** Without links, as far as there is anything. What is not there yet counts as its name says. */
  readonly path: string;
  /** Every link on the way. */
  readonly links: readonly string[];
}

const MAX_LINKS = 40;

/**
 * Follows the links of an absolute path one after the other, as the kernel does: `..` behind a link leaves what the link points
 * to. A link to something that is not there counts as what it points to. Rejects where links go round, where a directory cannot
 * be looked into, and where links of `/proc` are met: they lead every process somewhere else. What it finds may have changed by the time it is used.
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
    // Every error of the file system has a code. EINVAL: no link; UNKNOWN: the same on Windows; ENOTDIR: below a file nothing can be.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['EINVAL', 'UNKNOWN', 'ENOENT', 'ENOTDIR'].includes(code)) return null;
    throw error;
  }
}
