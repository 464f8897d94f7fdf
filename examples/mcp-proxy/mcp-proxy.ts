/**
 * A stack between a client and a server that know nothing of it: what it refuses is refused, and
 * there is a receipt that proves it.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defineTool, governTools } from 'allium';
import { childLink, createProxy, linkPair, listenHttp, serveTools } from 'allium/mcp';
import { auditLog, consent } from 'allium/middleware';
import { queryReceipts, verifyReceipts } from 'allium/receipts';

const server = join(
  dirname(
    createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json'),
  ),
  'dist/index.js',
);
const state = await mkdtemp(join(tmpdir(), 'allium-example-state-'));
const folder = await realpath(await mkdtemp(join(tmpdir(), 'allium-example-')));
process.env.ALLIUM_STATE_DIR = state;
await writeFile(join(folder, 'note.txt'), 'buy onions');

const token = 'a-token-for-this-example';
const connected = async (url: string): Promise<Client> => {
  const client = new Client({ name: 'example', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return client;
};

try {
  // #region proxy
  const proxy = createProxy({
    upstream: () => childLink({ command: 'node', args: [server, folder] }, process.stderr),
    stack: [
      auditLog('local'),
      consent({
        rules: [
          { tool: 'read_*', decision: 'allow' },
          { tool: 'list_*', decision: 'allow' },
        ],
        default: 'deny',
      }),
    ],
    session: { sessionId: 'notes' },
  });
  const listener = await listenHttp({
    port: 0,
    token,
    async onClient(link) {
      await proxy.connect(link);
    },
  });
  // #endregion proxy

  // #region calls
  const client = await connected(listener.url);
  const read = await client.callTool({
    name: 'read_text_file',
    arguments: { path: join(folder, 'note.txt') },
  });
  const written = await client.callTool({
    name: 'write_file',
    arguments: { path: join(folder, 'new.txt'), content: 'x' },
  });

  assert.deepEqual(read.content, [{ type: 'text', text: 'buy onions' }]);
  assert.equal(written.isError, true);
  assert.equal(written._meta?.['allium/status'], 'consent_denied');
  assert.equal(written._meta['allium/executed'], 'no');
  assert.equal(existsSync(join(folder, 'new.txt')), false);
  // #endregion calls

  await client.close();
  await listener.close();
  await proxy.close();

  // #region receipts
  const publicKey = await readFile(join(state, 'keys', 'receipts-ed25519.pub.pem'), 'utf8');
  const report = await verifyReceipts(join(state, 'receipts'), { publicKey });
  const refused = [];
  for await (const receipt of queryReceipts(join(state, 'receipts'), { tool: 'write_file' }))
    refused.push(receipt);

  assert.equal(report.ok, true);
  assert.equal(report.count, 2);
  assert.deepEqual(
    refused.map(({ session_id, status, executed, blocked_by }) => [
      session_id,
      status,
      executed,
      blocked_by,
    ]),
    [['notes', 'consent_denied', 'no', 'consent']],
  );
  // #endregion receipts
  process.stdout.write(
    `read: buy onions\nwrite_file: ${refused.map(({ status }) => status).join()}, 2 receipts verified\n`,
  );

  // What the page says of `consent: {}` with trustAnnotations: a tool that the server calls
  // destructive is asked about, one that only adds is not.
  const believing = createProxy({
    upstream: () => childLink({ command: 'node', args: [server, folder] }, process.stderr),
    stack: [consent({})],
    trustAnnotations: true,
  });
  const second = await listenHttp({
    port: 0,
    token,
    onClient: async (link) => {
      await believing.connect(link);
    },
  });
  const trusting = await connected(second.url);
  const asked = await trusting.callTool({
    name: 'move_file',
    arguments: { source: join(folder, 'note.txt'), destination: join(folder, 'x') },
  });
  await trusting.callTool({ name: 'create_directory', arguments: { path: join(folder, 'made') } });
  assert.equal(asked._meta?.['allium/status'], 'approval_required');
  assert.deepEqual(
    [existsSync(join(folder, 'note.txt')), existsSync(join(folder, 'made'))],
    [true, true],
  );
  await trusting.close();
  await second.close();
  await believing.close();

  // #region serve
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: ({ a, b }) => ({ sum: a + b }),
  });
  const layers = [consent({ default: 'allow' })];
  const tools = serveTools({
    stack: {
      layers,
      govern: (overrides) => governTools({ tools: [add], layers, ...overrides }),
      close: async () => {},
    },
    info: { name: 'sums', version: '1.0.0' },
  });
  const [ours, theirs] = linkPair();
  await tools.connect(ours);
  // #endregion serve

  const answered = new Promise<unknown>((resolve) => {
    void theirs.start({
      onFrame: ({ message }) => resolve(message.result),
      onGarbage() {},
      onClose() {},
    });
  });
  theirs.send({
    message: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'add', arguments: { a: 1, b: 2 } },
    },
  });
  assert.match(JSON.stringify(await answered), /"sum":3/);
  await tools.close();
} finally {
  await rm(folder, { recursive: true, force: true });
  await rm(state, { recursive: true, force: true });
}
