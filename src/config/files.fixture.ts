/** A folder with the files of one test. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isAlliumError } from '../index.ts';
import { type LoadedConfig, loadConfig, type LoadOptions } from './index.ts';

/** Writes the files into a new folder, which is gone after the test. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Loads the file of such a folder, and closes it after the test. */
export async function load(
  files: Readonly<Record<string, string>>,
  options: LoadOptions = {},
): Promise<LoadedConfig> {
  const config = await loadConfig('.', { env: {}, cwd: folderWith(files), ...options });
  onTestFinished(() => config.close());
  return config;
}

/** The lines of the error that such a folder gives. */
export async function problemsIn(
  files: Readonly<Record<string, string>>,
  options: LoadOptions = {},
): Promise<readonly string[]> {
  try {
    await load(files, options);
    return [];
  } catch (thrown) {
    return isAlliumError(thrown, 'ERR_INVALID_CONFIG')
      ? thrown.message.split('\n')
      : [`unexpected: ${String(thrown)}`];
  }
}

/** A file with these lines under `layers`. */
export const stack = (...lines: readonly string[]): Readonly<Record<string, string>> => ({
  'allium.yaml': ['version: 1', 'layers:', ...lines, ''].join('\n'),
});

export const TOOLS = `import { createRegistry, defineTool } from 'allium';
const tool = (name: string) => defineTool({
  name, description: name, inputSchema: { type: 'object', properties: { id: { type: 'string' } } }, execute: (args) => ({ name, ...args }),
});
export const echo = tool('echo');
export const list = [tool('shell_ls'), tool('shell_rm')];
export const registry = createRegistry([tool('web_get')]);
export const helper = () => 5;
export default echo;
`;
