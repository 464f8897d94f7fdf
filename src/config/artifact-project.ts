/** A project that has tools as Markdown files and no file that describes a stack. */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasConfig } from './find-config.ts';
import type { Source } from './read-source.ts';
import { words } from '../system/words.ts';

const PLACES = words(`
  .allium/tools .harness/tools .allium/hooks .harness/hooks harness.md .allium/harness.md
  .harness/harness.md
`);

/** Whether a folder has something that `loadConfig` can load. */
export const isProject = (folder: string): boolean => hasConfig(folder) || hasArtifacts(folder);

const hasArtifacts = (folder: string): boolean =>
  PLACES.some((place) => existsSync(join(folder, place)));

/**
 * What such a folder stands for: the tools of its files with their hooks around them, and nothing
 * else; nobody is asked. `null` where the folder has a file, or no artifacts, or is none.
 */
export async function artifactProject(
  folder: string,
): Promise<{ readonly file: string; readonly source: Source } | null> {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder || hasConfig(folder) || !hasArtifacts(folder)) return null;
  const { loadArtifacts } = await import('../artifacts/index.ts');
  // Wrong files throw here, with their own lines.
  const loaded = await loadArtifacts(folder);
  await loaded.close();
  const layers = loaded.hooks.length === 0 ? [] : [{ hooks: { dir: folder } }];
  // Nobody wrote this, so nothing in it has a place.
  const source = {
    data: { version: 1, layers, tools: [{ artifacts: folder }] },
    mistakes: [],
    positionOf: () => null,
  };
  return { file: join(folder, 'allium.yaml'), source };
}
