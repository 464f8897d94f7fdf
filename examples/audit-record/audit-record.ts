/**
 * One call through four layers, and the audit record it leaves. Time stands still, so the record is
 * the same every time.
 */

import assert from 'node:assert/strict';
import { annotate, defineLayer, defineTool, governTools } from 'allium';
import { testClock } from 'allium/conformance';
import { dryRun, summary, timeout } from 'allium/middleware';

const readFile = defineTool({
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  annotations: { kind: 'read', readOnly: true, openWorld: false },
  execute: ({ path }) => `contents of ${path}`,
});

// #region annotate
const countPaths = defineLayer({
  name: 'countPaths',
  async caller(call, next) {
    const result = await next(call);
    return annotate(result, { metadata: { folder: 'notes' } }, { status: 'counted', paths: 1 });
  },
});
// #endregion annotate

const governed = governTools({
  tools: [readFile],
  layers: [
    summary((call, result) => `${call.toolName}: ${result.status}`),
    countPaths,
    dryRun({ only: ['write_*'] }),
    timeout({ maxMs: 1_000 }),
  ],
  clock: testClock(),
});

const { audit } = await governed.call({
  name: 'read_file',
  arguments: { path: 'notes/today.txt' },
});

assert.deepEqual(
  audit?.layers.map((line) => line.name),
  ['timeout', 'dryRun', 'countPaths', 'summary'],
);
assert.ok(Object.isFrozen(audit));
console.log(JSON.stringify(audit, null, 2));

// #region outer-wins
const says = (text: string) =>
  defineLayer({
    name: text,
    caller: async (call, next) =>
      annotate(await next(call), { description: text, reason: `reason of ${text}` }),
  });
const quiet = defineLayer({
  name: 'quiet',
  caller: async (call, next) => annotate(await next(call), { description: 'outermost' }),
});

const two = governTools({ tools: [readFile], layers: [quiet, says('inner')] });
const merged = await two.call({ name: 'read_file', arguments: { path: 'a' } });
assert.equal(merged.audit?.description, 'outermost');
assert.equal(merged.audit.reason, 'reason of inner');
// #endregion outer-wins

// #region none
const bare = governTools({ tools: [readFile], layers: [] });
const unrecorded = await bare.call({ name: 'read_file', arguments: { path: 'a' } });
const turnedAway = await bare.call({ name: 'read_file', arguments: '{}' });
assert.equal(unrecorded.audit, undefined);
assert.equal(turnedAway.audit?.layers[0]?.name, 'admission');
// #endregion none
