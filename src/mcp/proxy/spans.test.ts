import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { startTracing, stopSdk } from '../../telemetry/otel/otel-sdk.fixture.ts';
import { passThrough } from '../../index.ts';
import { metaIn, scripted } from './scripted.fixture.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const _meta = {
  traceparent: `00-${TRACE}-${PARENT}-01`,
  tracestate: 'a=1',
  baggage: 'k=v',
  theirs: { deep: [1] },
};

afterEach(stopSdk);

describe('spans of the proxy', () => {
  it("are one for the client's request and one for the server's, in the trace of the client", async () => {
    const sdk = startTracing();
    const { client, server } = await scripted({
      stack: [passThrough],
      session: { sessionId: 'one' },
    });

    await client.call('note', {}, { _meta });

    const outer = sdk.spans.find(({ kind }) => kind === SpanKind.SERVER);
    const inner = sdk.spans.find(({ kind }) => kind === SpanKind.CLIENT);
    expect(sdk.spans).toHaveLength(2);
    expect(outer?.spanContext().traceId).toBe(TRACE);
    expect(outer?.parentSpanContext?.spanId).toBe(PARENT);
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
    expect(outer?.name).toBe('tools/call note');
    expect(outer?.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'note',
      'mcp.session.id': 'one',
    });
    expect(metaIn(server.calls[0] ?? {})).toEqual({
      ..._meta,
      traceparent: `00-${TRACE}-${inner?.spanContext().spanId ?? ''}-01`,
    });
  });

  it('say that a call failed, and nothing of what was in it', async () => {
    const sdk = startTracing();
    const { client, server } = await scripted({ stack: [passThrough] });
    server.onCall = () => ({ content: [{ type: 'text', text: 'a canary' }], isError: true });
    await client.call('note', { to: 'a canary' });
    server.onCall = () => ({ code: -32_000, message: 'a canary' });
    await client.call('note', { to: 'a canary' });

    expect(sdk.spans.map(({ status }) => status.code)).toEqual(
      Array.from({ length: 4 }, () => SpanStatusCode.ERROR),
    );
    expect(sdk.spans.map(({ attributes }) => attributes['error.type'])).toEqual([
      'tool_error',
      'tool_error',
      '-32000',
      '-32000',
    ]);
    expect(
      JSON.stringify(
        sdk.spans.map(({ attributes, events, status, name }) => [attributes, events, status, name]),
      ),
    ).not.toContain('canary');
  });

  it('begin a trace where the client has none, or none that can be read', async () => {
    const sdk = startTracing();
    const { client, server } = await scripted({ stack: [passThrough] });

    for (const traceparent of ['nonsense', 7, null, `00-${'0'.repeat(32)}-${PARENT}-01`])
      await client.call('note', {}, { _meta: { traceparent, tracestate: 'a=1' } });

    expect(
      sdk.spans
        .filter(({ kind }) => kind === SpanKind.SERVER)
        .map(({ parentSpanContext }) => parentSpanContext),
    ).toEqual(Array.from({ length: 4 }, () => undefined));
    expect(server.calls.map((call) => Object.keys(metaIn(call)))).toEqual(
      Array.from({ length: 4 }, () => ['traceparent']),
    );
  });

  it('are not made without a provider, and what the client sent goes on as it is', async () => {
    const { client, server } = await scripted({ stack: [passThrough] });

    await client.call('note', {}, { _meta });
    await client.call('note');

    expect(metaIn(server.calls[0] ?? {})).toEqual(_meta);
    expect(server.calls[1]).not.toHaveProperty('_meta');
  });
});
