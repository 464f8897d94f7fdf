/** A new file is on disk only when its name is. */

import { closeSync, fsyncSync, openSync } from 'node:fs';

/**
 * Puts the names in a folder on disk. Where folders cannot be opened, the system does it by itself.
 */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
