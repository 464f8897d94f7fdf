/** A recording of two calls, what stands in it, and what does not. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeToolCallers, type Next, ok } from 'allium';
import { makeCall, testClock } from 'allium/conformance';
import { record, redaction } from 'allium/middleware';

const folder = mkdtempSync(join(tmpdir(), 'allium-record-'));
const file = join(folder, 'weather.jsonl');
const weather: Next = async (call) => ok(call, { city: call.toolArgs.city ?? null, celsius: 21 });

// #region use
const recorder = record({ file });
const stack = composeToolCallers([redaction({ paths: ['**.password'] }), recorder], {
  clock: testClock(),
  createId: () => 'run-1',
});

await stack(makeCall({ toolName: 'get_weather', toolArgs: { city: 'Oslo' } }), weather);
await stack(
  makeCall({
    toolName: 'get_weather',
    toolArgs: { city: 'Bergen', password: 'hunter2' },
    callId: 'call-2',
  }),
  weather,
);
await recorder.close?.();

const text = readFileSync(file, 'utf8');
assert.equal(text.trimEnd().split('\n').length, 2);
assert.ok(!text.includes('hunter2'));
assert.equal(statSync(file).mode & 0o777, 0o600);
// #endregion use

console.log(text.trimEnd());
rmSync(folder, { recursive: true });
