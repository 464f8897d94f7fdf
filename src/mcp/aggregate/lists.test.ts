import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { testClock } from '../../../conformance/test-kit.ts';
import { paramsOf } from '../wire.ts';
import {
  type ClientOptions,
  clientOf,
  discovered,
  envelope,
  errorIn,
  initialized,
  namesIn,
  scripted,
  type TestClient,
  toolServer,
} from './aggregate.fixture.ts';
import type { UpstreamSpec } from './names.ts';

const clients: TestClient[] = [];
const connected = async (
  upstreams: readonly UpstreamSpec[],
  options: ClientOptions = {},
): Promise<TestClient> => {
  const client = await clientOf(upstreams, options);
  clients.push(client);
  await client.initialize();
  return client;
};
afterEach(async () => {
  await Promise.all(clients.splice(0).map(({ link }) => link.close()));
});

const tools = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ name: `t${from + index}x`, inputSchema: {} }));
const paged = (
  name: string,
  pages: number,
  each: number,
  nextOf = (page: number) => (page + 1 < pages ? `${page + 1}` : undefined),
) =>
  toolServer(name, [], {
    'tools/list': ({ cursor }) => {
      const page = Number(cursor ?? 0);
      const next = nextOf(page);
      return {
        tools: tools(each, page * each),
        ...(next === undefined ? {} : { nextCursor: next }),
      };
    },
  });
const hang = () => null;

