/**
 * What leaves the process: the four events in their wire form, canonical JSON, and hashes. Time and
 * ids come from outside.
 */

import assert from 'node:assert/strict';
import {
  canonicalJson,
  defineTool,
  fromWire,
  governTools,
  hashCanonical,
  isAlliumError,
  passThrough,
  toWire,
} from 'allium';
import { testClock } from 'allium/conformance';

const count = defineTool({
  name: 'count_words',
  description: 'Counts words.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  annotations: { kind: 'read', readOnly: true, idempotent: true, openWorld: false },
  execute({ text }, { report }) {
    report({ progress: 1, total: 1, message: 'counted' });
    return text.split(/\s+/).length;
  },
});

const governed = governTools({ tools: [count], layers: [passThrough], clock: testClock() });
governed.on('*', (event) => console.log(`${JSON.stringify(event, null, 2)}\n`));
await governed.call(
  { name: 'count_words', arguments: { text: 'peel from the outside in' }, id: 'call_1' },
  { turn: { sessionId: 'session-1' } },
);
await governed.call(
  { name: 'count_words', arguments: '{}', id: 'call_2' },
  { turn: { sessionId: 'session-1' } },
);

// #region wire
const record = {
  toolName: 'count_words',
  callIds: ['c1'],
  arguments: { wordList: 'kept as it is' },
  metadata: { retryAfterMs: 5, of: { innerName: 1 } },
};

assert.deepEqual(toWire(record), {
  tool_name: 'count_words',
  call_ids: ['c1'],
  arguments: { wordList: 'kept as it is' },
  metadata: { retry_after_ms: 5, of: { innerName: 1 } },
});
assert.deepEqual(fromWire(toWire(record)), record);
// #endregion wire

// #region canonical
assert.equal(canonicalJson({ b: [1.0, 1e21], a: 'é' }), '{"a":"é","b":[1,1e+21]}');
assert.throws(
  () => canonicalJson({ n: Number.NaN }),
  (error) => isAlliumError(error, 'ERR_NOT_JSON'),
);
// #endregion canonical

// #region hash
const args = { to: 'ada', amount: 40 };

assert.equal(hashCanonical(args), hashCanonical({ amount: 40, to: 'ada' }));
assert.match(hashCanonical(args), /^sha256:[0-9a-f]{64}$/);
assert.match(
  hashCanonical(args, { key: { id: 'k1', secret: 'from your key store' } }),
  /^hmac-sha256:k1:[0-9a-f]{64}$/,
);
// #endregion hash
console.log(`${canonicalJson(args)} ${hashCanonical(args)}`);
