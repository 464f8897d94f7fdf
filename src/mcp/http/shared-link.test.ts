import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ServedMcp, serveMcp } from '../../../conformance/benches/mcp/serve-mcp.ts';
import type { Link } from '../proxy/link.ts';
import { paramsOf, type WireMessage } from '../wire.ts';
import { httpServerLink } from './http-server-link.ts';
import { listenHttp } from './listen-http.ts';
import { askingServer, type RelayedFront, relayTo, type Seen, TOKEN } from './peers.fixture.ts';
import { type Posted, postTo, readEvent } from './raw-client.fixture.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function relayedServer(): Promise<{
  seen: Seen;
  upstream: ServedMcp;
  relayed: RelayedFront;
  post: (message: WireMessage) => Promise<Posted>;
}> {
  const seen: Seen = { started: [], cancelled: [] };
  const upstream = await serveMcp(askingServer(seen));
  const relayed = await relayTo(() => httpServerLink(upstream.url));
  closing.push(
    () => relayed.close(),
    () => upstream.close(),
  );
  return { seen, upstream, relayed, post: (message) => postTo(relayed.url, message) };
}

const call = (id: number | string, name: string, args = {}, meta = {}): WireMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
});

describe('clients without sessions', () => {
  it('get their own answers where many use the same id at once', async () => {
    const { post } = await relayedServer();
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);

    const answers = await Promise.all(
      texts.map(async (text) => (await post(call(1, 'echo', { text }))).json()),
    );
    expect(answers.map(({ id }) => id)).toEqual(texts.map(() => 1));
    expect(answers.map(({ result }) => JSON.stringify(result))).toEqual(
      texts.map((text): unknown => expect.stringContaining(`"${text}"`)),
    );
  });

  it('get fields back that nobody knows', async () => {
    const { post } = await relayedServer();

    expect(await (await post(call('x', 'echo', { text: 'a' }))).json()).toMatchObject({
      id: 'x',
      result: { extra: { kept: 1 } },
    });
  });

  it('get their own progress where two use the same token at once', async () => {
    const { post, seen } = await relayedServer();
    const both = await Promise.all([
      post(call(7, 'slow', {}, { progressToken: 'mine' })),
      post(call(7, 'slow', {}, { progressToken: 'mine' })),
    ]);

    const events = await Promise.all(both.map(readEvent));
    expect(events.map(({ method, params }) => ({ method, params }))).toEqual(
      both.map(() => ({
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress: 1 },
      })),
    );
    expect(new Set(seen.started).size).toBe(2);
  });

  it('cancel by going away, and only what they asked for themselves', async () => {
    const { post, seen } = await relayedServer();
    const [first] = await Promise.all([
      post(call(7, 'slow', {}, { progressToken: 1 })),
      post(call(7, 'slow', {}, { progressToken: 1 })),
    ]);
    await vi.waitFor(() => expect(seen.started).toHaveLength(2));

    await first?.leave();
    await vi.waitFor(() => expect(seen.cancelled).toHaveLength(1));
    await post(call(8, 'echo', { text: 'later' }));
    expect(seen.cancelled).toHaveLength(1);
  });

  it('hear of changes under the id that they subscribed with', async () => {
    const { post, upstream } = await relayedServer();
    const listen = {
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true } },
    };
    const both = await Promise.all([post(listen), post(listen)]);
    const acknowledged = await Promise.all(both.map(readEvent));
    upstream.notify.toolsChanged();
    const changed = await Promise.all(both.map(readEvent));

    expect(acknowledged.map(({ method }) => method)).toEqual(
      both.map(() => 'notifications/subscriptions/acknowledged'),
    );
    expect(changed.map(({ method }) => method)).toEqual(
      both.map(() => 'notifications/tools/list_changed'),
    );
    const ids = [...acknowledged, ...changed].map((message) =>
      JSON.stringify(paramsOf(message)._meta),
    );
    expect(ids).toEqual(ids.map(() => '{"io.modelcontextprotocol/subscriptionId":"sub"}'));
  });

  it('are told which headers do not fit their body', async () => {
    const { relayed } = await relayedServer();
    const status = async (headers: Record<string, string | null>) => {
      const posted = await postTo(relayed.url, call(1, 'echo', { text: 'a' }), headers);
      const { error } = await posted.json();
      return [posted.status, JSON.stringify(error).match(/"code":(-?\d+)/)?.[1]];
    };

    expect(await status({ 'mcp-method': 'tools/list' })).toEqual([400, '-32020']);
    expect(await status({ 'mcp-method': null })).toEqual([400, '-32020']);
    expect(await status({ 'mcp-name': 'slow' })).toEqual([400, '-32020']);
    expect(await status({ 'mcp-name': null })).toEqual([400, '-32020']);
    expect(await status({ 'mcp-name': '=?base64?!?=' })).toEqual([400, '-32020']);
    expect(await status({ 'mcp-protocol-version': '2026-07-29' })).toEqual([400, '-32020']);
    expect(await status({ 'mcp-protocol-version': null })).toEqual([400, '-32020']);
  });

  it('see a method that is not there in the status, too', async () => {
    const { post } = await relayedServer();
    const posted = await post({ jsonrpc: '2.0', id: 1, method: 'nothing/here', params: {} });

    expect(posted.status).toBe(404);
    expect(await posted.json()).toMatchObject({ id: 1, error: { code: -32_601 } });
  });
});

describe('the link of clients without sessions', () => {
  /** The link itself, with what it took. */
  async function bareLink() {
    const links: Link[] = [];
    const taken: WireMessage[] = [];
    const front = await listenHttp({
      port: 0,
      token: TOKEN,
      async onClient(link) {
        links.push(link);
        await link.start({
          onFrame: ({ message }) => void taken.push(message),
          onGarbage() {},
          onClose() {},
        });
      },
    });
    closing.push(() => front.close());
    return { url: front.url, links, taken };
  }

  it('answers requests of a server at once, because its clients take none', async () => {
    const { url, links, taken } = await bareLink();
    void postTo(url, call(1, 'echo'));
    await vi.waitFor(() => expect(taken).toHaveLength(1));

    links[0]?.send({ message: { jsonrpc: '2.0', id: 'asked', method: 'roots/list' } });
    expect(taken[1]).toMatchObject({ id: 'asked', error: { code: -32_601 } });
  });

  it('drops what belongs to nobody, a second answer, and one to an id that a client chose', async () => {
    const { url, links, taken } = await bareLink();
    const posted = postTo(url, call('chosen', 'echo'));
    await vi.waitFor(() => expect(taken).toHaveLength(1));
    const own = taken[0]?.id ?? null;

    for (const id of ['chosen', 999, own, own])
      links[0]?.send({
        message: { jsonrpc: '2.0', id, result: { by: id === own ? 'own' : 'other' } },
      });
    links[0]?.send({ message: { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } });
    expect(await (await posted).json()).toEqual({
      jsonrpc: '2.0',
      id: 'chosen',
      result: { by: 'own' },
    });
  });

  it('does not let one client cancel with an id that is another one’s', async () => {
    const { url, taken } = await bareLink();
    void postTo(url, call(1, 'echo'));
    await vi.waitFor(() => expect(taken).toHaveLength(1));

    const told = await postTo(url, {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: taken[0]?.id ?? 0 },
    });
    expect(told.status).toBe(202);
    expect(taken).toHaveLength(1);
  });
});
