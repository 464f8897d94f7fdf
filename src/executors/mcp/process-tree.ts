/** A child and everything it has started, as one thing that can be ended. */

import { type ChildProcess, spawnSync } from 'node:child_process';

const isWindows = process.platform === 'win32';

/** On POSIX a child leads a group of its own, so that what it starts can be reached through it. */
export const SPAWN_AS_TREE = Object.freeze({
  detached: !isWindows,
  windowsHide: true,
  shell: false,
});

/** Those that are to end with this process, also when nobody closes them. */
const living = new Set<number>();
const endAll = (): void => {
  for (const pid of living) signalTree(pid, 'SIGKILL');
};

/** Ends the tree with this process, unless `forgetTree` comes before. A process that is killed cannot keep that. */
export function rememberTree(pid: number): void {
  if (living.size === 0) process.on('exit', endAll);
  living.add(pid);
}

export function forgetTree(pid: number): void {
  living.delete(pid);
  if (living.size === 0) process.off('exit', endAll);
}

/** Sends a signal to the child and all that it started and that did not leave its group. */
export function signalTree(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (isWindows)
      spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], {
        stdio: 'ignore',
        windowsHide: true,
      });
    else process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}

export const hasExited = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
