import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { testClock } from '../../../conformance/test-kit.ts';
import { isObject } from '../../core/json/json.ts';
import type { WireMessage } from '../wire.ts';
import {
  type ClientOptions,
  clientOf,
  discovered,
  envelope,
  errorIn,
  initialized,
  MODERN,
  namesIn,
  scripted,
  type TestClient,
  textIn,
  toolServer,
} from './aggregate.fixture.ts';
import type { UpstreamSpec } from './names.ts';

const clients: TestClient[] = [];
const clientFor = async (
  upstreams: readonly UpstreamSpec[],
  options: ClientOptions = {},
): Promise<TestClient> => {
  const client = await clientOf(upstreams, options);
  clients.push(client);
  return client;
};
afterEach(async () => {
  await Promise.all(clients.splice(0).map(({ link }) => link.close()));
});

const resultOf = ({ result }: WireMessage): JsonObject => (isObject(result) ? result : {});
const hang = () => null;
const broken = (name: string): UpstreamSpec & { tries: number } => {
  const spec = {
    name,
    tries: 0,
    open() {
      spec.tries += 1;
      throw new Error('no such program');
    },
  };
  return spec;
};

describe('initialize over several servers', () => {
  it('opens each with what the client said, and answers for all of them', async () => {
    const a = scripted('a', {
      initialize: () =>
        initialized(
          { tools: {}, experimental: { x: { of: 'a' } }, logging: {} },
          { instructions: 'Use echo.', protocolVersion: '2025-06-18' },
        ),
    });
    const b = scripted('b', {
      initialize: () =>
        initialized({
          tools: { listChanged: true },
          resources: { subscribe: true },
          experimental: { x: { of: 'b' }, y: {} },
        }),
    });
    const client = await clientFor([a, b]);

    const result = resultOf(await client.initialize({ elicitation: { form: {} } }));

    expect(result).toEqual({
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'allium', version: 'test' },
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        experimental: { x: { of: 'a' }, y: {} },
      },
      instructions:
        '# a\n\nNames of tools and prompts of this server begin with `a_`.\n\nUse echo.',
    });
    await vi.waitFor(() =>
      expect([a, b].map(({ received }) => received.map(({ method }) => method))).toEqual(
        Array(2).fill(['initialize', 'notifications/initialized']),
      ),
    );
    expect(b.received[0]?.params).toMatchObject({
      capabilities: { elicitation: { form: {} } },
      clientInfo: { name: 'test' },
    });
  });

  it('does not wait for one that hangs, which joins later and is announced', async () => {
    const clock = testClock();
    let wake: (result: JsonObject) => void = () => {};
    const slow = toolServer('slow', ['late'], {
      initialize: () => new Promise<JsonObject>((resolve) => void (wake = resolve)),
    });
    const client = await clientFor([slow, toolServer('quick', ['echo'])], { clock, slowMs: 5000 });
    const answer = client.initialize();
    await vi.waitFor(() => expect(slow.received).toHaveLength(1));
    await clock.advance(4999);
    expect(client.frames).toEqual([]);
    await clock.advance(1);

    expect(resultOf(await answer).capabilities).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true },
    });
    expect(namesIn(await client.request('tools/list'))).toEqual(['quick_echo']);
    const away = errorIn(await client.request('tools/call', { name: 'slow_late' }));
    expect(away).toMatchObject({
      message: 'server "slow" has not started yet; try again later',
      data: { server: 'slow', executed: 'no' },
    });

    wake(initialized());
    await vi.waitFor(() => expect(client.told('notifications/tools/list_changed')).toHaveLength(1));
    expect(namesIn(await client.request('tools/list'))).toEqual(['slow_late', 'quick_echo']);
    expect(slow.received.map(({ method }) => method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
  });

  it('waits for the first where none is quick', async () => {
    const clock = testClock();
    let wake: (result: JsonObject) => void = () => {};
    const slow = toolServer('slow', ['late'], {
      initialize: () => new Promise<JsonObject>((resolve) => void (wake = resolve)),
    });
    const client = await clientFor([slow, toolServer('never', [], { initialize: hang })], {
      clock,
      slowMs: 10,
    });
    const answer = client.initialize();
    await vi.waitFor(() => expect(slow.received).toHaveLength(1));
    await clock.advance(60_000);
    expect(client.frames).toEqual([]);

    wake(initialized());

    expect(resultOf(await answer).protocolVersion).toBe('2025-11-25');
  });

  it('goes on without one that cannot be started, and says which', async () => {
    const client = await clientFor([broken('gone'), toolServer('b', ['echo'])]);

    await client.initialize();

    expect(client.reports[0]).toBe('server "gone" is gone: it could not be opened');
    expect(namesIn(await client.request('tools/list'))).toEqual(['b_echo']);
    expect(errorIn(await client.request('tools/call', { name: 'gone_x' })).message).toBe(
      'server "gone" is away: it could not be opened; try again later',
    );
  });

  it('fails where there is nobody', async () => {
    const client = await clientFor([
      broken('a'),
      scripted('b', { initialize: () => ({ error: { code: -1, message: 'no' } }) }),
    ]);

    expect(errorIn(await client.initialize()).message).toBe(
      'no server is there (a: it could not be opened; b: it refused to be initialized (-1))',
    );
  });

  it('tries one that is broken again, less and less often', async () => {
    const clock = testClock();
    const gone = broken('gone');
    const client = await clientFor([gone, toolServer('b', ['echo'])], { clock });
    await client.initialize();
    const triesAfter = async (ms: number): Promise<number> => {
      await clock.advance(ms);
      await client.request('tools/call', { name: 'gone_x' });
      await client.request('tools/call', { name: 'gone_x' });
      return gone.tries;
    };

    // At once, then after 1, 2 and 4 seconds, whoever asks in between.
    expect([
      await triesAfter(0),
      await triesAfter(999),
      await triesAfter(1),
      await triesAfter(1999),
      await triesAfter(1),
      await triesAfter(3999),
    ]).toEqual([2, 2, 3, 3, 4, 4]);
  });

  it('leaves out one that speaks only a newer revision than the client', async () => {
    const newer = toolServer('newer', ['x'], {
      initialize: () => initialized({ tools: {} }, { protocolVersion: MODERN }),
    });
    const client = await clientFor([newer, toolServer('b', ['echo'])]);

    expect(resultOf(await client.initialize()).protocolVersion).toBe('2025-11-25');
    expect(namesIn(await client.request('tools/list'))).toEqual(['b_echo']);
    expect(client.reports).toEqual([
      `server "newer" is left out: it speaks no older revision than ${MODERN}`,
    ]);
  });

  it('is needed first, and only once', async () => {
    const client = await clientFor([toolServer('a', ['echo'])]);

    expect(errorIn(await client.request('tools/list')).code).toBe(-32_600);
    expect(await client.request('ping', {}, 'p')).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    await client.initialize();
    expect(errorIn(await client.request('initialize', {})).code).toBe(-32_600);
  });

  it.each([
    null,
    'x',
    7,
    [],
    {},
    { protocolVersion: 3 },
    {
      protocolVersion: '2025-11-25',
      capabilities: { __proto__: null, tools: 7 },
      instructions: {},
    },
  ])('survives a server that answers %j', async (result) => {
    const odd = scripted('odd', { initialize: () => result as JsonObject });
    const client = await clientFor([odd, toolServer('b', ['echo'])], { slowMs: 50 });

    expect(resultOf(await client.initialize()).protocolVersion).toBe('2025-11-25');
    expect(namesIn(await client.request('tools/list'))).toEqual(['b_echo']);
  });
});

