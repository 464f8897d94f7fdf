/** The stack of `allium proxy`: that of a file, or one that only keeps receipts. */

import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { hasConfig } from '../config/find-config.ts';
import type { LoadedConfig, NotifySettings } from '../config/index.ts';
import { inStateFolder, stateFolder } from '../core/state-folder.ts';
import type { ProxyStack } from '../proxy/create-proxy.ts';
import { type CliIo, UsageError } from './io.ts';

export interface LoadedStack {
  readonly stack: ProxyStack;
  readonly stateDir: string;
  /** What paths in the settings are relative to. */
  readonly folder: string;
  readonly settings: LoadedConfig['proxy'];
  readonly notify: NotifySettings | undefined;
}

/** The file; or, where none was named and none is there, receipts of every call. */
export async function stackFrom(
  config: string | undefined,
  io: CliIo,
  report: (problem: string) => void,
): Promise<LoadedStack> {
  if (config !== undefined || hasConfig(io.cwd)) {
    const { loadConfig } = await import('../config/index.ts');
    // Clients start a proxy wherever they like; whoever looks for its receipts looks beside the file.
    const loaded = await loadConfig(config ?? '.', {
      cwd: io.cwd,
      env: io.env,
      stateDir: '.allium',
    });
    const { stateDir, file, proxy: settings, notify } = loaded;
    return { stack: loaded, stateDir, folder: dirname(file), settings, notify };
  }
  const stateDir = placeForState(io);
  report(
    `no allium.yaml here: calls are recorded in ${stateDir}, and nothing else is done with them`,
  );
  const { auditLog } = await import('../../middleware/audit-log/audit-log.ts');
  const { governTools } = await import('../index.ts');
  const log = inStateFolder(stateDir, () => auditLog('local'));
  const stack: ProxyStack = {
    layers: [log],
    govern: (overrides) =>
      inStateFolder(stateDir, () => governTools({ tools: [], layers: [log], ...overrides })),
    close: async () => log.close?.(),
  };
  return { stack, stateDir, folder: io.cwd, settings: {}, notify: undefined };
}

/** Clients that are started from a desktop start servers where nothing can be written: then it is a folder of the user's. */
function placeForState({ env }: CliIo): string {
  const own = stateFolder();
  if (isWritable(own)) return own;
  const { ALLIUM_STATE_DIR, XDG_STATE_HOME = '', HOME = '' } = env;
  // Whoever named a folder means that one.
  if (ALLIUM_STATE_DIR !== undefined)
    throw new UsageError(`nothing can be written to ${own}, which ALLIUM_STATE_DIR names`);
  const home = isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(HOME, '.local', 'state');
  const fallback = join(home, 'allium');
  if (isAbsolute(fallback) && isWritable(fallback)) return fallback;
  throw new UsageError(
    `receipts can be written neither to ${own} nor to ${fallback}: name a folder with ALLIUM_STATE_DIR`,
  );
}

/** Only an attempt tells: permissions say nothing of file systems that take no files. */
function isWritable(folder: string): boolean {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Not by `recursive`: where the system denies that a parent is there, as in `/proc`, Node.js tries for ever. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}
