/**
 * Locks as files: one names the process that holds it, and is taken over when that process is dead.
 */

import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Clock } from '../core/time/clock.ts';
import { openRegular } from './open-regular.ts';
import { ownerHere, ownerLives, type ProcessOwner } from './process-owner.ts';

/** Gives the chain back. */
type Release = () => void;

/**
 * Takes the lock, or answers `null` where a live writer has it. Owners on other machines and in
 * other containers count as live. Throws `ERR_UNSAFE_FILE` where the path is anything but a file of
 * this user.
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
 * Puts a draft in the place of a dead owner's lock. Of several that found the same one, one gets
 * the `.takeover` name. Only the process that holds that name may replace a lock, so what it then
 * reads cannot change under it: a lock that is no longer the dead one is left alone.
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
  // A process that took this one's `.takeover` for a dead one may have put another lock in its
  // place: the content tells whose lock it is.
  return contentOf(path) === contentOf(draft);
}

/**
 * A process that was killed while it took a lock over leaves its `.takeover`. `false` where its
 * owner lives, or it was another's by then.
 */
function removeDead(takeover: string): boolean {
  const found = contentOf(takeover);
  if (found === null) return true;
  // Links are made whole, and an empty file names no owner: only an owner that is named can be
  // known to be dead.
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

const RETRY_MS = 5;
const WAIT_MS = 5000;

/** The last work of this process on each lock. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Runs `work` under a lock, waiting until it is free, and throws in the name of `owner` where it
 * stays taken. One of a process at a time tries for a lock: a hundred that all try again and again
 * would keep each other from their work.
 */
export function whileLocked<R>(
  path: string,
  by: { readonly owner: string; readonly clock: Clock },
  work: () => Promise<R>,
): Promise<R> {
  const mine = (queues.get(path) ?? Promise.resolve()).then(() => locked(path, by, work));
  const ended = mine.then(
    () => {},
    () => {},
  );
  queues.set(path, ended);
  void ended.then(() => queues.get(path) === ended && queues.delete(path));
  return mine;
}

async function locked<R>(
  path: string,
  { owner, clock }: { readonly owner: string; readonly clock: Clock },
  work: () => Promise<R>,
): Promise<R> {
  let release = takeLock(path);
  for (let waited = 0; release === null; waited += RETRY_MS) {
    if (waited >= WAIT_MS)
      throw new Error(
        `${owner}: a record stays locked; a process may hang, or have died on another machine`,
      );
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
    release = takeLock(path);
  }
  try {
    return await work();
  } finally {
    release();
  }
}
