/** Which process is at work, told in a way that outlives it. */

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process that does what no other may do meanwhile. */
export interface ProcessOwner {
  readonly pid: number;
  /** When the process started, because the system gives its number to another one some day. */
  readonly start: string;
  readonly host: string;
  readonly boot: string;
  /** Processes with the same number live side by side in different containers. */
  readonly space: string;
}

/**
 * Whether a process may still be at work. One on another machine or in another container counts as
 * alive.
 */
export function ownerLives({ pid, start, host, boot, space }: Partial<ProcessOwner>): boolean {
  const here = ownerHere();
  if (typeof host !== 'string') return false;
  if (host !== here.host) return true;
  if (boot !== here.boot) return false;
  if (space !== here.space) return true;
  return (
    typeof pid === 'number' &&
    Number.isSafeInteger(pid) &&
    pid > 0 &&
    isRunning(pid) &&
    startOf(pid) === start
  );
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

let here: ProcessOwner | null = null;

/**
 * This process. Asked of the system once: a lock is taken for every session that begins and ends.
 */
export const ownerHere = (): ProcessOwner =>
  (here ??= Object.freeze({
    pid: process.pid,
    start: startOf(process.pid),
    host: hostname(),
    boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    space: textOf(() => readlinkSync('/proc/self/ns/pid')),
  }));

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
