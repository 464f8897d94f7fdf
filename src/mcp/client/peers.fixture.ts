/**
 * Servers to speak to: the official ones, one of the newer protocol, and one that does whatever it
 * is told.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { governTools, type GovernOptions } from '../../index.ts';
import {
  type McpOptions,
  type McpProblem,
  type McpServer,
  type McpTarget,
  mcpExecutor,
} from '../index.ts';

const modules = resolve(import.meta.dirname, '../../../node_modules/@modelcontextprotocol');

/** How the servers on npm are started. */
export const official = (
  name: 'everything' | 'filesystem' | 'memory',
  ...args: readonly string[]
) => ({
  name,
  command: process.execPath,
  args: [join(modules, `server-${name}/dist/index.js`), ...args],
});

/** A folder that goes away with the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Connects, and closes after the test. */
export async function connected(target: McpTarget, options: McpOptions = {}) {
  const problems: McpProblem[] = [];
  const server = await mcpExecutor(target, {
    onProblem: (problem) => void problems.push(problem),
    ...options,
  });
  onTestFinished(() => server.close());
  return { server, problems, kinds: () => problems.map(({ kind }) => kind) };
}

export const governed = (server: McpServer, options: Partial<GovernOptions> = {}) =>
  governTools({ tools: server.tools, executor: server, layers: [], ...options });

/**
 * Speaks the older protocol by hand. What it lists is in a file, read for each list; what its tools
 * do goes to another.
 */
const SCRIPT = `
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [folder, ...flags] = process.argv.slice(2);
const effect = (text) => appendFileSync(folder + '/effects', text + '\\n');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const pages = () => JSON.parse(readFileSync(folder + '/pages.json', 'utf8'));
process.stderr.write('started ' + process.pid + '\\n');
effect('started ' + process.pid);
const waiting = new Map();
const tools = {
  answer: (id, args) => send({ id, result: args.result }),
  error: (id, args) => send({ id, error: { code: args.code, message: 'no' } }),
  hang: (id) => effect('hang ' + id),
  work: (id) => { effect('work'); send({ id, result: { content: [] } }); },
  late: (id) => { effect('late'); waiting.set(id, () => send({ id, result: { content: [{ type: 'text', text: 'late' }] } })); },
  twice: (id) => { for (const text of ['first', 'second']) send({ id, result: { content: [{ type: 'text', text }] } }); },
  meta: (id, args, meta) => send({ id, result: { content: [], structuredContent: { meta, env: Object.keys(process.env) } } }),
  flood: (id) => process.stdout.write('x'.repeat(11 * 1024 * 1024)),
  family: (id) => {
    const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    send({ id, result: { content: [], structuredContent: { pids: [process.pid, child.pid] } } });
  },
  change: (id, args) => {
    for (let times = 0; times < 50; times += 1) send({ method: 'notifications/tools/list_changed' });
    send({ id, result: { content: [] } });
  },
};
const methods = {
  initialize: (id, params) => send({ id, result: {
    protocolVersion: params.protocolVersion, capabilities: flags.includes('no-tools') ? {} : { tools: { listChanged: true } },
    serverInfo: { name: 'script', version: '1' } } }),
  'tools/list': (id, params) => {
    effect('list');
    const at = Number(params?.cursor ?? 0);
    const { tools, next } = pages()[at] ?? { tools: [] };
    send({ id, result: { tools, ...(next === undefined ? {} : { nextCursor: String(next) }) } });
  },
  'tools/call': (id, { name, arguments: args, _meta }) => tools[name]?.(id, args, _meta),
  'notifications/cancelled': (id, { requestId, reason }) => { effect('cancelled ' + reason); waiting.get(requestId)?.(); },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'server/discover' && flags.includes('die-of-questions')) process.exit(1);
  const handle = methods[method];
  if (handle) handle(id, params);
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } });
});
if (flags.includes('stay')) { setInterval(() => {}, 1000); process.on('SIGTERM', () => effect('asked to end')); }
`;

export const OBJECT = { type: 'object' };
const NAMES = ['answer', 'error', 'hang', 'late', 'twice', 'meta', 'flood', 'family', 'change'];
export const PAGES: readonly unknown[] = [
  { tools: NAMES.map((name) => ({ name, description: name, inputSchema: OBJECT })) },
];

/**
 * The server by hand: `pages` may be written again, and `effects` are the lines that it has left.
 */
export function scripted(pages: readonly unknown[] = PAGES, ...flags: readonly string[]) {
  const folder = tempFolder();
  const file = join(folder, 'server.mjs');
  writeFileSync(file, SCRIPT);
  const list = (next: readonly unknown[]) =>
    writeFileSync(join(folder, 'pages.json'), JSON.stringify(next));
  list(pages);
  return {
    target: { name: 'script', command: process.execPath, args: [file, folder, ...flags] },
    list,
    effects: (): readonly string[] =>
      existsSync(join(folder, 'effects'))
        ? readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n')
        : [],
  };
}

const at = (path: string): string => JSON.stringify(pathToFileURL(join(modules, path)).href);

/** On the SDK's server, which speaks both protocols. */
const MODERN = `
import { inputRequired, acceptedContent, Server } from ${at('server/dist/index.mjs')};
import { serveStdio } from ${at('server/dist/stdio.mjs')};
const inputSchema = { type: 'object' };
let tools = ['ask', 'meta', 'number', 'change'].map((name) => ({ name, description: name, inputSchema, annotations: { readOnlyHint: true } }));
serveStdio(() => {
  const server = new Server({ name: 'modern', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    if (params.name === 'meta') return { content: [], structuredContent: { meta: params._meta ?? {} } };
    if (params.name === 'number') return { content: [], structuredContent: 7 };
    if (params.name === 'change') {
      tools = tools.map((tool) => ({ ...tool, description: 'other' }));
      await server.sendToolListChanged();
      return { content: [] };
    }
    const given = acceptedContent(ctx.mcpReq.inputResponses, 'who');
    if (given !== undefined) return { content: [{ type: 'text', text: 'hello ' + given.name }] };
    if (ctx.mcpReq.inputResponses !== undefined) return { content: [{ type: 'text', text: 'nobody' }] };
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'who are you?', requestedSchema }) } });
  });
  return server;
});
`;

export function modern() {
  const file = join(tempFolder(), 'server.mjs');
  writeFileSync(file, MODERN);
  return { name: 'modern', command: process.execPath, args: [file] };
}

/**
 * Whether a process is there and runs: one that has ended may wait for somebody to take note of it.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const file = `/proc/${pid}/stat`;
  return !existsSync(file) || !/\) Z /.test(readFileSync(file, 'utf8'));
}
