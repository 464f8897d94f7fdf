/** Which file is meant. */

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { invalidConfig } from './problem.ts';
import { words } from '../system/words.ts';

const NAMES = words(`
  allium.yaml allium.yml allium.json allium.ts allium.mts allium.js allium.mjs
`);

/** Whether a folder has a file that describes a stack. */
export const hasConfig = (folder: string): boolean =>
  NAMES.some((name) => existsSync(join(folder, name)));

/**
 * The file itself, or the one in a folder. Two in one folder are refused: nobody could tell which
 * one governs.
 */
export function findConfig(fileOrFolder: string, cwd: string): string {
  const path = resolve(cwd, fileOrFolder);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? null;
  if (isFolder === null)
    throw invalidConfig([`${fileOrFolder}: there is no such file; "allium init" writes one`], {
      path,
    });
  if (!isFolder) return path;
  const [found, second] = NAMES.filter((name) => existsSync(join(path, name)));
  if (found === undefined)
    throw invalidConfig(
      [`${fileOrFolder}: there is no allium.yaml here; "allium init" writes one`],
      { path },
    );
  if (second !== undefined)
    throw invalidConfig(
      [`${fileOrFolder}: there are both ${found} and ${second}; say which one is meant`],
      { path },
    );
  return join(path, found);
}
