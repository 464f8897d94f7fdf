import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ServedMcp, serveMcp } from '../../../conformance/benches/mcp/serve-mcp.ts';
import { suiteServer } from '../../../conformance/benches/mcp/suite-server.ts';
import { httpServerLink } from './http-server-link.ts';
import {
  ALL_CLIENTS,
  askingServer,
  everythingChild,
  everythingOverHttp,
  LEGACY_CLIENTS,
  modernClient,
  type RelayedFront,
  relayTo,
  type Seen,
} from './peers.fixture.ts';

const closing: (() => Promise<void>)[] = [];
const later = <T extends { close(): Promise<void> }>(made: T): T => {
  closing.unshift(() => made.close());
  return made;
};
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('real clients through a relay', () => {
  describe.each(['over HTTP', 'over stdio'])('to the reference server %s', (transport) => {
    let everything: { readonly url: string; close(): Promise<void> } | null = null;
    beforeAll(async () => {
      if (transport === 'over HTTP') everything = await everythingOverHttp();
    });
    afterAll(async () => everything?.close());
    const connect = () =>
      everything === null ? everythingChild() : httpServerLink(everything.url);

    it.each(Object.entries(LEGACY_CLIENTS))(
      '%s: calls, progress, and everything that the server asks or tells by itself',
      async (_name, create) => {
        const { url } = later(await relayTo(connect));
        const client = later(await create(url));
        const progress: number[] = [];

        expect(await client.call('get-sum', { a: 2, b: 3 })).toContain('The sum of 2 and 3 is 5.');
        const onprogress = ({ progress: step }: { readonly progress: number }) =>
          void progress.push(step);
        expect(
          await client.call(
            'trigger-long-running-operation',
            { duration: 0.3, steps: 3 },
            { onprogress },
          ),
        ).toContain('completed');
        expect(progress.length).toBeGreaterThan(0);
        expect(await client.call('trigger-sampling-request', { prompt: 'hi' })).toContain(
          'sampled text',
        );
        expect(await client.call('trigger-elicitation-request')).toContain('Ann');
        expect(await client.call('get-roots-list')).toContain('file:///the-root');
        await client.call('toggle-simulated-logging');
        await vi.waitFor(() => expect(client.heard).toContain('notifications/message'));
        // Over HTTP the server tells before anybody can listen, and direct clients do not hear of
        // it either.
        if (transport === 'over stdio')
          await vi.waitFor(() =>
            expect(client.heard).toContain('notifications/tools/list_changed'),
          );
      },
    );

    it('tells a client of the other era that the server is not of it', async () => {
      const { url } = later(await relayTo(connect));

      await expect(modernClient(url)).rejects.toThrow();
    });
  });

  describe('to a server of both eras that asks back', () => {
    let seen: Seen;
    let upstream: ServedMcp;
    let relayed: RelayedFront;
    const setUp = async () => {
      seen = { started: [], cancelled: [] };
      upstream = later(await serveMcp(askingServer(seen)));
      relayed = later(await relayTo(() => httpServerLink(upstream.url)));
    };

    it.each(Object.entries(ALL_CLIENTS))(
      '%s: calls and answers questions',
      async (_name, create) => {
        await setUp();
        const client = later(await create(relayed.url));

        expect(await client.list()).toEqual(['echo', 'ask', 'slow', 'change']);
        expect(await client.call('echo', { text: 'grüße' })).toContain('grüße');
        expect(await client.call('ask')).toContain('answered yes');
        expect(relayed.reports).toEqual([]);
      },
    );

    it.each(Object.entries(ALL_CLIENTS))(
      '%s: sees progress, and cancels what is running',
      async (_name, create) => {
        await setUp();
        const client = later(await create(relayed.url));
        const abort = new AbortController();

        await expect(
          client.call('slow', {}, { signal: abort.signal, onprogress: () => abort.abort() }),
        ).rejects.toThrow();
        await vi.waitFor(() => expect(seen.cancelled).toHaveLength(1));
        expect(await client.call('echo', { text: 'still here' })).toContain('still here');
      },
    );

    it.each(Object.entries(LEGACY_CLIENTS))(
      '%s: hears what belongs to no request',
      async (_name, create) => {
        await setUp();
        const client = later(await create(relayed.url));
        await client.call('change');

        await vi.waitFor(() => expect(client.heard).toContain('notifications/tools/list_changed'));
      },
    );

    it('ends the session of the server when the client ends its own', async () => {
      await setUp();
      const client = await LEGACY_CLIENTS['SDK v1'](relayed.url);
      expect(upstream.sessions()).toBe(1);

      await client.close();
      await vi.waitFor(() => expect(upstream.sessions()).toBe(0));
    });
  });

  it('takes up a stream that the server closed before it answered', async () => {
    const upstream = later(await serveMcp(suiteServer));
    const resumedFrom: (string | null)[] = [];
    const watched: typeof fetch = (input, init) => {
      if (init?.method === 'GET') resumedFrom.push(new Headers(init.headers).get('last-event-id'));
      return fetch(input, init);
    };
    const { url } = later(await relayTo(() => httpServerLink(upstream.url, { fetch: watched })));
    const client = later(await LEGACY_CLIENTS['SDK v1'](url));

    expect(await client.call('test_reconnection')).toContain('Reconnected.');
    expect(resumedFrom.filter((id) => id !== null)).toHaveLength(1);
  });

  it('ends the process of a server with the session of its client', async () => {
    const relayed = later(await relayTo(everythingChild));
    const client = await LEGACY_CLIENTS['SDK v1'](relayed.url);
    const pid = relayed.upstreams[0]?.pid ?? 0;
    expect(process.kill(pid, 0)).toBe(true);

    await client.close();
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 5000 });
  });
});
