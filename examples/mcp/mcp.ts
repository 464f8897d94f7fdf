/** The tools of two MCP servers behind one stack. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { governTools } from 'allium';
import { mcpExecutor } from 'allium/mcp';
import { requiredReason, timeout } from 'allium/middleware';

const programOf = (name: string): string =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dist/index.js');

const folder = await mkdtemp(join(tmpdir(), 'allium-mcp-'));
const path = join(folder, 'note.txt');
await writeFile(path, 'hello');
const [filesystem, memory] = [
  '@modelcontextprotocol/server-filesystem',
  '@modelcontextprotocol/server-memory',
].map(programOf);
assert.ok(filesystem !== undefined && memory !== undefined);

// #region two
const files = await mcpExecutor({ name: 'files', command: 'node', args: [filesystem, folder] });
const notes = await mcpExecutor({
  name: 'notes',
  command: 'node',
  args: [memory],
  env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
});

const governed = governTools({
  tools: files.tools.prefix('files').merge(notes.tools.prefix('notes')),
  executor: [files, notes],
  layers: [requiredReason(), timeout({ maxMs: 30_000 })],
});
const read = await governed.call({
  name: 'files_read_text_file',
  arguments: { path, reason: 'to greet' },
});

assert.equal(read.renderedResult, 'hello');
assert.equal(read.executor, 'mcp_server');
await governed.close(); // and with it both servers
// #endregion two

await rm(folder, { recursive: true });
process.stdout.write('read through a stack, from a server that runs no more\n');
