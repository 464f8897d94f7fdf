/**
 * What the telemetry layer tells, to whom, and what it keeps to itself. A collector on this machine
 * takes the spans.
 */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { composeToolCallers, defineLayer, ok, refuse } from 'allium';
import { echoExecutor, makeCall, testClock } from 'allium/conformance';
import { scrubFor } from 'allium/layer';
import { dryRun, type SpanRecord, telemetry, type TelemetryProblem } from 'allium/middleware';
import { startTelemetry } from 'allium/otel';

const clock = testClock();
const sent = makeCall({ toolName: 'send_mail', toolArgs: { to: 'ada@example.org' } });

// #region sink
const records: SpanRecord[] = [];
const watched = composeToolCallers([telemetry((record) => records.push(record)), dryRun()], {
  clock,
});
await watched(sent, echoExecutor());

const [record] = records;
assert.equal(record?.name, 'tool_call.send_mail');
assert.equal(record.status, 'dry_run');
assert.equal(record.attributes['gen_ai.tool.name'], 'send_mail');
assert.deepEqual(
  record.child_spans.map(({ name, status }) => [name, status]),
  [['tool_call.dryRun', 'preview']],
);
assert.ok(!JSON.stringify(record).includes('ada@example.org'));
// #endregion sink

// #region sinks
const problems: TelemetryProblem[] = [];
const hanging = () => new Promise(() => {});
const many = telemetry({
  sinks: [hanging, (record) => records.push(record)],
  maxPending: 2,
  onError: (problem) => problems.push(problem),
});
const stack = composeToolCallers([many], { clock });
for (let i = 0; i < 5; i += 1) assert.equal((await stack(sent, echoExecutor())).status, 'ok');
await clock.advance(5_000);
await many.close?.();

assert.equal(records.length, 6);
assert.deepEqual(problems.at(-1)?.counts, { generated: 5, delivered: 0, dropped: 5, pending: 0 });
// #endregion sinks

// #region capture
const masks = defineLayer({
  name: 'redaction',
  caller: (call, next) => next(call),
  scrub: (text) => text.replaceAll('ada', '***'),
});
const captured: SpanRecord[] = [];
const capturing = telemetry({ sink: (record) => captured.push(record), captureContent: true });
await composeToolCallers([masks, capturing])(sent, echoExecutor());

assert.deepEqual(captured[0]?.arguments, { to: '***@example.org' });
assert.throws(() => composeToolCallers([capturing, masks]), { code: 'ERR_LAYER_ORDER' });
// #endregion capture

// #region scrub-for
const tickets: unknown[] = [];
const ticketing = defineLayer({
  name: 'ticketing',
  caller: (call, next) => {
    tickets.push(scrubFor(call, call.toolArgs));
    return next(call);
  },
});
await composeToolCallers([masks, ticketing])(sent, echoExecutor());

assert.deepEqual(tickets, [{ to: '***@example.org' }]);
// #endregion scrub-for

/** Stands for a collector: answers every request, and keeps what it was sent. */
const received: { readonly path: string; readonly body: string }[] = [];
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => void chunks.push(chunk));
  request.on('end', () => {
    received.push({ path: request.url ?? '', body: Buffer.concat(chunks).toString() });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
const address = collector.address();
assert.ok(address !== null && typeof address === 'object');
const url = `http://127.0.0.1:${address.port}`;

// #region start
const running = await startTelemetry({ serviceName: 'mail-agent', url });
const governed = composeToolCallers([
  telemetry(),
  defineLayer({
    name: 'gate',
    caller: (call, next) =>
      call.toolName === 'send_mail' ? next(call) : refuse(call, 'scope_violation', 'Not here.'),
  }),
]);
await governed(sent, async (call) => ok(call, 'sent'));
await governed(makeCall({ toolName: 'delete_all' }), echoExecutor());
await running.shutdown();
// #endregion start

interface Sent {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string };
  }[];
}
const exported = received
  .filter(({ path }) => path === '/v1/traces')
  .flatMap(
    ({ body }) =>
      (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Sent[] }[] }[] }).resourceSpans,
  )
  .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
assert.deepEqual(
  exported.map(({ name }) => name),
  ['layer gate', 'execute_tool send_mail', 'layer gate', 'execute_tool delete_all'],
);
assert.equal(exported[0]?.parentSpanId, exported[1]?.spanId);
assert.ok(
  received.some(
    ({ path, body }) => path === '/v1/metrics' && body.includes('gen_ai.client.operation.duration'),
  ),
);
assert.ok(received.every(({ body }) => !body.includes('ada@example.org')));
collector.close();

console.log(
  JSON.stringify(
    { ...record, attributes: { ...record.attributes, 'allium.args_hash': 'sha256:…' } },
    null,
    2,
  ),
);
for (const { name, attributes } of exported) {
  const [type] = attributes.filter(({ key }) => key === 'error.type');
  console.log(type === undefined ? name : `${name}: ${type.value.stringValue ?? ''}`);
}
