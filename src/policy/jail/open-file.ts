/** Opens one file of a directory that is held open. */

import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errnoOf, jailError } from './jail-error.ts';
import type { OpenFlags } from './open-flags.ts';
import { O_PATH, pathOf, type Root, requireInside } from './walk.ts';

/** Somebody who makes and removes the file as fast as it is looked for is not waited for without end. */
const MAX_TRIES = 32;

/** Looks first and opens then what it looked at, or makes what was not there: nothing can be put in between. */
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

/** A handle on whatever has this name, a link included. `null` where nothing has it and it may be made. */
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

/** `null` where somebody else was faster: what they made is looked at like any other. */
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
