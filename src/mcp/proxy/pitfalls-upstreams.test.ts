import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { idempotency, type IdempotencyOptions } from '../../../middleware/index.ts';
import { type ClaimStore, fileClaims, memoryClaims } from '../../stores/index.ts';
import {
  clientOf,
  type ScriptedServer,
  type TestClient,
  toolServer,
} from '../aggregate/aggregate.fixture.ts';
import { aggregateLinks } from '../aggregate/aggregate-links.ts';
import { createProxy } from './create-proxy.ts';
import { linkPair } from './link.ts';
import { said, scripted, statusIn } from './scripted.fixture.ts';
import { objectAt } from '../wire.ts';

const MODES = ['cache', 'effect'] as const;
const ORDER = { order: 1 };
const ARGS_KEY: IdempotencyOptions['key'] = ({ toolArgs }) => JSON.stringify(toolArgs);

/** Two servers with the same tool behind one proxy. Each answers with its own name. */
async function aggregated(
  options: IdempotencyOptions,
): Promise<{ servers: readonly ScriptedServer[]; client: TestClient }> {
  const servers = ['a', 'b'].map((name) =>
    toolServer(name, ['pay'], { 'tools/call': () => said(`of ${name}`) }),
  );
  const proxy = createProxy({
    stack: [idempotency(options)],
    upstream: () => aggregateLinks(servers, { report() {} }),
  });
  const [clientEnd, front] = linkPair();
  await proxy.connect(front);
  onTestFinished(() => proxy.close());
  const client = await clientOf(servers, { make: () => clientEnd });
  await client.initialize();
  return { servers, client };
}

const pay = async (client: TestClient, name: string) =>
  objectAt(await client.request('tools/call', { name, arguments: ORDER }), 'result');
const callsOf = ({ received }: ScriptedServer): number =>
  received.filter(({ method }) => method === 'tools/call').length;

/** Stores that two proxies can have in common. */
const STORES: Readonly<Record<string, () => ClaimStore>> = {
  'in memory': () => memoryClaims(),
  'in files': () => {
    const dir = mkdtempSync(join(tmpdir(), 'allium-upstreams-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return fileClaims({ dir: join(dir, 'claims') });
  },
};
const SHARED = Object.entries(STORES).flatMap(([place, create]) =>
  MODES.flatMap((mode) =>
    (['session', 'global'] as const).map((scope) => [place, mode, scope, create] as const),
  ),
);

/** A proxy of one session before a server that answers with its name. */
const proxyTo = (name: string, options: IdempotencyOptions) =>
  scripted({
    stack: [idempotency(options)],
    session: { sessionId: 'one session' },
    onCall: () => said(`of ${name}`),
  });

describe('pitfalls of several upstreams', () => {
  it.each(MODES)(
    '17 · servers behind one proxy that have the same tool never answer for each other (%s)',
    async (mode) => {
      const { servers, client } = await aggregated({ mode, scope: 'global' });

      const answers = [];
      for (const name of ['a_pay', 'b_pay', 'a_pay', 'b_pay'])
        answers.push(await pay(client, name));

      expect(answers).toMatchObject(['a', 'b', 'a', 'b'].map((name) => said(`of ${name}`)));
      expect(servers.map(callsOf)).toEqual([1, 1]);
    },
  );

  it('17 · a key of its own does not join the answers of two servers', async () => {
    const { servers, client } = await aggregated({ key: ARGS_KEY, scope: 'global' });

    expect(await pay(client, 'a_pay')).toMatchObject(said('of a'));
    expect(await pay(client, 'b_pay')).toMatchObject(said('of b'));
    expect(servers.map(callsOf)).toEqual([1, 1]);
  });

  it('17 · an effect of one server under a key is a conflict for the other, and no answer', async () => {
    const { servers, client } = await aggregated({ mode: 'effect', key: ARGS_KEY });

    expect(await pay(client, 'a_pay')).toMatchObject(said('of a'));
    expect(statusIn(await pay(client, 'b_pay'))).toBe('idempotency_conflict');
    expect(servers.map(callsOf)).toEqual([1, 0]);
  });

  it.each(SHARED)(
    '17 · proxies that share a store %s have answers of their own source (%s, %s)',
    async (_place, mode, scope, create) => {
      const store = create();
      const one = await proxyTo('one', { mode, scope, store, source: 'one' });
      const two = await proxyTo('two', { mode, scope, store, source: 'two' });
      const oneAgain = await proxyTo('one, started again', { mode, scope, store, source: 'one' });

      expect(await one.client.call('note', ORDER)).toMatchObject(said('of one'));
      expect(await two.client.call('note', ORDER)).toMatchObject(said('of two'));
      expect(await two.client.call('note', ORDER)).toMatchObject(said('of two'));
      expect(await oneAgain.client.call('note', ORDER)).toMatchObject(said('of one'));
      expect([one, two, oneAgain].map(({ server }) => server.calls.length)).toEqual([1, 1, 0]);
    },
  );

  it('17 · proxies that share a store have nothing in common without a session in common', async () => {
    const store = memoryClaims();
    const stack = () => [idempotency({ mode: 'effect', store })];
    const [one, two] = [await scripted({ stack: stack() }), await scripted({ stack: stack() })];

    for (const { client } of [one, two]) await client.call('note', ORDER);

    expect([one, two].map(({ server }) => server.calls.length)).toEqual([1, 1]);
  });
});
