/** One writer a chain: a file says who it is, and whoever finds its owner dead takes over. */

import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Gives the chain back. */
export type Release = () => void;

interface Owner {
  readonly pid: number;
  /** When the process started, because the system gives its number to another one some day. */
  readonly start: string;
  readonly host: string;
  readonly boot: string;
  /** Processes with the same number live side by side in different containers. */
  readonly space: string;
  readonly id: string;
}

/** Takes the lock, or answers `null` where a live writer has it. Owners on other machines and in other containers count as live. */
export function takeLock(path: string): Release | null {
  const mine = JSON.stringify(ownerHere());
  const draft = `${path}.${randomUUID()}.part`;
  writeFileSync(draft, mine, { mode: 0o600, flag: 'wx' });
  try {
    if (!create(draft, path) && !takeOver(draft, path)) return null;
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (contentOf(path) === mine) rmSync(path, { force: true });
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
  if (!create(draft, takeover)) return false;
  if (contentOf(path) !== found) {
    rmSync(takeover, { force: true });
    return false;
  }
  renameSync(takeover, path);
  return true;
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** What cannot be read was torn by a power cut: locks are made whole. */
function isLive(content: string): boolean {
  try {
    return ownerLives(JSON.parse(content) as Partial<Owner>);
  } catch {
    return false;
  }
}

function ownerLives({ pid, start, host, boot, space }: Partial<Owner>): boolean {
  const here = ownerHere();
  if (typeof host !== 'string') return false;
  if (host !== here.host) return true;
  if (boot !== here.boot) return false;
  if (space !== here.space) return true;
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 && isRunning(pid) && startOf(pid) === start;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Every error of a system call has a code. EPERM: it runs, as somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const ownerHere = (): Owner => ({
  pid: process.pid,
  start: startOf(process.pid),
  host: hostname(),
  boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  space: textOf(() => readlinkSync('/proc/self/ns/pid')),
  id: randomUUID(),
});

/** Counted in clock ticks since the machine started. Nothing where the system does not tell. */
const startOf = (pid: number): string =>
  textOf(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name, which may hold anything, also blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended, and only waits for its parent to look.
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  });

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
