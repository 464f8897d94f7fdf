/** What a path inside a jail may look like. */

import { jailError } from './jail-error.ts';

/** The kernel's own limit. */
const MAX_PATH_BYTES = 4096;

/**
 * The names a path is made of; `.` alone is the root, and an empty list. Refuses what has two
 * meanings rather than choosing one: `..` (behind a link it is not the part before it), a backslash
 * (a separator elsewhere), empty parts, and text that is no Unicode (it would be written as another
 * name). Percent signs, look-alikes and dots in a row are plain names: nothing is decoded.
 */
export function partsOf(path: unknown): readonly string[] {
  if (typeof path !== 'string' || path === '' || /[\0\\]/.test(path) || !path.isWellFormed())
    throw jailError('path');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw jailError('path');
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '..')) throw jailError('path');
  return parts.filter((part) => part !== '.');
}

/**
 * The parts of what lies in the root, taken apart into where it lies and what it is called there.
 */
export function placeOf(path: unknown): {
  readonly folder: readonly string[];
  readonly name: string;
} {
  const parts = partsOf(path);
  const name = parts.at(-1);
  // The root itself is not made, opened, moved or removed.
  if (name === undefined) throw jailError('is_directory');
  return { folder: parts.slice(0, -1), name };
}
