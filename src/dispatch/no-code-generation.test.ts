import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const entry = pathToFileURL(resolve(import.meta.dirname, '../../dist/src/index.js')).href;

const program = `
  const { defineTool, governTools } = await import(${JSON.stringify(entry)});
  const tool = defineTool({ name: 'echo', description: '', inputSchema: { type: 'object' }, execute: () => 1 });
  try {
    const governed = governTools({ tools: [tool], layers: [] });
    console.log((await governed.call({ name: 'echo', arguments: {} })).status);
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
`;

const run = (...flags: readonly string[]) =>
  spawnSync(process.execPath, [...flags, '--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 60_000,
  }).stdout;

it('governTools says that code generation is forbidden, before any call', () => {
  expect(run('--disallow-code-generation-from-strings')).toMatch(
    /^AlliumError ERR_NO_CODE_GENERATION governTools: this runtime forbids code that is made from strings/,
  );
  expect(run()).toBe('ok\n');
});
