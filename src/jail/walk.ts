/**
 * Goes from directory to directory by open handles. Node has no `openat`; on Linux
 * `/proc/self/fd/<n>/<name>` is the same thing: the kernel goes on from the open directory itself,
 * wherever its path leads by now. Every step refuses a link, so no link that is put there at any
 * time is ever followed.
 */

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAlliumError } from '../core/contract/errors.ts';
import { errnoOf, jailError } from './jail-error.ts';
import type { OpenFlags } from './open-flags.ts';

/**
 * Pins what a name stands for without opening it: no device is started, no pipe waited for. Node
 * does not name it.
 */
const O_PATH = 0o10000000;

const { O_DIRECTORY, O_NOFOLLOW } = constants;
const STEP = O_PATH | O_DIRECTORY | O_NOFOLLOW;

/** A root by its path and by what it was when the jail was made. */
export interface Root {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** The path that leads to an open handle, whatever has become of its name. */
const pathOf = (fd: number): string => `/proc/self/fd/${fd}`;

/**
 * Resolves the links of the root's own path: the host named it. Throws where handles cannot be
 * walked by.
 */
export function findRoot(path: string): Root {
  if (process.platform !== 'linux') throw jailError('unsupported');
  let fd: number | undefined;
  try {
    const real = realpathSync.native(path);
    fd = openSync(real, STEP);
    const { dev, ino } = fstatSync(fd, { bigint: true });
    requireProc(fd, dev, ino);
    return Object.freeze({ path: real, device: dev, inode: ino });
  } catch (error) {
    if (isAlliumError(error)) throw error;
    throw jailError('root', error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function requireProc(fd: number, device: bigint, inode: bigint): void {
  try {
    const seen = statSync(pathOf(fd), { bigint: true });
    if (seen.dev === device && seen.ino === inode) return;
  } catch (error) {
    throw jailError('unsupported', error);
  }
  throw jailError('unsupported');
}

/**
 * Opens a directory of the root and hands over its path by handle; closes it when the work is done.
 * The steps are synchronous: they only pin names, which takes microseconds where a turn through the
 * thread pool takes many times that for every part.
 */
export async function inFolder<T>(
  root: Root,
  parts: readonly string[],
  work: (folder: string) => Promise<T>,
): Promise<T> {
  let folder = enter(root);
  try {
    for (const part of parts) {
      const next = openSync(`${pathOf(folder)}/${part}`, STEP);
      closeSync(folder);
      folder = next;
    }
    requireInside(root, folder);
    return await work(pathOf(folder));
  } finally {
    closeSync(folder);
  }
}

function enter(root: Root): number {
  let fd: number | undefined;
  try {
    fd = openSync(root.path, STEP);
    const { dev, ino } = fstatSync(fd, { bigint: true });
    if (dev === root.device && ino === root.inode) return fd;
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    throw jailError('root_changed', error);
  }
  closeSync(fd);
  throw jailError('root_changed');
}

/**
 * A directory that is moved away while it is walked takes the walk with it: asks the kernel where
 * the handle is now.
 */
export function requireInside(root: Root, fd: number): void {
  const now = readlinkSync(pathOf(fd));
  const prefix = root.path === '/' ? '/' : `${root.path}/`;
  if (now !== root.path && !now.startsWith(prefix)) throw jailError('outside');
}

/**
 * A program that makes and removes the file as fast as it is looked for must not keep `openFile`
 * trying without end.
 */
const MAX_TRIES = 32;

/**
 * Looks first and opens then what it looked at, or makes what was not there: nothing can be put in
 * between.
 */
export async function openFile(
  root: Root,
  path: string,
  flags: OpenFlags,
  mode: number,
): Promise<FileHandle> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found = pin(path, flags.creates);
    if (found !== null) return openFound(root, found, flags);
    const made = await make(root, path, flags, mode);
    if (made !== null) return made;
  }
  throw jailError('busy');
}

/**
 * A handle on whatever has this name, a link included. `null` where nothing has it and it may be
 * made.
 */
function pin(path: string, creates: boolean): number | null {
  try {
    return openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if (creates && errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function openFound(root: Root, found: number, flags: OpenFlags): Promise<FileHandle> {
  try {
    const stats = fstatSync(found);
    if (stats.isSymbolicLink()) throw jailError('link');
    if (flags.exclusive) throw jailError('exists');
    if (stats.isDirectory()) throw jailError('is_directory');
    if (!stats.isFile()) throw jailError('special_file');
    requireInside(root, found);
    // Leads to the very file that was looked at, and to nothing else.
    return await open(pathOf(found), flags.existing);
  } finally {
    closeSync(found);
  }
}

/**
 * `null` where another program made the file first: `openFile` then looks at it like at any other.
 */
async function make(
  root: Root,
  path: string,
  flags: OpenFlags,
  mode: number,
): Promise<FileHandle | null> {
  let file: FileHandle;
  try {
    file = await open(path, flags.made, mode);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && !flags.exclusive) return null;
    throw error;
  }
  try {
    requireInside(root, file.fd);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
