import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCli } from '../run-cli.ts';
import { allium, MAIN, projectWith } from '../run-command.fixture.ts';

const CLAUDE =
  '{\n  "mcpServers": {\n    "files": {\n      "command": "npx",\n      "args": ["-y", "srv", "/tmp"],\n      "env": { "KEY": "hunter2" }\n    }\n  }\n}\n';
const VSCODE =
  '{\n\t// mine\n\t"servers": {\n\t\t"web": { "type": "http", "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer hunter2" } },\n\t},\n\t"inputs": [],\n}\n';
const CODEX =
  'model = "o4"\r\n\r\n[mcp_servers.files]\r\ncommand = "npx" # mine\r\nargs = ["-y", "srv"]\r\nenv = { KEY = "hunter2" }\r\n';
const CLAUDE_CODE =
  '{"numStartups":3,"projects":{"/p":{"mcpServers":{"files":{"type":"stdio","command":"uvx","args":[],"env":{}}},"history":[{"display":"x"}]}}}';

const FILES: readonly (readonly [string, string, string])[] = [
  ['Claude Desktop', 'claude_desktop_config.json', CLAUDE],
  ['Claude Code', '.mcp.json', CLAUDE],
  ['the state of Claude Code', '.claude.json', CLAUDE_CODE],
  ['Cursor', '.cursor/mcp.json', CLAUDE],
  ['VS Code', '.vscode/mcp.json', VSCODE],
  ['Codex', '.codex/config.toml', CODEX],
];

/** A folder of its own with one configuration. */
function clientWith(text: string, name = 'mcp.json') {
  const folder = realpathSync(projectWith());
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return {
    folder,
    path,
    read: () => readFileSync(path, 'utf8'),
    list: () => readdirSync(folder).sort(),
  };
}

