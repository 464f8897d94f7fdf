/** Tells of hooks that look like guards, and are for events that nothing in allium fires. */

import { isObject } from '../core/json/json.ts';

/**
 * Warns the process once for each such hook in the folders of the `hooks` layers: hooks that are
 * written in the file itself can be for no other event. A program that fires the event with
 * `fireHooks` turns off the code `ALLIUM_UNFIRED_HOOK`. Folders that cannot be read are for the
 * layer to tell.
 */
export async function warnOfUnfiredHooks(layers: readonly unknown[]): Promise<void> {
  const dirs = layers
    .flatMap((entry) => (isObject(entry) && isObject(entry.hooks) ? [entry.hooks.dir] : []))
    .filter((dir) => typeof dir === 'string');
  if (dirs.length === 0) return;
  const { loadArtifacts } = await import('../artifacts/index.ts');
  const { unfiredText } = await import('../artifacts/validate/lint-hooks.ts');
  const told = new Set<string>();
  for (const dir of dirs) {
    const loaded = await loadArtifacts(dir).catch(() => null);
    await loaded?.close();
    for (const { name, event } of loaded?.hooks ?? []) {
      const text = unfiredText(event);
      if (text !== null) told.add(`hook "${name}" ${text}`);
    }
  }
  for (const text of told)
    process.emitWarning(text, { type: 'AlliumWarning', code: 'ALLIUM_UNFIRED_HOOK' });
}
