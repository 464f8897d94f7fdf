import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderWith } from './files.fixture.ts';
import { loadConfig } from './index.ts';

const guard = (event: string) =>
  `---\nevent: ${event}\nscript: |\n  def handle(event, payload): return block("no")\n---\n`;
const TOOL = '---\nscript: |\n  def run(args): return 1\n---\nGets one.\n';

/** What a program that loads these files is warned of. */
async function warnedOf(
  files: Readonly<Record<string, string>>,
  folder = folderWith({}),
): Promise<readonly unknown[]> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitted.mockRestore());
  const config = await loadConfig('.', { cwd: folder, env: {} });
  await config.close();
  return emitted.mock.calls.map(([text]) => text);
}

describe('hooks for events that nothing fires', () => {
  const text = (name: string, event: string) =>
    `hook "${name}" is for ${event}, which nothing in allium fires: it blocks nothing unless a program asks it with fireHooks`;

  it('are told where a project is loaded without a file, each once', async () => {
    const warned = await warnedOf({
      '.allium/tools/get_one.md': TOOL,
      '.allium/hooks/a.md': guard('turn.start'),
      '.allium/hooks/b.md': guard('tool.pre'),
    });

    expect(warned).toEqual([text('a', 'turn.start')]);
  });

  it('are told where only a layer reads their folder', async () => {
    const folder = folderWith({});
    const dir = join(folder, 'guards');
    const files = {
      'allium.yaml': `version: 1\nlayers: [{ hooks: { dir: ${JSON.stringify(dir)} } }]\n`,
      'guards/.allium/hooks/a.md': guard('session.start'),
    };

    expect(await warnedOf(files, folder)).toEqual([text('a', 'session.start')]);
  });

  it('are no matter where there are none, or their folder cannot be read', async () => {
    expect(
      await warnedOf({
        'allium.yaml':
          'version: 1\nlayers: [{ hooks: { dir: nowhere } }, { timeout: { maxMs: 5 } }]\n',
      }),
    ).toEqual([]);
  });
});
