import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { consent, requiredReason } from '../../../middleware/index.ts';
import { defineTool, governTools } from '../../index.ts';
import { linkPair } from './link.ts';
import { serveTools } from './serve-tools.ts';

/** A served tool that counts its runs, and a client that knows nothing but messages. */
async function served(decision: 'allow' | 'deny') {
  let runs = 0;
  const add = defineTool({
    name: 'add',
    description: 'Adds.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
      additionalProperties: false,
    },
    execute: ({ a }) => ({ sum: a + (runs += 1) }),
  });
  const layers = [consent({ default: decision }), requiredReason()];
  let closed = 0;
  const server = serveTools({
    stack: {
      layers,
      govern: (overrides) => governTools({ tools: [add], layers, ...overrides }),
      close: async () => void (closed += 1),
    },
    info: { name: 'sums', version: '1' },
    report: () => {},
  });
  onTestFinished(() => server.close());
  const [ours, theirs] = linkPair();
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  await theirs.start({
    onFrame: ({ message }) => waiting.get(message.id)?.(message),
    onGarbage() {},
    onClose() {},
  });
  const relay = await server.connect(ours);
  const request = (id: number, method: string, params: JsonObject) =>
    new Promise<JsonObject>((resolve) => {
      waiting.set(id, resolve);
      theirs.send({ message: { jsonrpc: '2.0', id, method, params } });
    });
  return { server, relay, theirs, request, runs: () => runs, closed: () => closed };
}

const call = { name: 'add', arguments: { a: 1, reason: 'to see' } };

describe('serveTools', () => {
  it('lists the tools as the stack shows them, and runs them through it', async () => {
    const { request, runs } = await served('allow');

    expect(await request(1, 'tools/list', {})).toMatchObject({
      result: {
        tools: [{ name: 'add', inputSchema: { properties: { reason: { type: 'string' } } } }],
      },
    });
    expect(await request(2, 'tools/call', call)).toMatchObject({
      result: { structuredContent: { sum: 2 } },
    });
    expect(runs()).toBe(1);
  });

  it('answers a refusal that can be read, and runs nothing', async () => {
    const { request, runs } = await served('deny');

    expect(await request(1, 'tools/call', call)).toMatchObject({
      result: {
        isError: true,
        _meta: { 'allium/status': 'consent_denied', 'allium/executed': 'no' },
      },
    });
    expect(await request(2, 'tools/call', { name: 'nobody', arguments: {} })).toMatchObject({
      result: { isError: true },
    });
    expect(runs()).toBe(0);
  });

  it('ends with its client, and closes the stack when it is closed', async () => {
    const { server, relay, theirs, closed } = await served('allow');
    await theirs.close();

    expect((await relay.ended).by).toBe('client');
    expect(closed()).toBe(0);
    await server.close();
    expect(closed()).toBe(1);
  });

  it('refuses to be built with what is no option', () => {
    const stack = { layers: [], govern: governTools, close: async () => {} };

    // @ts-expect-error -- there is no such option
    expect(() => serveTools({ stack, patience: 1 })).toThrow('patience');
    expect(() => serveTools({ stack, patienceMs: 0 })).toThrow('patienceMs');
  });
});