/** The same without a process: a few hundred milliseconds less. */
async function here(cwd: string, ...args: readonly string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const code = await runCli(['wrap', ...args], {
    stdin,
    stdout,
    stderr,
    env: {},
    cwd,
    signal: new AbortController().signal,
  });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

describe('allium wrap', () => {
  it.each(FILES)('wraps and undoes the file of %s, to the letter', async (_client, name, text) => {
    const { folder, path, read } = clientWith(text, name);

    expect(await here(folder, name, '--command', 'npx allium')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^wrapped {6}(files|web)/) as string,
    });
    expect(read()).toContain('["allium", "proxy", "--name", ');
    expect(readFileSync(`${path}.allium-backup`, 'utf8')).toBe(text);
    expect(await here(folder, name, '--undo')).toMatchObject({
      code: 0,
      out: expect.stringContaining('restored') as string,
    });
    expect(read()).toBe(text);
  });

  it('has the client start the program that it is itself', () => {
    const { folder, read } = clientWith(CODEX, 'config.toml');

    expect(allium(folder, ['wrap', 'config.toml'])).toMatchObject({
      code: 0,
      out: 'wrapped      files\n',
    });
    const [, node = ''] = /command = "([^"]+)"/.exec(read()) ?? [];
    expect(realpathSync(node)).toBe(realpathSync(process.execPath));
    expect(read()).toContain(
      `args = [${JSON.stringify(MAIN)}, "proxy", "--name", "files", "--", "npx", "-y", "srv"]`,
    );
  });

  it('leaves a whole file behind whenever it is killed', async () => {
    const { folder, path, read } = clientWith(CLAUDE);
    const library = pathToFileURL(
      resolve(import.meta.dirname, '../../../dist/programs/src/cli/wrap/config-file.js'),
    ).href;
    const large = `{"a":"${'x'.repeat(300_000)}"}`;
    const loop = `import { readConfigFile, replaceFile } from ${JSON.stringify(library)};
      for (let turn = 0; ; turn += 1) {
        await replaceFile(await readConfigFile(${JSON.stringify(path)}), turn % 2 ? '{}' : '{"a":"' + 'x'.repeat(300000) + '"}', new AbortController().signal);
        if (turn === 20) console.log('going');
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', loop], { cwd: folder });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');

    expect(['{}', large]).toContain(read());
  });

  it('says what the proxy will do, where the copy is, and to start the client again', async () => {
    const { folder, path } = clientWith(CLAUDE);
    const { err } = await here(folder, 'mcp.json');

    expect(err).toContain(`The file as it was: ${path}.allium-backup`);
    expect(err).toContain('"allium init"');
    expect(err).toContain('Start the client again');
  });

  it('takes the stack of the folder, or the one that is named, by its whole path', async () => {
    const { folder, read } = clientWith(CLAUDE);
    writeFileSync(join(folder, 'allium.yaml'), 'version: 1\n');
    writeFileSync(join(folder, 'other.yaml'), 'version: 1\n');
    await here(folder, 'mcp.json');
    expect(read()).toContain(
      `"--config", ${JSON.stringify(join(folder, 'allium.yaml'))}, "--", "npx"`,
    );

    await here(folder, 'mcp.json', '--undo');
    await here(folder, 'mcp.json', '--config', 'other.yaml');
    expect(read()).toContain(
      `"--config", ${JSON.stringify(join(folder, 'other.yaml'))}, "--", "npx"`,
    );
  });

  it('starts what --command says', async () => {
    const { folder, read } = clientWith(CLAUDE);
    await here(folder, 'mcp.json', '--command', 'npx -y "allium"');

    expect(read()).toContain(
      '"command": "npx",\n      "args": ["-y", "allium", "proxy", "--name", "files", "--", "npx", "-y", "srv", "/tmp"]',
    );
  });

  it('changes nothing the second time', async () => {
    const { folder, read, list } = clientWith(CLAUDE);
    await here(folder, 'mcp.json');
    const [once, files] = [read(), list()];
    const second = await here(folder, 'mcp.json', '--command', 'other');

    expect(second).toEqual({ code: 0, out: 'was wrapped  files\n', err: '' });
    expect(read()).toBe(once);
    expect(list()).toEqual(files);
  });

  it('with --dry-run prints a diff without secrets, and changes nothing', async () => {
    const { folder, read, list } = clientWith(VSCODE);
    const { code, out, err } = await here(folder, 'mcp.json', '--dry-run');

    expect(code).toBe(0);
    expect(out).toMatch(
      /^--- .*mcp\.json\n\+\+\+ [^]*\n-\t\t"web": \{ "type": "http"[^]*\n\+\t\t"web": \{ "type": "stdio"/,
    );
    expect(err).toContain('wrapped');
    expect(out + err).not.toContain('hunter2');
    expect(read()).toBe(VSCODE);
    expect(list()).toEqual(['mcp.json']);
  });

  it('with --json prints one object without secrets', async () => {
    const { folder, path } = clientWith(VSCODE);
    const { code, out, err } = await here(folder, 'mcp.json', '--json');

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      file: path,
      changed: true,
      backup: `${path}.allium-backup`,
      config: null,
      servers: [{ name: 'web', place: 'servers', outcome: 'wrapped' }],
    });
    expect(
      JSON.parse((await here(folder, 'mcp.json', '--undo', '--dry-run', '--json')).out),
    ).toMatchObject({
      changed: false,
      diff: expect.stringMatching(/^---/) as string,
    });
    expect(out).not.toContain('hunter2');
  });

  it('ends with 1 when a server stays outside, and when none was chosen', async () => {
    const { folder, read } = clientWith(
      '{"mcpServers":{"a":{"command":"x"},"b":{"type":"sse","url":"https://a.example"}}}',
    );
    const { code, out } = await here(folder, 'mcp.json');

    expect(code).toBe(1);
    expect(out).toMatch(/wrapped {6}a\nleft alone {3}b: it is an SSE server/);
    expect(read()).toContain('"--", "x"');
    expect(await here(folder, 'mcp.json', '--except', 'b')).toMatchObject({ code: 0 });
    expect(await here(folder, 'mcp.json', '--only', 'c', '--only', 'd')).toMatchObject({ code: 1 });
  });

  it('--undo keeps what was changed since, and says that entries were taken apart', async () => {
    const { folder, path, read } = clientWith(CLAUDE);
    await here(folder, 'mcp.json');
    writeFileSync(path, read().replace('{\n  "mcp', '{\n  "theme": "dark",\n  "mcp'));
    const { code, out, err } = await here(folder, 'mcp.json', '--undo');

    expect({ code, out }).toEqual({ code: 0, out: 'taken apart  files\n' });
    expect(err).toContain('taken apart for itself');
    expect(read()).toBe(CLAUDE.replace('{\n  "mcp', '{\n  "theme": "dark",\n  "mcp'));
    expect(readFileSync(`${path}.allium-backup.1`, 'utf8')).toContain('"theme"');
  });

  it('--undo of what is not wrapped is a finding', async () => {
    const { folder, list } = clientWith(CLAUDE);

    expect(await here(folder, 'mcp.json', '--undo')).toEqual({
      code: 1,
      out: 'not wrapped  files\n',
      err: '',
    });
    expect(list()).toEqual(['mcp.json']);
  });

  it.skipIf(process.platform === 'win32')(
    'edits what a link leads to, and keeps it as private as it was',
    async () => {
      const { folder, path } = clientWith(CLAUDE, 'dotfiles.json');
      chmodSync(path, 0o600);
      symlinkSync('dotfiles.json', join(folder, 'mcp.json'));
      await here(folder, 'mcp.json');

      expect(readFileSync(path, 'utf8')).toContain('"proxy"');
      expect(
        ['dotfiles.json', 'mcp.json.allium-backup'].map(
          (name) => statSync(join(folder, name)).mode & 0o777,
        ),
      ).toEqual([0o600, 0o600]);
    },
  );

  it('says nothing that would act upon the terminal', async () => {
    const { folder } = clientWith(
      '{"mcpServers":{"\\u001b[2J":{"command":"x","args":["\u202e"]}}}',
    );
    const { out, err } = await here(folder, 'mcp.json', '--dry-run');

    expect(out + err).not.toMatch(/[\u001b\u202e]/);
  });

  it.each([
    ['a missing file', ['none.json'], 'there is no such file'],
    ['a file that is not understood', ['broken.json'], 'broken.json: line 1, column 2'],
    ['a file without servers', ['empty.json'], 'empty.json: there are no MCP servers'],
    [
      'a stack that is not there',
      ['mcp.json', '--config', 'none.yaml'],
      'none.yaml: there is no such file',
    ],
    ['a command that is none', ['mcp.json', '--command', ' '], 'is empty'],
    [
      'options that --undo does not take',
      ['mcp.json', '--undo', '--command', 'x'],
      '--undo takes neither',
    ],
  ])('ends with 2 for %s, and changes nothing', async (_name, args, message) => {
    const { folder, read, list } = clientWith(CLAUDE);
    writeFileSync(join(folder, 'broken.json'), '{mcpServers}');
    writeFileSync(join(folder, 'empty.json'), '{}');
    const { code, out, err } = await here(folder, ...args);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
    expect(read()).toBe(CLAUDE);
    expect(list()).toEqual(['broken.json', 'empty.json', 'mcp.json']);
  });

  it('writes nothing after Ctrl-C', async () => {
    const { folder, read, list } = clientWith(CLAUDE);
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const code = await runCli(['wrap', 'mcp.json'], {
      stdin,
      stdout,
      stderr,
      env: {},
      cwd: folder,
      signal: AbortSignal.abort('SIGINT'),
    });

    expect(code).toBe(130);
    expect(read()).toBe(CLAUDE);
    expect(list()).toEqual(['mcp.json']);
  });

  it('has help with examples', () => {
    expect(allium(process.cwd(), ['help', 'wrap'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Usage: allium wrap [^]*--undo[^]*Examples:/) as string,
    });
  });
});
