/**
 * Files below one directory, and nothing else, whatever other processes do there at the same time.
 */

import type { Dirent, Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkOptions, expected } from '../core/contract/options.ts';
import { errnoOf, translated } from './jail-error.ts';
import { findRoot, inFolder, openFile, type Root } from './walk.ts';
import { openFlags } from './open-flags.ts';
import { partsOf, placeOf } from './path-parts.ts';

/** One name in a directory. A link is told as a link: what it points to is not looked at. */
export interface JailEntry {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'link' | 'other';
}

/**
 * Paths are relative to the root. Everything that cannot be done rejects with `ERR_JAIL`;
 * `details.reason` says why.
 */
export interface Jail {
  /** The root, its own links resolved. */
  readonly root: string;
  /**
   * Opens a regular file; the caller closes it. Flags are Node's, without those that do more than
   * open a plain file.
   */
  open(path: string, flags?: string | number, mode?: number): Promise<FileHandle>;
  readFile(path: string): Promise<Buffer>;
  readFile(path: string, encoding: BufferEncoding): Promise<string>;
  writeFile(
    path: string,
    data: string | Uint8Array,
    options?: { readonly flags?: string | number; readonly mode?: number },
  ): Promise<void>;
  /** What lies in a directory, sorted by name. `.` is the root. */
  readdir(path: string): Promise<readonly JailEntry[]>;
  /** Looks at the name itself: for a link it tells about the link. */
  stat(path: string): Promise<Stats>;
  mkdir(
    path: string,
    options?: { readonly recursive?: boolean; readonly mode?: number },
  ): Promise<void>;
  /** Removes a file, or a link itself. */
  unlink(path: string): Promise<void>;
  /** Removes an empty directory. */
  rmdir(path: string): Promise<void>;
  /** Moves a file, a directory, or a link itself. Replaces what a plain rename replaces. */
  rename(from: string, to: string): Promise<void>;
}

/**
 * A jail around a directory that is there. Goes part by part from open directory to open directory
 * and never through a link, so that links and directories that are swapped while it works lead
 * nowhere else. Needs Linux with `/proc`; elsewhere it throws instead of doing it with a race. It
 * does not stop hard links and mounts that somebody with rights put inside the root (a hard link
 * cannot be told from the file), and does not limit how much is read or written.
 */
export function jail(root: string): Jail {
  checkOptions('jail', { root }, { root: expected.required(ROOT) });
  const found = findRoot(resolve(root));
  const at = <T>(path: unknown, work: (place: string) => Promise<T>): Promise<T> =>
    atPlace(found, path, work);
  const open = (path: string, flags: string | number = 'r', mode = 0o666): Promise<FileHandle> => {
    return at(path, async (place) => openFile(found, place, openFlags(flags), mode & PERMISSIONS));
  };
  return Object.freeze<Jail>({
    root: found.path,
    open,
    // The overloads differ in what they give for which encoding, and so does the handle's own.
    readFile: ((path: string, encoding?: BufferEncoding) =>
      withFile(open(path), (file) =>
        file.readFile(encoding === undefined ? {} : { encoding }),
      )) as Jail['readFile'],
    writeFile: (path, data, { flags = 'w', mode } = {}) =>
      withFile(open(path, flags, mode), (file) => file.writeFile(data)),
    readdir: (path) => translated(within(found, path, entriesOf)),
    stat: (path) => translated(statOf(found, path)),
    mkdir: (path, options = {}) => makeFolder(found, path, options),
    unlink: (path) => at(path, unlink),
    rmdir: (path) => at(path, rmdir),
    rename: (from, to) => at(from, (source) => at(to, (target) => rename(source, target))),
  });
}

/** Read, write and execute: no file is made that runs as somebody else. */
const PERMISSIONS = 0o777;

const ROOT = {
  text: 'a path, without NUL',
  test: (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0'),
};

const within = async <T>(
  root: Root,
  path: unknown,
  work: (folder: string) => Promise<T>,
): Promise<T> => inFolder(root, partsOf(path), work);

/**
 * Works on a name in the directory it lies in, which is held open meanwhile. None of the calls made
 * on it follows a link.
 */
async function atPlace<T>(
  root: Root,
  path: unknown,
  work: (place: string) => Promise<T>,
): Promise<T> {
  const { folder, name } = placeOf(path);
  return translated(inFolder(root, folder, (held) => work(`${held}/${name}`)));
}

async function withFile<T>(
  opening: Promise<FileHandle>,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await opening;
  try {
    return await translated(work(file));
  } finally {
    await file.close();
  }
}

async function entriesOf(folder: string): Promise<readonly JailEntry[]> {
  const found = await readdir(folder, { withFileTypes: true });
  return found
    .map((entry): JailEntry => ({ name: entry.name, type: typeOf(entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function typeOf(entry: Dirent): JailEntry['type'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

async function statOf(root: Root, path: unknown): Promise<Stats> {
  const parts = partsOf(path);
  const name = parts.at(-1);
  // The handle's own path ends in a link of the kernel's; with "/." behind it the directory is
  // meant.
  return inFolder(root, parts.slice(0, -1), (folder) => lstat(`${folder}/${name ?? '.'}`));
}

async function makeFolder(
  root: Root,
  path: unknown,
  options: { readonly recursive?: boolean; readonly mode?: number },
): Promise<void> {
  const { folder, name } = placeOf(path);
  const { recursive = false, mode = 0o777 } = options;
  const parts = [...folder, name];
  for (let depth = recursive ? 1 : parts.length; depth <= parts.length; depth += 1) {
    const last = parts[depth - 1] ?? '';
    const made = inFolder(root, parts.slice(0, depth - 1), (held) =>
      mkdir(`${held}/${last}`, { mode: mode & PERMISSIONS }),
    );
    await translated(recursive ? made.catch(acceptExisting) : made);
  }
  // What was there already may be a file or a link.
  if (recursive) await translated(inFolder(root, parts, async () => {}));
}

function acceptExisting(error: unknown): void {
  if (errnoOf(error) !== 'EEXIST') throw error;
}
