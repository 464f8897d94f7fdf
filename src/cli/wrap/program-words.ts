/** What a client has to start to get this allium. */

import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { ownCommand, ownVersion } from '../../system/own-package.ts';
import type { CliIo } from '../io/io.ts';
import { refused } from './problem.ts';

/** How this allium was started. */
interface Started {
  /** The Node.js that runs. */
  readonly node: string;
  /** The script of the command line. */
  readonly script: string;
  readonly version: string;
  /** The PATH of the environment. */
  readonly path?: string | undefined;
}

/** How this process was started. */
export const startedFrom = ({ env }: CliIo): Started => ({
  node: process.execPath,
  script: ownCommand(),
  version: ownVersion(),
  path: env.PATH,
});

/**
 * This very program by its paths: a client started from a desktop knows neither `npx` nor the PATH
 * of a shell. From the cache of npx, which is emptied now and then, it is `npx` with this version.
 */
export function programWords({ node, script, version, path = '' }: Started): readonly string[] {
  if (/[\\/]_npx[\\/]/.test(script))
    return [
      ...(process.platform === 'win32' ? ['cmd', '/c'] : []),
      'npx',
      '-y',
      `allium@${version}`,
    ];
  return [lastingName(node, path), script];
}

/**
 * Package managers put each version into a folder of its own and a link to it on the PATH: the link
 * is still there after an update.
 */
function lastingName(node: string, path: string): string {
  const names = path
    .split(delimiter)
    .map((folder) => join(folder, process.platform === 'win32' ? 'node.exe' : 'node'));
  return names.find((name) => isAbsolute(name) && realOf(name) === node) ?? node;
}

function realOf(name: string): string | null {
  try {
    return realpathSync(name);
  } catch {
    return null;
  }
}

/**
 * The words of a command as they would be typed; quotes keep blanks together. Throws where a quote
 * does not end, or there is no word.
 */
export function splitCommand(text: string): readonly string[] {
  const words = [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
  const rest = text.replace(/"[^"]*"|'[^']*'/g, '');
  if (words.length === 0 || /["']/.test(rest))
    throw refused(
      'not_understood',
      'the command that starts allium is empty, or a quote in it does not end',
    );
  return words;
}
