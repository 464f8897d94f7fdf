import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlliumError } from '../../core/contract/errors.ts';
import { problemLine } from '../artifact.ts';
import { collectArtifacts } from './collect-artifacts.ts';
import { fileOf, projectWith } from './files.fixture.ts';
import { MAX_FILE_BYTES } from './read-file.ts';

const EMPTY = '---\n---\n';
const HOOK = fileOf('event: tool.pre', 'script: x = 1');
const bundle = (name: string) => fileOf('tools:', `  - name: ${name}`);

const collect = (files: Readonly<Record<string, string | Uint8Array>>, lenient = false) =>
  collectArtifacts(projectWith(files), lenient);
const linesOf = async (files: Readonly<Record<string, string | Uint8Array>>, lenient = false) =>
  (await collect(files, lenient)).problems.map(
    (problem) => `${problem.severity} ${problemLine(problem)}`,
  );

describe('collectArtifacts', () => {
  it('reads every place in its order, and each folder by name', async () => {
    const { tools, hooks, problems } = await collect({
      '.harness/tools/a.md': EMPTY,
      '.allium/tools/z.md': EMPTY,
      '.allium/tools/b.md': EMPTY,
      'overrides/o.md': bundle('over'),
      'plugins/p.md': bundle('plug'),
      '.harness/plugins/q.md': bundle('plug_q'),
      'builtins/i.md': bundle('built'),
      'harness.md': bundle('inline'),
      '.allium/hooks/h.md': HOOK,
      '.harness/hooks/g.md': HOOK,
    });

    expect(problems).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual([
      'inline',
      'b',
      'z',
      'a',
      'built',
      'plug',
      'plug_q',
      'over',
    ]);
    expect(hooks.map(({ name, file }) => [name, file])).toEqual([
      ['h', '.allium/hooks/h.md'],
      ['g', '.harness/hooks/g.md'],
    ]);
  });

  it('reads no folders below, and no other files', async () => {
    const { tools, problems } = await collect({
      '.allium/tools/a.md': EMPTY,
      '.allium/tools/deeper/b.md': 'x',
      '.allium/tools/c.txt': 'x',
      '.allium/receipts/s.jsonl': '{}',
      'README.md': '# x',
      'tools/d.md': 'x',
    });

    expect([tools.map(({ name }) => name), problems]).toEqual([['a'], []]);
  });

  it('finds nothing in a project without artifacts', async () => {
    expect(await collect({})).toMatchObject({ tools: [], hooks: [], problems: [], files: [] });
  });

  it('takes a folder of its own for the project it is in', async () => {
    const folder = projectWith({ '.allium/tools/a.md': EMPTY });

    expect((await collectArtifacts(join(folder, '.allium'), false)).tools).toHaveLength(1);
  });

  it('throws where there is no folder', async () => {
    const thrown: unknown = await collectArtifacts('/there/is/nothing', false).catch(
      (error: unknown) => error,
    );

    expect(isAlliumError(thrown, 'ERR_INVALID_ARTIFACT') && thrown.message).toBe(
      '/there/is/nothing: there is no such folder',
    );
  });

  it.each([
    [
      'two files',
      { '.allium/tools/a.md': EMPTY, '.harness/tools/a.md': EMPTY },
      '.harness/tools/a.md:1:1: tool "a" is defined more than once; first in .allium/tools/a.md:1',
    ],
    [
      'a file and harness.md',
      { 'harness.md': bundle('a'), '.allium/tools/a.md': EMPTY },
      '.allium/tools/a.md:1:1: tool "a" is defined more than once; first in harness.md:3',
    ],
    [
      'an override',
      { '.allium/tools/a.md': EMPTY, 'overrides/x.md': bundle('a') },
      'overrides/x.md:3:11: tool "a" is defined more than once; first in .allium/tools/a.md:1',
    ],
    [
      'one list',
      { 'plugins/x.md': fileOf('tools:', '  - name: a', '  - name: a') },
      'plugins/x.md:4:11: tool "a" is defined more than once; first in plugins/x.md:3',
    ],
    [
      'hooks',
      { '.allium/hooks/g.md': HOOK, '.harness/hooks/g.md': HOOK },
      '.harness/hooks/g.md:1:1: hook "g" is defined more than once; first in .allium/hooks/g.md:1',
    ],
  ])('refuses a name that is taken: %s', async (_what, files, line) => {
    expect(await linesOf(files)).toEqual([`error ${line}`]);
    expect(await linesOf(files, true)).toEqual([`error ${line}`]);
  });

  it('leaves out what the policy of harness.md refuses', async () => {
    const files = {
      '.allium/tools/read_a.md': EMPTY,
      '.allium/tools/read_b.md': EMPTY,
      '.allium/tools/send_c.md': EMPTY,
    };
    const namesWith = async (policy: string) =>
      (await collect({ ...files, 'harness.md': fileOf(`tools_policy: ${policy}`) })).tools.map(
        ({ name }) => name,
      );

    expect(await namesWith('{ allow: ["read_*"] }')).toEqual(['read_a', 'read_b']);
    expect(await namesWith('{ deny: ["read_*"] }')).toEqual(['send_c']);
    expect(await namesWith('{ allow: ["*"], deny: [send_c] }')).toEqual(['read_a', 'read_b']);
    expect(await namesWith('{ mode: allowlist }')).toEqual([]);
    expect(await namesWith('{ mode: denylist, allow: [read_a] }')).toEqual([
      'read_a',
      'read_b',
      'send_c',
    ]);
  });

  it('warns of what stands where nobody looks', async () => {
    expect(
      await linesOf({
        '.allium/guards.md': HOOK,
        '.harness/hook/g.md': HOOK,
        '.harness/agents/a.md': 'x',
        '.allium/receipts/r.jsonl': '',
      }),
    ).toEqual([
      'warning .allium/guards.md:1:1: this file is not read: bundles stand in builtins/, plugins/, overrides/',
      'warning .harness/agents:1:1: agents are not read: allium has tools and hooks',
      'warning .harness/hook:1:1: this folder is not read; did you mean "hooks"?',
    ]);
  });

  it('warns of guards that would not be read', async () => {
    const files = {
      '.allium/hooks/a.MD': HOOK,
      '.harness/hooks/b.markdown': HOOK,
      '.allium/hooks/deeper/c.md': HOOK,
      'plugins/d.Md': HOOK,
      '.allium/hooks/e.md~': '',
    };

    expect(await linesOf(files)).toEqual([
      'warning .allium/hooks/a.MD:1:1: this file is not read: artifacts end in ".md"',
      'warning .allium/hooks/deeper:1:1: this folder is not read: hooks stand in hooks/ itself',
      'warning .harness/hooks/b.markdown:1:1: this file is not read: artifacts end in ".md"',
      'warning plugins/d.Md:1:1: this file is not read: artifacts end in ".md"',
    ]);
  });

  it('reads bundles of old projects where they were', async () => {
    const { tools, problems } = await collect({ '.harness/mine.md': bundle('a') }, true);

    expect([tools.map(({ name }) => name), problems]).toEqual([['a'], []]);
  });

  it('follows no links, and passes over none in silence', async () => {
    const folder = projectWith({
      'outside.md': EMPTY,
      '.allium/tools/a.md': EMPTY,
      'elsewhere/b.md': HOOK,
    });
    symlinkSync(join(folder, 'outside.md'), join(folder, '.allium/tools/link.md'));
    mkdirSync(join(folder, '.allium/tools/folder.md'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, '.allium/hooks'));
    const { tools, hooks, problems } = await collectArtifacts(folder, false);

    expect([tools.map(({ name }) => name), hooks]).toEqual([['a'], []]);
    expect(problems.map(problemLine)).toEqual([
      '.allium/tools/folder.md:1:1: this is no regular file',
      '.allium/tools/link.md:1:1: this is a link, and links are not followed',
      '.allium/hooks:1:1: this folder cannot be read: a part of the path is no directory, or a symbolic link, and links are not followed',
    ]);
  });

  it('reads files of a size that people write', async () => {
    const folder = projectWith({ '.allium/tools/a.md': `${EMPTY}${'x'.repeat(MAX_FILE_BYTES)}` });
    writeFileSync(
      join(folder, '.allium/tools/b.md'),
      `${EMPTY}${'x'.repeat(MAX_FILE_BYTES - EMPTY.length)}`,
    );
    const { tools, problems } = await collectArtifacts(folder, false);

    expect(tools.map(({ name }) => name)).toEqual(['b']);
    expect(problems.map(problemLine)).toEqual([
      `.allium/tools/a.md:1:1: the file is larger than ${MAX_FILE_BYTES} bytes`,
    ]);
  });

  it('tells the problems of all files, file by file', async () => {
    expect(
      await linesOf({
        '.allium/tools/b.md': fileOf('async: 1', 'timeout_ms: -1'),
        '.allium/tools/a.md': 'x',
        '.allium/hooks/h.md': fileOf('script: x = 1'),
      }),
    ).toEqual([
      'error .allium/tools/a.md:1:1: markdown file must start with --- frontmatter delimiter',
      'error .allium/tools/b.md:2:8: tool "b" async must be true or false',
      'error .allium/tools/b.md:3:13: tool "b" timeout_ms must be >= 0',
      'error .allium/hooks/h.md:1:1: hook "h": event field is required in frontmatter',
    ]);
  });

  it('has names that a tool can have', async () => {
    expect(await linesOf({ '.allium/tools/read file.md': EMPTY })).toEqual([
      expect.stringMatching(
        /^error \.allium\/tools\/read file\.md:1:1: tool "read file": /,
      ) as string,
    ]);
    expect(await linesOf({ '.allium/tools/a.b.md': EMPTY }, true)).toEqual([]);
  });
});
