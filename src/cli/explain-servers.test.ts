import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StackDescription } from '../config/index.ts';
import { allium, projectWith, startAllium } from './run-command.fixture.ts';

const FILES = join(
  dirname(
    createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json'),
  ),
  'dist/index.js',
);
const NODE = process.execPath;
const LAYERS = `version: 1
layers:
  - auditLog: local
  - scopedExecutor: { stage: notes, hide: true, allowedTools: [read_text_file, write_file, edit_file, one_write_file] }
  - consent: { rules: [{ tool: 'write_*', decision: ask }, { tool: 'edit_*', decision: deny }], default: allow }
`;

/** Answers nothing, and says in a file which process it is. */
const SILENT = `require('node:fs').writeFileSync('pid', String(process.pid)); console.error('silent'); setInterval(() => {}, 1000);`;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('allium explain with a server', () => {
  it('says what becomes of each of its tools, and by which rule', () => {
    const folder = projectWith({ 'allium.yaml': LAYERS });
    const { code, out } = allium(folder, ['explain', '--', NODE, FILES, folder]);
    const { out: json } = allium(folder, [
      'explain',
      '--json',
      '--name',
      'notes',
      '--',
      NODE,
      FILES,
      folder,
    ]);
    const { tools } = JSON.parse(json) as StackDescription;
    const fates = Object.fromEntries(
      tools.map(({ name, fate }) => [name, [fate.outcome, fate.rule ?? fate.by]]),
    );

    expect(code).toBe(0);
    expect(out).toMatch(
      /^ {2}edit_file: .*\n {4}of the server filesystem\n {4}refused by consent rule 2 \(deny edit_\*\)$/m,
    );
    expect(fates).toMatchObject({
      read_text_file: ['allowed', 'consent default (allow)'],
      write_file: ['asked', 'consent rule 1 (ask write_*)'],
      edit_file: ['refused', 'consent rule 2 (deny edit_*)'],
      move_file: ['hidden', 'scopedExecutor'],
    });
    expect(tools.every(({ server }) => server === 'notes')).toBe(true);
    expect(tools.find(({ name }) => name === 'write_file')?.inputSchema.required).toEqual([
      'path',
      'content',
    ]);
    expect(existsSync(join(folder, '.allium', 'receipts'))).toBe(false);
  });

  it('takes the servers of the file, and tells of one that is dead without losing the others', () => {
    const servers = `proxy: { servers: { one: { command: ${NODE}, args: [${FILES}, .] }, dead: { command: /nowhere/server } } }\n`;
    const folder = projectWith({ 'allium.yaml': `${LAYERS}${servers}` });
    const { code, out, err } = allium(folder, ['explain', '--json', '--timeout', '20']);
    const told = JSON.parse(out) as StackDescription & { readonly problems: readonly string[] };

    expect(code).toBe(1);
    expect(err).toContain('server "dead"');
    expect(told.problems.join()).toContain('server "dead"');
    expect(told.tools.find(({ name }) => name === 'one_write_file')).toMatchObject({
      server: 'one',
      fate: { outcome: 'allowed' },
    });
    expect(allium(folder, ['explain', '--no-servers'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('No tools.') as string,
    });
  });

  it.each([
    ['cannot be started', ['/nowhere/server'], 'it could not be started (ENOENT)'],
    ['ends at once', [NODE, '-e', 'process.exit(3)'], 'it ended with code 3'],
    ['never answers', [NODE, '-e', SILENT], 'did not answer within 1 s'],
    [
      'says nonsense',
      [NODE, '-e', `console.log('{"jsonrpc":"2.0","id":1}\\u001b[2J'); ${SILENT}`],
      'did not answer within 1 s',
    ],
  ])('does not hang on one that %s', (_name, words, why) => {
    const folder = projectWith({ 'allium.yaml': LAYERS });
    const { code, out, err } = allium(folder, ['explain', '--timeout', '1', '--', ...words]);

    expect(code).toBe(1);
    expect(err).toContain(why);
    expect(err).not.toContain('\u001b');
    expect(out).toContain('consent');
    if (existsSync(join(folder, 'pid')))
      expect(isAlive(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false);
  });

  it.each([
    ['an address that is none', ['--http', 'nonsense'], '--http takes an http or https address'],
    [
      'a header without an address',
      ['--header-env', 'a=B'],
      '--header-env is for a server that is reached with --http',
    ],
    ['no time', ['--timeout', '0'], '--timeout takes a whole number of seconds'],
  ])('refuses %s', (_name, flags, why) => {
    const { code, out, err } = allium(projectWith({ 'allium.yaml': LAYERS }), [
      'explain',
      ...flags,
    ]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(why);
  });

  it('leaves no process behind when it is interrupted', async () => {
    const folder = projectWith({ 'allium.yaml': LAYERS });
    const running = startAllium(folder, ['explain', '--', NODE, '-e', SILENT]);
    await running.shows('silent');
    running.interrupt();
    const { code, out } = await running.ended;

    expect({ code, out }).toEqual({ code: 130, out: '' });
    expect(isAlive(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false);
  });

  it('lets nothing that a server says of its tools act upon a terminal', () => {
    const tool = `{ name: 'a', description: '\\u009b2J\\u001b]0;x\\u0007\\nallowed by nobody', inputSchema: { type: 'object' } }`;
    const server = `let text = ''; process.stdin.on('data', (d) => { text += d; for (let at; (at = text.indexOf('\\n')) >= 0; text = text.slice(at + 1)) {
      const { id, method } = JSON.parse(text.slice(0, at));
      const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } : { tools: [${tool}] };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result })); } });`;
    const folder = projectWith({ 'allium.yaml': LAYERS, 'server.cjs': server });
    const [drawn, json] = [[], ['--json']].map(
      (flags) => allium(folder, ['explain', ...flags, '--', NODE, 'server.cjs']).out,
    );

    expect(drawn).toContain('  a: ');

    for (const text of [drawn, json])
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(drawn).not.toMatch(/^ *allowed by nobody/m);
  });
});
