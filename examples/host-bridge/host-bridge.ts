/**
 * Tools of a Python program, governed here: one runs, one fails, one is refused, and the program
 * hears of all three.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { governTools } from 'allium';
import { hostBridge } from 'allium/host-bridge';
import { auditLog, consent, timeout } from 'allium/middleware';

// #region connect
const child = spawn('python3', ['examples/host-bridge/host.py'], {
  stdio: ['pipe', 'pipe', 'pipe'],
});
child.on('error', ({ message }) => console.error(message));

const bridge = await hostBridge({ readable: child.stdout, writable: child.stdin });
const governed = governTools({
  tools: bridge.tools,
  executor: bridge,
  layers: [
    auditLog('cloud'),
    consent({ rules: [{ tool: 'delete_*', decision: 'deny' }], default: 'allow' }),
    timeout({ maxMs: 10_000 }),
  ],
});
governed.on('tool_call_audit', bridge.audit);
// #endregion connect
let recorded = '';
child.stderr.on('data', (chunk: Buffer) => (recorded += chunk.toString()));

// #region call
const read = await governed.call({ name: 'read_note', arguments: { title: 'shopping' } });
const missing = await governed.call({ name: 'read_note', arguments: { title: 'diary' } });
const refused = await governed.call({ name: 'delete_note', arguments: { title: 'shopping' } });

assert.deepEqual(
  [read.status, read.result, read.executor],
  ['ok', 'milk and two onions', 'host_bridge'],
);
assert.deepEqual(
  [missing.status, missing.error, missing.executed],
  ['executor_error', "There is no 'diary'.", 'yes'],
);
assert.deepEqual([refused.status, refused.executed], ['consent_denied', 'no']);
assert.equal(
  (await governed.call({ name: 'read_note', arguments: { title: 'shopping' } })).status,
  'ok',
);
// #endregion call

// #region close
const [exit] = await Promise.all([once(child, 'close'), governed.close()]); // Its input has ended, and so does it.
assert.equal(exit[0], 0);
// #endregion close
assert.deepEqual(recorded.trim().split('\n'), [
  'host recorded read_note ok',
  'host recorded read_note executor_error',
  'host recorded delete_note consent_denied',
  'host recorded read_note ok',
]);

console.log(bridge.tools.names.join(', '));
console.log(recorded.trim());
