import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, recordingSink, testClock } from '../../conformance/index.ts';
import {
  annotate,
  composeToolCallers,
  defineLayer,
  fail,
  type Next,
  ok,
  refuse,
  STATUSES,
  type ToolLayer,
} from '../../src/index.ts';
import { redaction } from '../redaction/redaction.ts';
import { otlpTraces } from '../../src/telemetry/langfuse-sink.ts';
import { startMetering, startTracing, stopSdk } from '../../src/telemetry/otel/otel-sdk.fixture.ts';
import { recordOf } from './run.fixture.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { telemetry } from './telemetry.ts';

afterEach(stopSdk);

const canary = `canary-${randomBytes(16).toString('hex')}`;

/** The ways in which a value is likely to be written down. */
const encodings = [
  (text: string) => text,
  (text: string) => text.toUpperCase(),
  (text: string) => Array.from(text).reverse().join(''),
  (text: string) => Buffer.from(text).toString('base64'),
  (text: string) => Buffer.from(text).toString('base64url'),
  (text: string) => Buffer.from(text).toString('hex'),
  (text: string) => encodeURIComponent(text),
  (text: string) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  (text: string) => text.slice(0, 20),
  (text: string) => text.slice(-20),
];
const leaks = (text: string) => encodings.filter((encode) => text.includes(encode(canary))).length;

/** Everything that could be said about a call says the canary. */
const talkative = (status: string): ToolLayer =>
  defineLayer({
    name: 'talkative',
    async caller(call, next) {
      const row = Object.hasOwn(STATUSES, status)
        ? STATUSES[status as keyof typeof STATUSES]
        : { ok: false };
      const result = row.ok
        ? ok(call, { [canary]: canary }, { status })
        : refuse(call, status, `No: ${canary}`);
      if (row.ok && status === 'ok') return chatter(await next(call));
      return chatter(result);
    },
  });

const chatter = (result: Parameters<typeof annotate>[0]) =>
  annotate(
    result,
    {
      reason: canary,
      summary: canary,
      description: canary,
      metadata: { [canary]: canary },
      handoff: { note: canary },
    },
    { error: canary, key: canary, count: 1, [canary]: canary },
  );

async function surfacesOf(
  layer: (sink: (record: SpanRecord) => void) => ToolLayer,
  status: string,
  executor: Next,
): Promise<string> {
  const sdk = startTracing();
  const read = startMetering();
  const sink = recordingSink<SpanRecord>();
  const call = makeCall({
    toolArgs: { [canary]: canary },
    metadata: { note: canary, traceparent: canary },
  });
  await composeToolCallers([layer(sink), talkative(status)], { clock: testClock() })(
    call,
    executor,
  );
  const spans = sdk.spans.map(({ name, attributes, events, status: ending, links }) => ({
    name,
    attributes,
    events,
    ending,
    links,
  }));
  const text = JSON.stringify([
    sink.records,
    otlpTraces(sink.records, 'allium', () => ({})),
    spans,
    await read(),
  ]);
  stopSdk();
  return text;
}

const quiet = (sink: (record: SpanRecord) => void) => telemetry({ sinks: ['otel', sink] });

describe('telemetry tells nothing of what was said', () => {
  it.each(Object.keys(STATUSES))('in a call that ends as %s', async (status) => {
    const text = await surfacesOf(quiet, status, async (call) => ok(call, { value: canary }));

    expect(text).toContain(status);
    expect(leaks(text)).toBe(0);
  });

  it.each<[string, Next]>([
    ['throws', () => Promise.reject(new Error(canary))],
    [
      'fails',
      async (call) =>
        fail(call, 'executor_error', new Error(canary), canary, { category: `for ${canary}` }),
    ],
    ['reports', async (call) => (call.report({ message: canary }), ok(call, canary))],
  ])('by a tool that %s', async (_what, executor) => {
    expect(leaks(await surfacesOf(quiet, 'ok', executor))).toBe(0);
  });

  it('which a layer that sends what it sees would not pass', async () => {
    const plain = await recordOf({});
    const naive = (sink: (record: SpanRecord) => void) =>
      defineLayer({
        name: 'naive',
        caller: (call, next) => (sink({ ...plain, arguments: call.toolArgs }), next(call)),
      });

    expect(leaks(await surfacesOf(naive, 'ok', echoExecutor()))).toBeGreaterThan(0);
  });
});

describe('telemetry that captures content', () => {
  const masks: ToolLayer = defineLayer({
    name: 'redaction',
    rewrites: true,
    scrub: (text) => text.replaceAll(canary, '[masked]'),
    caller: (call, next) => next(call),
  });

  it('shows it cleaned by the stack it stands in', async () => {
    const sdk = startTracing();
    const sink = recordingSink<SpanRecord>();
    const layer = telemetry({ sinks: ['otel', sink], captureContent: true });
    const caller = composeToolCallers([masks, layer]);
    await caller(makeCall({ toolArgs: { text: canary } }), echoExecutor());
    await caller(makeCall(), () => Promise.reject(new Error(canary)));
    const text = JSON.stringify([
      sink.records,
      otlpTraces(sink.records, 'allium', () => ({})),
      sdk.spans.map(({ attributes, status }) => [attributes, status]),
    ]);

    expect(text).toContain('[masked]');
    expect(leaks(text)).toBe(0);
  });

  it('shows no secret that the redaction layer knows', async () => {
    const token = `ghp_${randomBytes(18).toString('hex')}`;
    const sink = recordingSink<SpanRecord>();
    const caller = composeToolCallers([redaction(), telemetry({ sink, captureContent: true })]);
    await caller(makeCall({ toolArgs: { token } }), async (call) =>
      ok(call, { seen: `the token is ${token}`, password: 'correct-horse-9' }),
    );
    await caller(makeCall(), () => Promise.reject(new Error(`refused ${token}`)));
    const text = JSON.stringify(sink.records);

    expect(text).toContain('redacted');
    expect(text).not.toContain(token);
    expect(text).not.toContain('correct-horse-9');
  });

  it('withholds what cannot be cleaned', async () => {
    const fails = defineLayer({
      name: 'redaction',
      scrub: () => JSON.parse('{') as string,
      caller: (call, next) => next(call),
    });
    const sink = recordingSink<SpanRecord>();
    await composeToolCallers([fails, telemetry({ sink, captureContent: true })])(
      makeCall({ toolArgs: { text: canary } }),
      echoExecutor(),
    );

    expect(JSON.stringify(sink.records)).toContain('[withheld: a scrub failed]');
    expect(leaks(JSON.stringify(sink.records))).toBe(0);
  });
});
