import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { folderWith, load, problemsIn } from './files.fixture.ts';
import { loadConfig } from './index.ts';

const filesystem = resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
);

/** Notes that it lives, and where. */
const SERVER = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
appendFileSync('lives', process.pid + ' ' + process.env.WORD + '\\n');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const list = ['a.read', 'a.write'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const capabilities = { tools: {} };
  if (method === 'initialize') send({ id, result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 's', version: '1' } } });
  else if (method === 'tools/list') send({ id, result: { tools: list } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: params.name }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
});
`;

const entry = (...lines: readonly string[]) =>
  ['version: 1', 'layers: []', 'tools:', ...lines, ''].join('\n');
const source = (more = '') =>
  `  - mcp: { command: "${process.execPath}", args: [server.mjs], env: { WORD: "\${WORD}" }${more} }`;
const livesIn = (folder: string) =>
  existsSync(join(folder, 'lives'))
    ? readFileSync(join(folder, 'lives'), 'utf8').trim().split('\n')
    : [];
const isGone = (line: string) => {
  try {
    process.kill(Number(line.split(' ')[0]), 0);
    return false;
  } catch {
    return true;
  }
};

describe('an MCP server in a file', () => {
  it('gives its tools, with a prefix, only those that are wanted, and ends with the file', async () => {
    const folder = folderWith({
      'server.mjs': SERVER,
      'allium.yaml': entry(source(), '    prefix: x', '    except: ["*.write"]'),
    });
    const config = await loadConfig(folder, { env: { WORD: 'given' } });
    const result = await config.govern().call({ name: 'x_a.read', arguments: {} });
    await config.close();

    expect(config.tools.names).toEqual(['x_a.read']);
    expect(result).toMatchObject({
      status: 'ok',
      executor: 'mcp_server',
      renderedResult: 'a.read',
    });
    expect(livesIn(folder)).toEqual([expect.stringMatching(/^\d+ given$/)]);
    expect(livesIn(folder).map(isGone)).toEqual([true]);
  });

  it('ends where something else in the file is wrong', async () => {
    const folder = folderWith({
      'server.mjs': SERVER,
      'allium.yaml': entry(source(), '  - module: ./gone.ts'),
    });
    await expect(loadConfig(folder, { env: { WORD: 'x' } })).rejects.toThrow('gone.ts');

    expect(livesIn(folder)).toHaveLength(1);
    await vi.waitFor(() => expect(livesIn(folder).map(isGone)).toEqual([true]));
  });

  it('is refused where its names are taken, without a word of what came from a variable', async () => {
    const files = { 'server.mjs': SERVER, 'allium.yaml': entry(source(), source()) };

    expect(await problemsIn(files, { env: { WORD: 'a-secret-word' } })).toEqual([
      'allium.yaml:5:5: two tools are called "a.read"',
    ]);
    const [line = ''] = await problemsIn(
      { 'allium.yaml': entry('  - mcp: { command: "./${WORD}" }') },
      { env: { WORD: 'a-secret-word' } },
    );
    expect(line).toContain('spawn ./${WORD} ENOENT');
  });

  it('runs where the file is', async () => {
    const yaml = entry(
      `  - mcp: { name: files, command: "${process.execPath}", args: ["${filesystem}", .] }`,
    );
    const config = await load({ 'allium.yaml': yaml, 'note.txt': 'hello' });
    const path = join(config.file, '../note.txt');
    writeFileSync(path, 'hello');

    expect(
      await config.govern().call({ name: 'read_text_file', arguments: { path } }),
    ).toMatchObject({ result: { content: 'hello' } });
    expect(config.explain('read_text_file')).toContain('read_text_file');
  });
});