describe('lists over several servers', () => {
  it('have all pages of all, in the order of the servers, with every field', async () => {
    const a = toolServer('a', [], {
      'tools/list': () => ({
        tools: [{ name: 'x', vendor: { deep: [1] }, execution: { taskSupport: 'required' } }],
      }),
    });
    const client = await connected([paged('z', 3, 2), a]);

    const { result } = await client.request('tools/list', {
      _meta: { progressToken: 'p', kept: 1 },
    });

    expect(result).toEqual({
      tools: [
        ...tools(6).map((tool) => ({ ...tool, name: `z_${tool.name}` })),
        { name: 'a_x', vendor: { deep: [1] }, execution: { taskSupport: 'required' } },
      ],
    });
    expect(paramsOf(a.received.at(-1) ?? {})).toEqual({ _meta: { kept: 1 } });
  });

  it('are given in pages where they are long, and a cursor of another list is refused', async () => {
    const client = await connected([paged('a', 3, 600), paged('b', 2, 600)]);

    const names: unknown[] = [];
    let cursor: string | undefined;
    do {
      const answer = await client.request('tools/list', cursor === undefined ? {} : { cursor });
      names.push(...namesIn(answer));
      cursor = (answer.result as { nextCursor?: string }).nextCursor;
    } while (cursor !== undefined);

    expect(new Set(names).size).toBe(3000);
    await client.request('tools/list');
    for (const bad of ['1.1000', '2.99999', 'x', '', 7])
      expect(errorIn(await client.request('tools/list', { cursor: bad })).code).toBe(-32_602);
  });

  it.each([
    ['never ends', paged('bad', 1, 1, (page) => `${page + 1}`), 100],
    ['goes in circles', paged('bad', 1, 1, (page) => `${(page + 1) % 2}`), 3],
    ['is very long', paged('bad', 50, 300, (page) => `${page + 1}`), 10_000],
  ])('are cut where one %s', async (_, bad, count) => {
    const client = await connected([bad, toolServer('b', ['echo'])]);
    let listed = 0;
    let cursor: string | undefined;
    do {
      const answer = await client.request('tools/list', cursor === undefined ? {} : { cursor });
      listed += namesIn(answer).filter((name) => String(name).startsWith('bad_')).length;
      cursor = (answer.result as { nextCursor?: string }).nextCursor;
    } while (cursor !== undefined);

    expect(listed).toBeLessThanOrEqual(count);
    expect(bad.received.filter(({ method }) => method === 'tools/list').length).toBeLessThanOrEqual(
      Math.min(count, 100),
    );
    expect(listed).toBeGreaterThan(0);
    expect(client.reports).toContain('server "bad", list of tools: it is too long, and was cut');
  });

  it.each([
    ['an error', () => ({ error: { code: -1, message: 'no' } })],
    ['no list', () => ({ tools: 'x' })],
    ['nothing of use', () => ({})],
  ])('leave out one that answers with %s, and not the others', async (_, answer) => {
    const client = await connected([
      toolServer('bad', [], { 'tools/list': answer }),
      toolServer('b', ['echo']),
    ]);

    expect(namesIn(await client.request('tools/list'))).toEqual(['b_echo']);
    expect(client.reports).toEqual(['server "bad", list of tools: it answered without a list']);
  });

  it('leave out what cannot be named or looks like another, and say so', async () => {
    const client = await connected([toolServer('a', ['read', 'READ', 'x y', 'ok'])]);

    expect(namesIn(await client.request('tools/list'))).toEqual(['a_read', 'a_ok']);
    expect(client.reports).toEqual([
      'server "a", list of tools: "READ" looks like "read"; it is left out',
      'server "a", list of tools: one has no name that can be shown; it is left out',
    ]);
  });

  it('do not wait for one that is slow: it is announced when it answers, and does not make the next one slow', async () => {
    const clock = testClock();
    const answers: ((result: JsonObject) => void)[] = [];
    const slow = toolServer('slow', [], {
      'tools/list': () => new Promise<JsonObject>((resolve) => void answers.push(resolve)),
    });
    const client = await connected([slow, toolServer('b', ['echo'])], { clock, slowMs: 5000 });
    const first = client.request('tools/list');
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    await clock.advance(5000);

    expect(namesIn(await first)).toEqual(['b_echo']);
    expect(namesIn(await client.request('tools/list'))).toEqual(['b_echo']);
    expect(answers).toHaveLength(1);

    answers[0]?.({ tools: tools(1) });
    await vi.waitFor(() => expect(client.told('notifications/tools/list_changed')).toHaveLength(1));
    const second = client.request('tools/list');
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    await clock.advance(5000);
    expect(namesIn(await second)).toEqual(['slow_t0x', 'b_echo']);

    // What is no news is not announced, or a client and a slow server would go round for ever.
    answers[1]?.({ tools: tools(1) });
    await clock.advance(5000);
    expect(client.told('notifications/tools/list_changed')).toHaveLength(1);
  });

  it('that are cancelled are cancelled everywhere and never answered', async () => {
    const [a, b] = [
      toolServer('a', [], { 'tools/list': hang }),
      toolServer('b', [], { 'tools/list': hang }),
    ];
    const clock = testClock();
    const client = await connected([a, b], { clock });
    void client.request('tools/list', {}, 'list');
    await vi.waitFor(() =>
      expect([a, b].map(({ received }) => received.at(-1)?.method)).toEqual([
        'tools/list',
        'tools/list',
      ]),
    );

    client.tell('notifications/cancelled', { requestId: 'list' });

    await vi.waitFor(() =>
      expect([a, b].map(({ received }) => received.at(-1)?.method)).toEqual(
        Array(2).fill('notifications/cancelled'),
      ),
    );
    await clock.advance(5000);
    expect(client.answersTo('list')).toEqual([]);
    expect(clock.pending).toBe(0);
    void client.request('tools/list', {}, 'again');
    await vi.waitFor(() =>
      expect([a, b].map(({ received }) => received.at(-1)?.method)).toEqual([
        'tools/list',
        'tools/list',
      ]),
    );
  });

  it('hold each resource once, for the first that lists it', async () => {
    const files = (name: string, uris: readonly string[]) =>
      scripted(name, {
        initialize: () => initialized({ resources: {} }),
        'resources/list': () => ({ resources: uris.map((uri) => ({ uri, of: name })) }),
      });
    const client = await connected([files('a', ['x:1', 'x:2']), files('b', ['x:2', 'x:3'])]);

    expect((await client.request('resources/list')).result).toEqual({
      resources: [
        { uri: 'x:1', of: 'a' },
        { uri: 'x:2', of: 'a' },
        { uri: 'x:3', of: 'b' },
      ],
    });
    expect(client.reports).toEqual([
      '1 of the resources are listed by two servers; the first keeps them',
    ]);
  });
});

