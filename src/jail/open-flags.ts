/** How a file may be opened inside a jail. */

import { constants } from 'node:fs';
import { jailError } from './jail-error.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_SYNC, O_DSYNC } =
  constants;

const NAMED = new Map<string, number>([
  ['r', O_RDONLY],
  ['r+', O_RDWR],
  ['w', O_WRONLY | O_CREAT | O_TRUNC],
  ['wx', O_WRONLY | O_CREAT | O_EXCL],
  ['w+', O_RDWR | O_CREAT | O_TRUNC],
  ['wx+', O_RDWR | O_CREAT | O_EXCL],
  ['a', O_WRONLY | O_CREAT | O_APPEND],
  ['ax', O_WRONLY | O_CREAT | O_APPEND | O_EXCL],
  ['a+', O_RDWR | O_CREAT | O_APPEND],
  ['ax+', O_RDWR | O_CREAT | O_APPEND | O_EXCL],
]);

const ACCESS = O_RDONLY | O_WRONLY | O_RDWR;
const KNOWN = ACCESS | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_SYNC | O_DSYNC;

/** What the flags of an `open` mean, for a file that is there and for one that is made. */
export interface OpenFlags {
  readonly creates: boolean;
  /** It must not be there yet. */
  readonly exclusive: boolean;
  /** For a file that is there. */
  readonly existing: number;
  /** For a file that is made: it is never one that another program put there in between. */
  readonly made: number;
}

/** Takes the names and numbers that Node takes, as far as they mean a plain file. */
export function openFlags(flags: unknown): OpenFlags {
  const bits = typeof flags === 'string' ? NAMED.get(flags) : flags;
  if (typeof bits !== 'number' || !Number.isSafeInteger(bits) || bits < 0 || bits > 0x7fffffff)
    throw jailError('flags');
  const access = bits & ACCESS;
  // `O_RDONLY | O_TRUNC` is a mistake, but the kernel empties the file.
  const emptiesUnwritten = (bits & O_TRUNC) !== 0 && access === O_RDONLY;
  if ((bits & ~KNOWN) !== 0 || access === ACCESS || emptiesUnwritten) throw jailError('flags');
  return {
    creates: (bits & O_CREAT) !== 0,
    exclusive: (bits & O_CREAT) !== 0 && (bits & O_EXCL) !== 0,
    existing: bits & ~(O_CREAT | O_EXCL),
    made: bits | O_CREAT | O_EXCL | constants.O_NOFOLLOW,
  };
}
