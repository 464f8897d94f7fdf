/** A child and everything it has started, as one thing that can be ended. */

import { type ChildProcess, spawnSync } from 'node:child_process';

const isWindows = process.platform === 'win32';

/** On POSIX a child leads a group of its own, so that what it starts can be reached through it. */
export const SPAWN_AS_TREE = Object.freeze({
  detached: !isWindows,
  windowsHide: true,
  shell: false,
});

/** Process ids of the children that end with this process, also when they were not closed. */
const living = new Set<number>();
const endAll = (): void => {
  for (const pid of living) signalTree(pid, 'SIGKILL');
};

/**
 * Ends the tree with this process, unless `forgetTree` comes before. A process that is killed
 * cannot keep that.
 */
export function rememberTree(pid: number): void {
  if (living.size === 0) process.on('exit', endAll);
  living.add(pid);
}

/** The child has ended, or may outlive this process. */
export function forgetTree(pid: number): void {
  living.delete(pid);
  if (living.size === 0) process.off('exit', endAll);
}

/** Sends a signal to the child and all that it started and that did not leave its group. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  try {
    if (isWindows)
      spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], {
        stdio: 'ignore',
        windowsHide: true,
      });
    else process.kill(-pid, signal);
  } catch {
    // The group is empty.
  }
}

/**
 * Asks the child to end in three steps: the end of its input, SIGTERM, SIGKILL to the whole tree.
 * `isOver` is asked before each signal, and waits as long as the child may take.
 */
export async function endTree(child: ChildProcess, isOver: () => Promise<boolean>): Promise<void> {
  child.stdin?.end();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await isOver()) return;
    if (child.pid !== undefined) signalTree(child.pid, signal);
  }
}

/** Whether the child has ended, whatever it has started may still run. */
export const hasExited = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
