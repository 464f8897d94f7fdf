import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAlliumError } from '../index.ts';
import { folderWith } from './files.fixture.ts';
import { loadConfig } from './index.ts';

const TOOL =
  '---\nparameters: { n: { type: number, required: true } }\nscript: |\n  def run(args): return args["n"] * 2\n---\nDoubles.\n';
const HOOK = '---\nevent: tool.pre\nscript: |\n  def handle(event, payload): return allow()\n---\n';

function project(files: Readonly<Record<string, string>>): string {
  const folder = folderWith({});
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function load(files: Readonly<Record<string, string>>) {
  const config = await loadConfig('.', { cwd: project(files), env: {} });
  onTestFinished(() => config.close());
  return config;
}
const failure = (files: Readonly<Record<string, string>>) =>
  load(files).then(
    () => 'nothing',
    (thrown: unknown) => (isAlliumError(thrown) ? thrown.message : 'unexpected'),
  );

const stack = (...lines: readonly string[]) =>
  ['version: 1', 'layers: []', 'tools:', ...lines, ''].join('\n');

describe('tools from Markdown files', () => {
  it('come from the project that a file names, chosen and prefixed like others', async () => {
    const config = await load({
      'allium.yaml': stack('  - artifacts: agent', '    prefix: my', '    except: [halve]'),
      'agent/.allium/tools/double.md': TOOL,
      'agent/.allium/tools/halve.md': TOOL,
    });

    expect(config.tools.names).toEqual(['my_double']);
    expect(await config.govern().call({ name: 'my_double', arguments: { n: 4 } })).toMatchObject({
      status: 'ok',
      result: 8,
    });
  });

  it('tell all that is wrong with them as problems of the file', async () => {
    const wrong = TOOL.replace('number', 'nmuber').replace('---\np', '---\nasnyc: true\np');

    expect(
      await failure({ 'allium.yaml': stack('  - artifacts: .'), '.allium/tools/double.md': wrong }),
    ).toBe(
      [
        'allium.yaml:4:16: .allium/tools/double.md:2:1: tool "double" has no "asnyc"; did you mean "async"?',
        'allium.yaml:4:16: .allium/tools/double.md:3:26: tool "double" parameter "n" type must be one of string, number, boolean, object, array',
      ].join('\n'),
    );
  });

  it('may be old ones', async () => {
    const config = await load({
      'allium.yaml': stack('  - artifacts: .', '    lenient: true'),
      '.harness/tools/double.md': TOOL.replace('---\n', '---\nverify: x\n'),
    });

    expect(config.tools.names).toEqual(['double']);
  });

  it('are not loaded without the hooks that stand beside them', async () => {
    expect(
      await failure({
        'allium.yaml': stack('  - artifacts: .'),
        '.allium/tools/double.md': TOOL,
        '.allium/hooks/guard.md': HOOK,
      }),
    ).toBe(
      'allium.yaml:4:16: the project has hooks, and no layer runs them; add "- hooks: { dir: … }" to the layers',
    );
  });

  it('are a stack of their own where no file describes one', async () => {
    const config = await load({ '.allium/tools/double.md': TOOL });

    expect([config.tools.names, config.layers]).toEqual([['double'], []]);
    expect(await config.govern().call({ name: 'double', arguments: { n: 4 } })).toMatchObject({
      status: 'ok',
      result: 8,
    });
  });

  it('do not stand in for a file where there are none', async () => {
    expect(await failure({ 'README.md': '' })).toContain('there is no allium.yaml here');
    expect(await failure({ '.allium/tools/double.md': 'x' })).toBe(
      '.allium/tools/double.md:1:1: markdown file must start with --- frontmatter delimiter',
    );
  });
});
