/**
 * The dispatcher: batches, cancellation, tools of a turn, limits, progress, nested calls, large
 * results, and closing.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  causeOf,
  defineLayer,
  defineTool,
  fileOutputs,
  governTools,
  isAlliumError,
  outcomeOf,
  type OutputFiles,
} from 'allium';
import { settle } from 'allium/conformance';

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a word up.',
  inputSchema: {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
    additionalProperties: false,
  },
  annotations: { kind: 'search', readOnly: true },
  execute: ({ word }) => `${word}: found`,
});

const listen = defineTool({
  name: 'listen',
  description: 'Listens until it is stopped.',
  inputSchema: { type: 'object' },
  execute(_args, { signal }) {
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
    );
  },
});

// #region batch
const governed = governTools({ tools: [lookUp, listen], layers: [] });

const results = await governed.batch(
  [
    { name: 'look_up', arguments: { word: 'peel' }, id: 'c1' },
    { name: 'look_down', arguments: {}, id: 'c2' },
    { name: 'look_up', arguments: '{"word": "core"}', id: 'c3' },
  ],
  { maxConcurrent: 3, turn: { sessionId: 's1', iteration: 4 } },
);

assert.deepEqual(
  results.map(({ toolCallId, status }) => [toolCallId, status]),
  [
    ['c1', 'ok'],
    ['c2', 'tool_not_found'],
    ['c3', 'ok'],
  ],
);
assert.deepEqual(results.map(outcomeOf), ['completed', 'failed', 'completed']);
// #endregion batch
console.log(
  `batch      ${results.map(({ toolCallId, status }) => `${toolCallId} ${status}`).join(', ')}`,
);

// #region cancel
const controller = new AbortController();
const calling = governed.call({ name: 'listen', arguments: {} }, { signal: controller.signal });
await settle(); // lets the tool begin
controller.abort();
const cancelled = await calling;

assert.equal(cancelled.status, 'cancelled');
assert.equal(cancelled.executed, 'unknown');
// #endregion cancel
console.log(`cancel     ${cancelled.status}, executed: ${cancelled.executed}`);

// #region advertise
const turn = { sessionId: 's1', turnId: 't5' };
const shown = governed.advertise({ turn, select: (tool) => tool.annotations.readOnly === true });
assert.deepEqual(
  shown.map((tool) => tool.name),
  ['look_up'],
);

const hidden = await governed.call({ name: 'listen', arguments: {} }, { turn });
assert.equal(hidden.status, 'tool_not_found');
assert.equal(hidden.error, 'There is no tool "listen". Tools you can use: look_up.');
// #endregion advertise
console.log(`advertise  ${hidden.error}`);

// #region repair
const strict = governTools({ tools: [lookUp], layers: [], onInvalidArgs: 'throw' });

await assert.rejects(strict.call({ name: 'look_up', arguments: '{}' }), (error) => {
  assert.ok(isAlliumError(error, 'ERR_INVALID_ARGS'));
  assert.equal(error.result?.status, 'schema_violation');
  return true;
});
// #endregion repair

// #region limits
const limited = governTools({
  tools: [lookUp],
  layers: [],
  limits: { maxCallsPerRun: 2, maxConcurrent: 1 },
});
const run = Array.from({ length: 3 }, () => ({ name: 'look_up', arguments: { word: 'peel' } }));
const counted = await limited.batch(run, { maxConcurrent: 3, turn: { runId: 'run-1' } });

assert.deepEqual(
  counted.map(({ status }) => status),
  ['ok', 'ok', 'limit_exceeded'],
);
assert.equal(
  counted[2]?.error,
  'No more calls: this run has used its 2 tool calls. Finish with what you have.',
);
// #endregion limits
console.log(`limits     ${counted.map(({ status }) => status).join(', ')}`);

// #region progress
const upload = defineTool({
  name: 'upload',
  description: 'Uploads in steps.',
  inputSchema: { type: 'object' },
  execute(_args, { report }) {
    report({ progress: 1, total: 2, message: 'half way' });
    report({ progress: 2, total: 2 });
    return 'done';
  },
});
const heard: unknown[] = [];
await governTools({ tools: [upload], layers: [] }).call(
  { name: 'upload', arguments: {} },
  { onProgress: (progress) => heard.push(progress) },
);

assert.deepEqual(heard, [
  { progress: 1, total: 2, message: 'half way' },
  { progress: 2, total: 2 },
]);
// #endregion progress

// #region nested
const defineAll = defineTool({
  name: 'define_all',
  description: 'Looks several words up.',
  inputSchema: {
    type: 'object',
    properties: { words: { type: 'array', items: { type: 'string' } } },
    required: ['words'],
  },
  async execute({ words }, { call }) {
    const found = await Promise.all(
      words.map((word) => call({ name: 'look_up', arguments: { word } })),
    );
    return found.map((result) => result.result);
  },
});
const names: string[] = [];
const note = defineLayer({
  name: 'note',
  observes: true,
  caller(call, next) {
    names.push(call.toolName);
    return next(call);
  },
});
const nesting = governTools({ tools: [lookUp, defineAll], layers: [note] });
const nested = await nesting.call({ name: 'define_all', arguments: { words: ['peel', 'core'] } });

assert.deepEqual(nested.result, ['peel: found', 'core: found']);
assert.deepEqual(names, ['define_all', 'look_up', 'look_up']);
// #endregion nested
console.log(`nested     ${names.join(', ')}`);

const folder = await mkdtemp(join(tmpdir(), 'allium-dispatch-'));
const dump = defineTool({
  name: 'dump',
  description: 'Answers at length.',
  inputSchema: { type: 'object' },
  execute: () => 'line\n'.repeat(1_000),
});

// #region output-files
const large = governTools({
  tools: [dump],
  layers: [],
  limits: { maxPreviewBytes: 64 },
  outputFiles: fileOutputs(folder),
});
const previewed = await large.call({ name: 'dump', arguments: {} });
const [file] = previewed.outputFiles;

assert.equal(file?.bytes, 5_000);
assert.equal(await readFile(fileURLToPath(file.uri), 'utf8'), 'line\n'.repeat(1_000));
assert.match(previewed.renderedResult, /\[cut: the first 64 of 5000 bytes; all of it is in file:/);
// #endregion output-files
await rm(folder, { recursive: true });

// #region output-store
const kept = new Map<string, string>();
const inMemory: OutputFiles = {
  async write({ text, mediaType }) {
    const sha256 = createHash('sha256').update(text).digest('hex');
    const uri = `memory:${sha256}`;
    kept.set(uri, text);
    return { uri, bytes: Buffer.byteLength(text), sha256, mediaType };
  },
};
// #endregion output-store
await governTools({
  tools: [dump],
  layers: [],
  outputFiles: inMemory,
  limits: { maxPreviewBytes: 64 },
}).call({
  name: 'dump',
  arguments: {},
});
assert.equal(kept.size, 1);

// #region observe
const searched = await nesting.observe(
  { name: 'web_search', arguments: { q: 'onions' }, id: 's1' },
  { hits: 3 },
);

assert.equal(searched.executed, 'yes');
assert.deepEqual(names.at(-1), 'web_search');
// #endregion observe

// #region cause
const failing = defineTool({
  name: 'fail',
  description: 'Fails.',
  inputSchema: { type: 'object' },
  execute: () =>
    Promise.reject(
      Object.assign(new Error('connection refused'), {
        code: 'ECONNREFUSED',
        headers: { authorization: 'secret' },
      }),
    ),
});
const failure = await governTools({ tools: [failing], layers: [] }).call({
  name: 'fail',
  arguments: {},
});

assert.equal(failure.error, 'connection refused');
assert.equal(failure.errorClass, 'retryable');
assert.ok(causeOf(failure) instanceof Error);
assert.doesNotMatch(JSON.stringify(failure), /secret/);
// #endregion cause

// #region close
await governed.close();
await assert.rejects(governed.call({ name: 'look_up', arguments: { word: 'peel' } }), (error) =>
  isAlliumError(error, 'ERR_CLOSED'),
);
// #endregion close
console.log('close      takes no more calls');
