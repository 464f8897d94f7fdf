import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { recordingSink } from '../../conformance/index.ts';
import { defineTool, governTools } from '../../src/index.ts';
import { startTracing, stopSdk } from '../../src/telemetry/otel/otel-sdk.fixture.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { telemetry, type TelemetrySink } from './telemetry.ts';

afterEach(stopSdk);

const hidden = `hidden-${randomBytes(16).toString('hex')}`;

const fetchTool = defineTool({
  name: 'fetch_page',
  description: 'Fetches a page.',
  inputSchema: {
    type: 'object',
    properties: { url: { type: 'string' } },
    required: ['url'],
    additionalProperties: false,
  },
  injected: [{ name: 'api_key', from: 'secret:key' }],
  execute: (args) => ({ length: JSON.stringify(args).length }),
});

function govern(sink: TelemetrySink, captureContent = false) {
  return governTools({
    tools: [fetchTool],
    layers: [telemetry({ sinks: ['otel', sink], captureContent })],
    secrets: { key: hidden },
  });
}

describe('telemetry around governed tools', () => {
  it('sees unknown tools and malformed calls, because it observes', async () => {
    const sink = recordingSink<SpanRecord>();
    const tools = govern(sink);
    const unknown: string = 'no_such_tool';
    await tools.call({ name: unknown, arguments: {} });
    await tools.call({ name: 'fetch_page', arguments: '{"url":' });
    await tools.call({ name: 'fetch_page', arguments: '{}' });
    await tools.close();

    expect(sink.records.map(({ name, status }) => [name, status])).toEqual([
      ['tool_call.no_such_tool', 'tool_not_found'],
      ['tool_call.fetch_page', 'schema_violation'],
      ['tool_call.fetch_page', 'schema_violation'],
    ]);
  });

  it.each([false, true])(
    'never sees a hidden argument (captureContent: %j)',
    async (captureContent) => {
      const sdk = startTracing();
      const sink = recordingSink<SpanRecord>();
      const tools = govern(sink, captureContent);
      const result = await tools.call({
        name: 'fetch_page',
        arguments: { url: 'https://example.org', api_key: `${hidden}-from-the-model` },
      });
      await tools.close();
      const text = JSON.stringify([
        sink.records,
        sdk.spans.map(({ attributes, events, status }) => [attributes, events, status]),
      ]);

      expect(result.status).toBe('ok');
      expect(sink.records).toHaveLength(1);
      expect(text).not.toContain(hidden);
      expect(text).not.toContain('api_key');
    },
  );

  it('closes its sinks with the dispatcher', async () => {
    let isDelivered = false;
    const slow = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      isDelivered = true;
    };
    const tools = govern(slow);
    await tools.call({ name: 'fetch_page', arguments: { url: 'https://example.org' } });
    await tools.close();

    expect(isDelivered).toBe(true);
  });
});
