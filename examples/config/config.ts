/** A stack written as data: read, explained, called, and what a mistake in it looks like. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeToolCallers, isAlliumError } from 'allium';
import { buildLayers, CONFIG_SCHEMA, LAYER_FACTORIES, loadConfig } from 'allium/config';
import { echoExecutor, makeCall } from 'allium/conformance';

const folder = await mkdtemp(join(tmpdir(), 'allium-config-'));
const YAML = `version: 1
session: { id: demo }
state: { dir: .allium }
layers:
  - auditLog: local
  - consent: { rules: [{ tool: add, decision: allow }], default: ask }
  - requiredReason
  - rateLimit: { maxCalls: 50, windowMs: 60000, per: session }
  - idempotency: { mode: effect, key: { $path: toolArgs.orderId } }
    only: [pay_*]
  - use: ./my-layer.mjs#greeting
    with: { word: "\${WORD:-hello}" }
tools:
  - module: ./tools.mjs
    except: [internal_*]
secrets: { api: "\${API_KEY}" }
`;
const TOOLS = `const schema = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] };
export const add = { name: 'add', description: 'Adds two numbers.', inputSchema: schema, execute: ({ a, b }) => a + b };
`;
const MY_LAYER = `export const greeting = ({ word }) => ({ name: 'greeting', caller: (call, next) => next(call), observes: word === 'hello' });
`;
await writeFile(join(folder, 'allium.yaml'), YAML);
await writeFile(join(folder, 'tools.mjs'), TOOLS);
await writeFile(join(folder, 'my-layer.mjs'), MY_LAYER);

// #region load
const config = await loadConfig(folder, { env: { API_KEY: 'from the environment' } });
const governed = config.govern();
const sum = await governed.call({
  name: 'add',
  arguments: { a: 1, b: 2, reason: 'to see it work' },
});

assert.equal(sum.result, 3);
assert.equal(sum.approval?.decidedBy, 'rule');
assert.deepEqual(
  config.layers.map(({ name }) => name),
  ['auditLog', 'consent', 'requiredReason', 'rateLimit', 'idempotency', 'greeting'],
);
await config.close();
// #endregion load

console.log(config.explain().split('\n').slice(2).join('\n'));

// #region mistake
await writeFile(
  join(folder, 'allium.yaml'),
  'version: 1\nlayers:\n  - rateLimit: { maxCall: 5 }\n  - timeout: { maxMs: 0 }\n',
);
const thrown: unknown = await loadConfig('allium.yaml', { cwd: folder }).catch(
  (error: unknown) => error,
);

assert.ok(isAlliumError(thrown, 'ERR_INVALID_CONFIG'));
assert.deepEqual(thrown.message.split('\n'), [
  'allium.yaml:3:18: "rateLimit" has no "maxCall"; did you mean "maxCalls"?',
  'allium.yaml:4:23: "maxMs" must be a whole number of at least 1',
]);
// #endregion mistake

// #region build
const layers = buildLayers(['requiredReason', { summary: { $fixed: 'called' } }], {
  forms: new Map([['$fixed', (text) => () => String(text)]]),
});
const result = await composeToolCallers(layers)(
  makeCall({ toolArgs: { reason: 'why not' } }),
  echoExecutor(),
);

assert.equal(result.audit?.reason, 'why not');
assert.ok(LAYER_FACTORIES.has('requiredReason'));
assert.equal(CONFIG_SCHEMA.title, 'allium');
// #endregion build

await rm(folder, { recursive: true });
