/** The other half for hosts that run Node: both ends of a socket, here in one program. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, governTools } from 'allium';
import { hostBridge, serveHostTools } from 'allium/host-bridge';
import { auditLog } from 'allium/middleware';

const folder = mkdtempSync(join(tmpdir(), 'allium-bridge-'));
const path = join(folder, 'tools.sock');

const openTab = defineTool({
  name: 'open_tab',
  description: 'Opens a page in the editor.',
  inputSchema: {
    type: 'object',
    properties: { page: { type: 'string' } },
    required: ['page'],
    additionalProperties: false,
  },
  execute({ page }, { report }) {
    report({ progress: 1, total: 2, message: 'loading' });
    return { opened: page };
  },
});
const records: unknown[] = [];

// #region serve
const editor = governTools({ tools: [openTab], layers: [] });
const server = createServer((socket) => {
  serveHostTools({ readable: socket, writable: socket }, editor, {
    onAudit: ({ receipt }) => records.push(receipt),
  });
});
// #endregion serve
server.listen(path);
await once(server, 'listening');

// #region connect
const socket = connect(path);
const bridge = await hostBridge(
  { readable: socket, writable: socket },
  { connectTimeoutMs: 5_000, onProblem: ({ kind, message }) => console.error(kind, message) },
);
const governed = governTools({
  tools: bridge.tools.prefix('editor'),
  executor: bridge,
  layers: [auditLog('cloud')],
});
governed.on('tool_call_audit', bridge.audit);

const heard: unknown[] = [];
const opened = await governed.call(
  { name: 'editor_open_tab', arguments: { page: 'readme' } },
  { onProgress: (progress) => heard.push(progress) },
);

assert.deepEqual(opened.result, { opened: 'readme' });
assert.deepEqual(heard, [{ progress: 1, total: 2, message: 'loading' }]);
// #endregion connect

const gone = new Promise<void>((resolve) => server.close(() => resolve()));
await governed.close();
await bridge.closed;
await gone;
rmSync(folder, { recursive: true });
assert.equal(records.length, 1);

console.log(JSON.stringify(opened.result));
