/** Where a project keeps what must outlive a process. */

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';

let chosen = '.allium';

/** The state folder: `$ALLIUM_STATE_DIR`, or `.allium` in the working directory. */
export const stateFolder = (): string => resolve(process.env.ALLIUM_STATE_DIR ?? chosen);

/**
 * Puts together what belongs into another folder. `work` must not wait: what else is made meanwhile
 * would go there, too.
 */
export function inStateFolder<T>(folder: string, work: () => T): T {
  const before = chosen;
  chosen = folder;
  try {
    return work();
  } finally {
    chosen = before;
  }
}

/** A session is named from outside; its files are not. Different names never share a file. */
export function safeName(sessionId: string): string {
  const readable = sessionId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40);
  return `${readable}-${createHash('sha256').update(sessionId).digest('hex').slice(0, 8)}`;
}
