/**
 * Loads every module that layers name before the layers are built, because building does not wait.
 */

import { isObject } from '../core/json/json.ts';
import { exportOf, loadModule, type ModuleExports, splitReference } from './load-module.ts';
import { GO_ON, isPlain, mapData } from './plain-data.ts';

/** Answers the export that a reference names, or throws why it cannot. */
export type References = (reference: string) => unknown;

export async function loadReferences(
  entries: readonly unknown[],
  folder: string,
): Promise<References> {
  const loaded = new Map<string, ModuleExports | { readonly failure: unknown }>();
  for (const module of new Set(
    referencesIn(entries).map((reference) => splitReference(reference).module),
  ))
    loaded.set(module, await loadModule(module, folder).catch((failure: unknown) => ({ failure })));
  return (reference) => {
    const exports = loaded.get(splitReference(reference).module) ?? {};
    if ('failure' in exports) throw exports.failure;
    return exportOf(exports, reference);
  };
}

function referencesIn(entries: readonly unknown[]): readonly string[] {
  const found: unknown[] = entries.map((entry) => (isObject(entry) ? entry.use : undefined));
  mapData(entries, [], (value) => {
    if (isPlain(value) && Object.hasOwn(value, '$module')) found.push(value.$module);
    return GO_ON;
  });
  return found.filter((reference) => typeof reference === 'string');
}
