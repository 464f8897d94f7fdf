import { describe, expect, it } from 'vitest';
import { defineLayer, passThrough } from '../../core/contract/layer.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { setup } from '../testing.fixture.ts';

const CANARY = 'c4n4ry-5ecret-value';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    apiKey: { $ref: '#/$defs/keyShape' },
    tenantOf: { type: 'string' },
  },
  required: ['text', 'apiKey'],
  additionalProperties: false,
  $defs: { keyShape: { type: 'string', description: 'the hidden key' } },
} as const;

const injected = [
  { name: 'apiKey', from: 'secret:api' },
  {
    name: 'tenantOf',
    from: (context: { turn: { sessionId: string } }) => `tenant of ${context.turn.sessionId}`,
  },
] as const;

const withKey = (execute: (args: Readonly<Record<string, unknown>>) => unknown) =>
  defineTool({
    name: 'send',
    description: 'Sends.',
    inputSchema: schema,
    injected,
    execute: (args) => execute(args as unknown as Record<string, unknown>),
  });

describe('hidden arguments', () => {
  it('reach the tool', async () => {
    let got: unknown = null;
    const { governed } = setup({
      toolList: () => [withKey((args) => void (got = args))],
      secrets: { api: () => Promise.resolve(CANARY) },
    });

    await governed.call({ name: 'send', arguments: { text: 'a' } }, { turn: { sessionId: 's1' } });

    expect(got).toEqual({ text: 'a', apiKey: CANARY, tenantOf: 'tenant of s1' });
  });

  it('cannot be set by the model, and only their number is recorded', async () => {
    let got: Readonly<Record<string, unknown>> = {};
    const { governed } = setup({
      toolList: () => [withKey((args) => void (got = args))],
      layers: [passThrough],
      secrets: { api: CANARY },
    });

    const result = await governed.call({
      name: 'send',
      arguments: { text: 'a', apiKey: 'mine', tenantOf: 'other' },
    });

    expect(result.status).toBe('ok');
    expect(got.apiKey).toBe(CANARY);
    expect(result.audit?.metadata).toEqual({ hiddenArgumentsStripped: 2 });
    expect(result.arguments).toEqual({ text: 'a' });
  });

  it('come from every source there is', async () => {
    const sources = [
      'sessionId',
      'runId',
      'turn',
      'signal',
      'state',
      'events',
      'report',
      'store:kv',
    ] as const;
    let got: Readonly<Record<string, unknown>> = {};
    const tool = defineTool({
      name: 'all',
      description: '',
      inputSchema: { type: 'object' },
      injected: sources.map((from) => ({ name: from.replace(':', '_'), from })),
      execute: (args) => void (got = args as Record<string, unknown>),
    });
    const { governed } = setup({
      toolList: () => [tool],
      state: { s: 1 },
      stores: { kv: { k: 1 } },
    });

    await governed.call({ name: 'all', arguments: {} }, { turn: { sessionId: 's1', runId: 'r1' } });

    expect(got).toMatchObject({
      sessionId: 's1',
      runId: 'r1',
      turn: { sessionId: 's1' },
      state: { s: 1 },
      store_kv: { k: 1 },
    });
    expect(got.signal).toBeInstanceOf(AbortSignal);
    expect([typeof got.report, typeof (got.events as { emit: unknown }).emit]).toEqual([
      'function',
      'function',
    ]);
  });

  it.each([
    ['a secret', { name: 'k', from: 'secret:absent' }],
    ['a store', { name: 'k', from: 'store:absent' }],
    ['a name every object has', { name: 'k', from: 'secret:constructor' }],
  ] as const)(
    'nobody supplies are refused when the tools are put together: %s',
    (_name, argument) => {
      const tool = defineTool({
        name: 'needy',
        description: '',
        inputSchema: { type: 'object' },
        injected: [argument],
        execute: () => null,
      });

      expect(() => setup({ toolList: () => [tool] })).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
      );
    },
  );
});

/** Everything the outside can see of one call. */
async function surfaces(
  execute: (args: Readonly<Record<string, unknown>>) => unknown,
  args: object,
): Promise<string> {
  const seen: unknown[] = [];
  const spy = defineLayer({
    name: 'spy',
    observes: true,
    async caller(call, next) {
      const result = await next(call);
      seen.push(call, result);
      return result;
    },
  });
  const { governed, events, logger } = setup({
    toolList: () => [withKey(execute)],
    layers: [spy],
    secrets: { api: CANARY },
  });
  const result = await governed
    .call({ name: 'send', arguments: args }, { onProgress: (progress) => seen.push(progress) })
    .catch((error: unknown) => error);
  seen.push(
    result,
    events,
    governed.tools,
    governed.explain(),
    logger.lines,
    governed.advertise({ turn: {} }),
  );
  return JSON.stringify(seen);
}

describe('hidden names and values show nowhere', () => {
  const args = { text: 'a', apiKey: 'from the model', tenantOf: 'x' };
  const cases: readonly [string, (args: Readonly<Record<string, unknown>>) => unknown, object][] = [
    ['when the tool answers', () => 'fine', args],
    ['when the arguments do not fit', () => 'fine', { text: 5, apiKey: 1 }],
    [
      'when the tool answers with the secret',
      ({ apiKey }) => ({ deep: [`key ${String(apiKey)}!`] }),
      args,
    ],
    [
      'when the tool throws the secret',
      ({ apiKey }) => {
        throw new Error(`bad key ${String(apiKey)}`);
      },
      args,
    ],
  ];

  it.each(cases)('%s', async (_name, execute, sent) => {
    const text = await surfaces(execute, sent);

    expect(text).not.toContain(CANARY);
    expect(text).not.toMatch(/apiKey|tenantOf|keyShape|the hidden key|from the model/);
  });

  it('would be found if they did: the same walk over a tool that shows them', async () => {
    const text = await surfaces(() => 'apiKey', args);

    expect(text).toContain('apiKey');
  });
});