const modern = (
  name: string,
  more: JsonObject = {},
  script: Parameters<typeof toolServer>[2] = {},
) =>
  toolServer(name, ['echo'], { 'server/discover': () => discovered(undefined, more), ...script });
const noMethod = () => ({ error: { code: -32_601, message: 'Method not found' } });

describe('server/discover over several servers', () => {
  it('answers for all where all are modern', async () => {
    const client = await clientFor([
      modern('a', { supportedVersions: [MODERN, '2027-01-01'] }),
      modern('b', { instructions: 'Hi.' }),
    ]);

    const answer = await client.request('server/discover', {
      _meta: envelope({ progressToken: 'p', 'io.modelcontextprotocol/clientInfo': { name: 'c' } }),
    });

    expect(resultOf(answer)).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN],
      ttlMs: 0,
      cacheScope: 'private',
      capabilities: { tools: { listChanged: true } },
    });
    expect(resultOf(answer)._meta).toEqual({
      'io.modelcontextprotocol/serverInfo': { name: 'allium', version: 'test' },
    });
  });

  it.each([
    ['none is modern', () => [toolServer('a', [], { 'server/discover': noMethod })]],
    ['one is not', () => [modern('a'), toolServer('b', ['echo'], { 'server/discover': noMethod })]],
  ])('is unknown where %s, and the client can shake hands', async (_, upstreams) => {
    const client = await clientFor(upstreams());

    expect(errorIn(await client.request('server/discover', { _meta: envelope() })).code).toBe(
      -32_601,
    );
    expect(resultOf(await client.initialize()).protocolVersion).toBe('2025-11-25');
  });

  it('is given up where the client shakes hands without waiting for it', async () => {
    let late: (reply: JsonObject) => void = () => {};
    const server = toolServer('a', ['echo'], {
      'server/discover': () => new Promise<JsonObject>((resolve) => void (late = resolve)),
    });
    const client = await clientFor([server]);
    const discovering = client.request('server/discover', { _meta: envelope() }, 'd');
    await vi.waitFor(() => expect(server.received).toHaveLength(1));

    expect(resultOf(await client.initialize()).protocolVersion).toBe('2025-11-25');
    expect(errorIn(await discovering).code).toBe(-32_601);
    late(noMethod());
    expect(namesIn(await client.request('tools/list'))).toEqual(['a_echo']);
    expect(namesIn(await client.request('tools/list'))).toEqual(['a_echo']);
  });

  it('serves who asks without having discovered, from those that are modern', async () => {
    const client = await clientFor([
      modern('a'),
      toolServer('b', ['echo'], { 'server/discover': noMethod }),
    ]);

    const list = await client.request('tools/list', { _meta: envelope() });

    expect(namesIn(list)).toEqual(['a_echo']);
    expect(resultOf(list)).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect(
      errorIn(await client.request('tools/call', { name: 'b_echo', _meta: envelope() })).message,
    ).toContain('it knows only the revisions before');
  });

  it('says which revisions there are where none is the client’s', async () => {
    const other = (name: string) =>
      modern(
        name,
        {},
        {
          'server/discover': () => ({
            error: { code: -32_022, message: 'no', data: { supported: ['2027-01-01'] } },
          }),
        },
      );
    const client = await clientFor([other('a'), other('b')]);

    expect(errorIn(await client.request('server/discover', { _meta: envelope() }))).toMatchObject({
      code: -32_022,
      data: { supported: ['2027-01-01'], requested: MODERN },
    });
  });

  it('hands what a server asks of the client to and fro as it is', async () => {
    const asking = {
      resultType: 'input_required',
      inputRequests: { q: { method: 'elicitation/create', params: {} } },
      requestState: 's',
    };
    const server = modern(
      'a',
      {},
      {
        'tools/call': (params) =>
          params.requestState === 's'
            ? { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }
            : asking,
      },
    );
    const client = await clientFor([server, modern('b')]);

    expect(
      resultOf(await client.request('tools/call', { name: 'a_echo', _meta: envelope() })),
    ).toEqual(asking);
    const inputResponses = { q: { action: 'accept' } };
    expect(
      textIn(
        await client.request('tools/call', {
          name: 'a_echo',
          inputResponses,
          requestState: 's',
          _meta: envelope(),
        }),
      ),
    ).toBe('done');
    expect(server.received.at(-1)?.params).toMatchObject({
      name: 'echo',
      inputResponses,
      requestState: 's',
    });
  });
});
