/** Opens what other people named. */

import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/** Opens a file for reading. Anything else is not opened: a pipe would be waited for without end. */
export function openRegular(path: string): number | 'missing' | 'other' {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (fstatSync(file).isFile()) return file;
    closeSync(file);
    return 'other';
  } catch (error) {
    // Every error of the file system has a code.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'other';
  }
}
