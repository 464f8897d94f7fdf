/** What goes with a folder that is moved or removed. */

import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder with more in it is not searched to the end. */
const MAX_ENTRIES = 20_000;

/**
 * Whether anything below a folder is meant. Takes the names as they are and follows no links: a link is removed, not what it
 * points to. Says yes where there is too much to look at, and rejects where it cannot look.
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
