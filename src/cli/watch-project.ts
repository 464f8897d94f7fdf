/** Tells when the Markdown files of a project change. */

import { existsSync, type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

const HOMES = ['.allium', '.harness'];
const BELOW_HOMES = ['tools', 'hooks', 'builtins', 'plugins', 'overrides'];
const BELOW_ROOT = ['builtins', 'plugins', 'overrides'];
/** Editors write in several steps. */
const SETTLE_MS = 60;

export interface WatchHandlers {
  /** Something changed. Not called again before it is done. */
  readonly changed: () => Promise<void>;
  /** So many folders are watched now. */
  readonly watching: (folders: number) => void;
}

/** Runs until the signal, and leaves no watcher and no timer behind. Folders that come later are watched, too. */
export function watchProject(
  root: string,
  signal: AbortSignal,
  { changed, watching }: WatchHandlers,
): Promise<void> {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();
  const sync = (): void => {
    const wanted = foldersOf(root);
    for (const [folder, watcher] of watchers) if (!wanted.includes(folder)) drop(folder, watcher);
    for (const folder of wanted) if (!watchers.has(folder)) add(folder);
    watching(watchers.size);
  };
  const drop = (folder: string, watcher: FSWatcher): void => {
    watcher.close();
    watchers.delete(folder);
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      working = working.then(async () => {
        if (signal.aborted) return;
        await changed();
        sync();
      });
    }, SETTLE_MS);
  };
  const add = (folder: string): void => {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (isMeant(root, folder, name)) later();
      });
      // A folder that is removed while it is watched.
      watcher.on('error', () => {
        drop(folder, watcher);
        later();
      });
      watchers.set(folder, watcher);
    } catch {
      // It was gone before it could be watched; whoever removed it is noticed one folder up.
    }
  };
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const [folder, watcher] of watchers) drop(folder, watcher);
      void working.then(resolve);
    };
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    sync();
  });
}

/** The root itself and what is there of the rest: a whole project may hold much that nobody asked about. */
const foldersOf = (root: string): readonly string[] =>
  [root, ...HOMES.map((home) => join(root, home)), ...BELOW_ROOT.map((name) => join(root, name))]
    .concat(HOMES.flatMap((home) => BELOW_HOMES.map((name) => join(root, home, name))))
    .filter((folder) => existsSync(folder));

/** Receipts and the like are written beside the tools, and change all the time. */
function isMeant(root: string, folder: string, name: string | null): boolean {
  if (name === null || name.endsWith('.md')) return true;
  if (folder === root) return [...HOMES, ...BELOW_ROOT].includes(name);
  return (
    HOMES.some((home) => folder === join(root, home)) &&
    !name.includes('.') &&
    BELOW_HOMES.includes(name)
  );
}
