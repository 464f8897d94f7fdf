/** What a jail says when it does not do something. */

import { AlliumError, isAlliumError } from '../core/contract/errors.ts';

/**
 * Every reason a jail gives, in `details.reason` of an `ERR_JAIL`, with the sentence that goes with
 * it.
 */
export const JAIL_REASONS = Object.freeze({
  unsupported:
    'tool files, hook files and file access need Linux with /proc: elsewhere no file can be opened without a race',
  root: 'the root is not a directory that can be entered',
  root_changed: 'another directory lies where the root was when the jail was made',
  path: 'the path must be relative, its parts parted by single slashes, without "..", backslash or NUL',
  flags: 'the flags are not among those a jail opens with',
  link: 'the path leads through a symbolic link, and links are not followed',
  not_directory:
    'a part of the path is no directory, or a symbolic link, and links are not followed',
  outside: 'what the path leads to was moved out of the root',
  special_file:
    'the path names neither a file nor a directory: pipes, sockets and devices are not opened',
  is_directory: 'the path names a directory',
  not_found: 'there is nothing under this path',
  exists: 'there is something under this path already',
  not_empty: 'the directory is not empty',
  permission: 'the operating system does not permit it',
  busy: 'the path changed again and again while it was opened',
  input_output: 'the file system failed',
} as const);

/** One of the reasons in `JAIL_REASONS`. */
export type JailReason = keyof typeof JAIL_REASONS;

/**
 * An `ERR_JAIL`. Holds neither the path that was asked for nor anything of a file; `cause` stays
 * with the host.
 */
export function jailError(reason: JailReason, cause?: unknown): AlliumError {
  return new AlliumError(
    'ERR_JAIL',
    `jail: ${JAIL_REASONS[reason]}`,
    { reason },
    cause === undefined ? {} : { cause },
  );
}

const REASON_OF = new Map<string, JailReason>([
  ['ENOENT', 'not_found'],
  ['EEXIST', 'exists'],
  ['ELOOP', 'link'],
  ['ENOTDIR', 'not_directory'],
  ['EISDIR', 'is_directory'],
  ['ENOTEMPTY', 'not_empty'],
  ['ENXIO', 'special_file'],
  ['ENODEV', 'special_file'],
  ['EACCES', 'permission'],
  ['EPERM', 'permission'],
  ['EROFS', 'permission'],
  ['ENAMETOOLONG', 'path'],
]);

/**
 * Awaits what the file system does, and turns what it throws into an `ERR_JAIL`: its own messages
 * hold the path.
 */
export async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isAlliumError(error)) throw error;
    throw jailError(REASON_OF.get(errnoOf(error)) ?? 'input_output', error);
  }
}

/** The code of a file system's error, or nothing. */
export function errnoOf(error: unknown): string {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
