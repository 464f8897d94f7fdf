/** One writer a chain: a file says who it is, and whoever finds its owner dead takes over. */

import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { openRegular } from '../system/open-regular.ts';
import { ownerHere, ownerLives, type ProcessOwner } from '../core/process-owner.ts';

/** Gives the chain back. */
export type Release = () => void;

/**
 * Takes the lock, or answers `null` where a live writer has it. Owners on other machines and in other containers count as live. Throws
 * `ERR_UNSAFE_FILE` where the path is anything but a file of this user.
 */
export function takeLock(path: string): Release | null {
  const mine = JSON.stringify({ ...ownerHere(), id: randomUUID() });
  const draft = `${path}.${randomUUID()}.part`;
  writeFileSync(draft, mine, { mode: 0o600, flag: 'wx' });
  try {
    if (!create(draft, path) && !takeOver(draft, path)) return null;
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    try {
      if (contentOf(path) === mine) rmSync(path, { force: true });
    } catch {
      // Something else was put in its place: not ours to remove.
    }
  };
}

/** A link is made whole or not at all, so a lock is never seen half written. */
function create(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    // Every error of the file system has a code.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function takeOver(draft: string, path: string): boolean {
  const found = contentOf(path);
  return found !== null && !isLive(found) && replaceLock(draft, path, found);
}

/**
 * Puts a draft in the place of a dead owner's lock. Of several that found the same one, one gets the `.takeover` name. Only whoever
 * holds it may replace a lock, so what it then reads cannot change under it: a lock that is no longer the dead one is left alone.
 */
export function replaceLock(draft: string, path: string, found: string): boolean {
  const takeover = `${path}.takeover`;
  if (!create(draft, takeover) && !(removeDead(takeover) && create(draft, takeover))) return false;
  if (contentOf(path) !== found) {
    rmSync(takeover, { force: true });
    return false;
  }
  try {
    renameSync(takeover, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Whoever took this one's `.takeover` for a dead one may have put another in its place: the content tells whose lock it is.
  return contentOf(path) === contentOf(draft);
}

/** A process that was killed while it took a lock over leaves its `.takeover`. `false` where its owner lives, or it was another's by then. */
function removeDead(takeover: string): boolean {
  const found = contentOf(takeover);
  if (found === null) return true;
  // Links are made whole, and an empty one is nobody's: only what names an owner can be known to be dead.
  if (found === '' || isLive(found)) return false;
  const aside = `${takeover}.${randomUUID()}.part`;
  try {
    renameSync(takeover, aside);
  } catch {
    return false;
  }
  const isDead = contentOf(aside) === found;
  rmSync(aside, { force: true });
  return isDead;
}

function contentOf(path: string): string | null {
  const file = openRegular(path, { access: 'read' });
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** What cannot be read was torn by a power cut: locks are made whole. */
function isLive(content: string): boolean {
  try {
    return ownerLives(JSON.parse(content) as Partial<ProcessOwner>);
  } catch {
    return false;
  }
}