describe('changes of lists', () => {
  it('of a server that floods are bounded, and none is lost', async () => {
    const clock = testClock();
    const server = toolServer('a', ['echo']);
    const client = await connected([server, toolServer('b', ['echo'])], { clock });
    for (let index = 0; index < 1000; index += 1)
      server.say({ method: 'notifications/tools/list_changed' });
    await client.request('tools/call', { name: 'a_echo' });

    expect(client.told('notifications/tools/list_changed')).toHaveLength(1);
    await clock.advance(100);
    expect(client.told('notifications/tools/list_changed')).toHaveLength(2);
    await clock.advance(10_000);
    expect(client.told('notifications/tools/list_changed')).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it('reach a modern client only on the streams that asked for them', async () => {
    const clock = testClock();
    const listening: unknown[] = [];
    const modern = (name: string) => {
      const server = toolServer(name, ['echo'], {
        'server/discover': () =>
          discovered({ tools: { listChanged: true }, resources: { subscribe: true } }),
        'resources/list': () => ({ resources: [{ uri: `${name}:1` }] }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'subscriptions/listen': ({ notifications }, { id }) => {
          listening.push([name, notifications]);
          server.say({
            method: 'notifications/subscriptions/acknowledged',
            params: {
              notifications: notifications ?? {},
              _meta: { 'io.modelcontextprotocol/subscriptionId': id ?? 0 },
            },
          });
          return null;
        },
      });
      return server;
    };
    const [a, b] = [modern('a'), modern('b')];
    const client = await clientOf([a, b], { clock });
    clients.push(client);
    await client.request('server/discover', { _meta: envelope() });
    const filter = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['b:1'],
    };
    client.send({
      id: 'listen:0',
      method: 'subscriptions/listen',
      params: { notifications: filter, _meta: envelope() },
    });

    await vi.waitFor(() =>
      expect(client.frames.at(-1)?.message.method).toBe('notifications/subscriptions/acknowledged'),
    );
    const subscription = { 'io.modelcontextprotocol/subscriptionId': 'listen:0' };
    expect(client.frames.at(-1)?.message.params).toEqual({
      notifications: { toolsListChanged: true, resourceSubscriptions: ['b:1'] },
      _meta: subscription,
    });
    expect(listening).toEqual([
      ['a', { toolsListChanged: true }],
      ['b', { toolsListChanged: true, resourceSubscriptions: ['b:1'] }],
    ]);

    client.send({
      id: 'listen:1',
      method: 'subscriptions/listen',
      params: { notifications: { promptsListChanged: true }, _meta: envelope() },
    });
    await vi.waitFor(() =>
      expect(client.told('notifications/subscriptions/acknowledged')).toHaveLength(2),
    );

    const own = { 'io.modelcontextprotocol/subscriptionId': b.received.at(-1)?.id ?? 0 };
    b.say({ method: 'notifications/resources/updated', params: { uri: 'b:1', _meta: own } });
    a.say({
      method: 'notifications/resources/updated',
      params: { uri: 'b:1', _meta: { 'io.modelcontextprotocol/subscriptionId': 999 } },
    });
    a.say({ method: 'notifications/tools/list_changed', params: { _meta: own } });
    await vi.waitFor(() => expect(client.told('notifications/tools/list_changed')).toHaveLength(1));
    expect(client.told('notifications/tools/list_changed')[0]?.params).toEqual({
      _meta: subscription,
    });
    await vi.waitFor(() => expect(client.told('notifications/resources/updated')).toHaveLength(1));
    expect(client.told('notifications/resources/updated')[0]?.params).toEqual({
      uri: 'b:1',
      _meta: subscription,
    });

    b.die();
    await vi.waitFor(() => expect(client.reports).toHaveLength(1));
    await client.request('tools/call', { name: 'b_echo', _meta: envelope() });
    await vi.waitFor(() => expect(listening).toHaveLength(3));
    client.tell('notifications/cancelled', { requestId: 'listen:0' });
    await vi.waitFor(() =>
      expect(b.received.at(-1)).toMatchObject({ method: 'notifications/cancelled' }),
    );
    await clock.advance(1000);
    const before = client.frames.length;
    a.say({ method: 'notifications/tools/list_changed', params: {} });
    await client.request('tools/call', { name: 'a_echo', _meta: envelope() });
    expect(client.frames).toHaveLength(before + 1);
  });
});
