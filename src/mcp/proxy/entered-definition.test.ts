import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { Random } from '../../../conformance/benches/fuzz/random.ts';
import { settle } from '../../../conformance/index.ts';
import { consent, definitionPin, permissions } from '../../../middleware/index.ts';
import {
  randomChange,
  randomDefinition,
  randomListed,
} from '../../dispatch/random-tools.fixture.ts';
import {
  defineTool,
  type GovernedTools,
  type GovernOptions,
  governTools,
  type Tool,
  type ToolLayer,
} from '../../index.ts';
import { type ApprovalStore, answerApproval, memoryApprovals } from '../../policy/index.ts';
import { memoryPins } from '../../pins/pin-stores.ts';
import { aggregateLinks } from '../aggregate/aggregate-links.ts';
import {
  scripted as upstreamServer,
  initialized,
  discovered,
} from '../aggregate/aggregate.fixture.ts';
import { createProxy } from './create-proxy.ts';
import { CONSENT_KEY } from './elicitation.ts';
import { httpServerLink } from '../http/http-server-link.ts';
import { listenHttp } from '../http/listen-http.ts';
import { TOKEN } from '../http/peers.fixture.ts';
import { linkPair } from './link.ts';
import {
  decided,
  ELICITS,
  type Era,
  ERAS,
  metaIn,
  said,
  scripted,
  scriptedClient,
  type ScriptedServer,
  scriptedServer,
  statusIn,
} from './scripted.fixture.ts';
import { serveTools } from './serve-tools.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/**
 * Changes by each route: few in every run of the suite, a thousand where ALLIUM_DEFINITION_CHANGES
 * says so.
 */
const CHANGES = howMany(8, 1_000);
const CHANGED = { method: 'notifications/tools/list_changed' };
const STACKS: readonly [string, () => readonly ToolLayer[]][] = [
  ['consent', () => [consent({ default: 'ask' })]],
  ['permissions', () => [permissions({ checkers: [() => 'require_approval'] })]],
  [
    'a pin and consent',
    () => [
      definitionPin({ store: memoryPins(), onQuarantine: () => {} }),
      consent({ default: 'ask' }),
    ],
  ],
];

const changeOf = (seed: number) => randomChange(seed, randomListed);

describe.each(ERAS)('a server whose tools change while somebody is asked (%s)', (era) => {
  it.each(STACKS)('is not sent the call: %s', { timeout: 600_000 }, async (_name, stack) => {
    for (let seed = 1; seed <= CHANGES; seed += 1) {
      const { first, other, path } = changeOf(seed);
      const outcome = await askedWhile(
        era,
        stack(),
        first,
        (server) => void (server.tools = [other]),
      );

      expect(outcome, `seed ${seed}, ${path}`).toEqual({
        status: 'definition_changed',
        executed: 'no',
        calls: 0,
      });
    }
  });

  it.each(STACKS)('is sent it where nothing changed but what it says: %s', async (_name, stack) => {
    const { first } = changeOf(1);

    expect(await askedWhile(era, stack(), first, () => {})).toMatchObject({
      status: undefined,
      calls: 1,
    });
  });

  it('is not sent a call whose tool it has taken away', async () => {
    const { first } = changeOf(1);
    const gone = await askedWhile(
      era,
      [consent({ default: 'ask' })],
      first,
      (server) => void (server.tools = []),
    );

    expect(gone).toEqual({ status: 'definition_changed', calls: 0, executed: 'no' });
  });
});

type Bench = Awaited<ReturnType<typeof scripted>>;

/** A call that a person allows after the server has changed and said so. */
async function askedWhile(
  era: Era,
  stack: readonly ToolLayer[],
  first: JsonObject,
  change: (server: Bench['server']) => void,
) {
  const bench = await scripted({ era, stack, capabilities: ELICITS, tools: [first] });
  const { client, server } = bench;
  const tell = (): void => {
    change(server);
    server.send({ jsonrpc: '2.0', ...CHANGED });
  };
  const result = await (era === 'modern' ? inTwoRounds(client, tell) : inOne(client, tell));
  await client.close();
  return {
    status: statusIn(result),
    executed: metaIn(result)['allium/executed'],
    calls: server.calls.length,
  };
}

async function inOne(
  client: Bench['client'],
  tell: () => void | Promise<void>,
): Promise<JsonObject> {
  const result = client.call('work');
  const question = await vi.waitFor(
    () => client.got.find(({ method }) => method === 'elicitation/create') ?? expect.fail('asked'),
    {
      interval: 1,
    },
  );
  await tell();
  client.send({ jsonrpc: '2.0', id: question.id ?? null, result: decided('allow_once') });
  return result;
}

async function inTwoRounds(
  client: Bench['client'],
  tell: () => void | Promise<void>,
): Promise<JsonObject> {
  const question = await client.call('work');
  expect(question.resultType).toBe('input_required');
  await tell();
  const inputResponses = { [CONSENT_KEY]: decided('allow_once') };
  return client.call('work', {}, { inputResponses, requestState: question.requestState ?? null });
}

/** A proxy in front of one server among several, whose list the test sets. */
async function aggregated(era: Era) {
  const state = { tools: [] as readonly JsonObject[] };
  const calls: JsonObject[] = [];
  const greetings = {
    initialize: () => initialized({ tools: { listChanged: true } }),
    'server/discover': () => discovered(),
  };
  const script = {
    ...greetings,
    'tools/list': () => ({ tools: state.tools }),
    'tools/call': (params: JsonObject) => {
      calls.push(params);
      return said('done');
    },
  };
  const one = upstreamServer('one', script);
  const two = upstreamServer('two', { ...greetings, 'tools/list': () => ({ tools: [] }) });
  const back = aggregateLinks([one, two], { report: () => {} });
  const [clientEnd, front] = linkPair();
  const proxy = createProxy({
    upstream: () => back,
    stack: [consent({ default: 'ask' })],
    report: () => {},
  });
  await proxy.connect(front);
  const client = await scriptedClient(clientEnd, era, ELICITS);
  return { client, one, state, calls, close: () => proxy.close() };
}

describe.each(ERAS)(
  'one of several servers whose tools change while somebody is asked (%s)',
  (era) => {
    const ask = era === 'modern' ? inTwoRounds : inOne;
    const named = (client: Bench['client']): Bench['client'] => ({
      ...client,
      call: (_name, ...rest) => client.call('one_work', ...rest),
    });

    // In the newer era only a client that listens is told, and what a server says is heard through
    // it.
    if (era === 'legacy')
      it('is not sent the call, however often it said so before', {
        timeout: 600_000,
      }, async () => {
        for (let seed = 1; seed <= CHANGES; seed += 1) {
          const { first, other, path } = changeOf(seed);
          const { client, one, state, calls, close } = await aggregated(era);
          state.tools = [first];
          // The first is told to the client at once, and what follows within a tenth of a second is
          // not.
          one.say(CHANGED);
          await settle();
          await client.list();
          const result = await ask(named(client), () => {
            state.tools = [other];
            one.say(CHANGED);
          });

          expect(
            { status: statusIn(result), calls: calls.length },
            `seed ${seed}, ${path}`,
          ).toEqual({
            status: 'definition_changed',
            calls: 0,
          });
          await close();
        }
      });

    it('is not sent the call where it was opened again with other tools', async () => {
      const { first, other } = changeOf(1);
      const { client, one, state, calls, close } = await aggregated(era);
      state.tools = [first];
      const result = await ask(named(client), async () => {
        state.tools = [other];
        one.die();
        await settle();
      });

      expect(statusIn(result)).toBe('definition_changed');
      expect(calls).toEqual([]);
      await close();
    });
  },
);

/**
 * Streamable HTTP on both sides: a client, the proxy, and a server that has no way to say that its
 * tools changed unless somebody listens.
 */
async function overHttp(era: Era, tools: readonly JsonObject[]) {
  const served: ScriptedServer[] = [];
  const behind = await listenHttp({
    port: 0,
    token: TOKEN,
    onClient: async (link) =>
      void served.push(await scriptedServer(link, tools, () => said('done'))),
  });
  const headers = () => ({ authorization: `Bearer ${TOKEN}` });
  const stack = [consent({ default: 'ask' })];
  const proxy = createProxy({
    upstream: () => httpServerLink(behind.url, { headers }),
    stack,
    report: () => {},
  });
  const front = await listenHttp({
    port: 0,
    token: TOKEN,
    onClient: (link) => proxy.connect(link).then(() => {}),
  });
  const link = httpServerLink(front.url, { headers });
  const client = await scriptedClient(link, era, ELICITS);
  const close = async () => {
    await client.close();
    await proxy.close();
    await Promise.all([front.close(), behind.close()]);
  };
  return { client, served, close };
}

describe.each(ERAS)('a server over HTTP whose tools change while somebody is asked (%s)', (era) => {
  const ask = era === 'modern' ? inTwoRounds : inOne;
  const follow = async (first: JsonObject, other: JsonObject, isTold: boolean) => {
    const { client, served, close } = await overHttp(era, [first]);
    const result = await ask(client, () => {
      for (const server of served) {
        server.tools = [other];
        if (isTold) server.send({ jsonrpc: '2.0', ...CHANGED });
      }
    });
    const calls = served.reduce((sum, server) => sum + server.calls.length, 0);
    await close();
    return { status: statusIn(result), calls };
  };

  it.each([
    ['and says so', true],
    ['without a word', false],
  ])('is not sent the call: it changes %s', { timeout: 600_000 }, async (_how, isTold) => {
    for (let seed = 1; seed <= CHANGES; seed += 1) {
      const { first, other, path } = changeOf(seed);

      expect(await follow(first, other, isTold), `seed ${seed}, ${path}`).toEqual({
        status: 'definition_changed',
        calls: 0,
      });
    }
  });

  it('is sent it where nothing changed', async () => {
    const { first } = changeOf(1);

    expect(await follow(first, first, true)).toEqual({ status: undefined, calls: 1 });
  });
});

describe.each(ERAS)('tools of this process that change while somebody is asked (%s)', (era) => {
  const ask = era === 'modern' ? inTwoRounds : inOne;
  const toolOf = (written: JsonObject, entered: string[]): Tool =>
    defineTool({
      // A written definition has the shape of one.
      ...(written as unknown as Parameters<typeof defineTool>[0]),
      execute: () => void entered.push('ran'),
    });
  const definition = (random: Random): JsonObject => {
    const { outputSchema: _promised, ...rest } = randomDefinition(random);
    return { ...rest, executor: 'local' };
  };

  /**
   * A server as `allium serve` makes it. A client that cannot be asked finds its call again when it
   * makes it again, also in another server.
   */
  async function served(
    tools: readonly Tool[],
    approvals: ApprovalStore,
    capabilities: JsonObject,
  ) {
    const layers = [consent({ default: 'ask' })];
    const made: GovernedTools[] = [];
    const govern = (overrides: Partial<GovernOptions>): GovernedTools => {
      const governed = governTools({ tools, layers, approvals, ...overrides });
      made.push(governed);
      return governed;
    };
    const server = serveTools({
      stack: { layers, govern, close: async () => {} },
      approvals,
      session: { sessionId: 's' },
      report: () => {},
    });
    const [clientEnd, front] = linkPair();
    await server.connect(front);
    const client = await scriptedClient(clientEnd, era, capabilities);
    return {
      client,
      update: (next: readonly Tool[]) => made.forEach((governed) => governed.update(next)),
      close: () => server.close(),
    };
  }

  it('are not entered: the client is asked', { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= CHANGES; seed += 1) {
      const { first, other, path } = randomChange(seed, definition);
      const entered: string[] = [];
      const { client, update, close } = await served(
        [toolOf(first, entered)],
        memoryApprovals(),
        ELICITS,
      );
      const result = await ask(client, () => update([toolOf(other, entered)]));

      expect({ status: statusIn(result), entered }, `seed ${seed}, ${path}`).toEqual({
        status: 'definition_changed',
        entered: [],
      });
      await close();
    }
  });

  it('are not entered: the call waits in the queue while the server is started anew', {
    timeout: 600_000,
  }, async () => {
    for (let seed = 1; seed <= CHANGES; seed += 1) {
      const { first, other, path } = randomChange(seed, definition);
      const entered: string[] = [];
      const store = memoryApprovals();
      const before = await served([toolOf(first, entered)], store, {});
      await before.client.call('work');
      await before.close();
      const [{ id } = { id: '' }] = await store.list();
      await answerApproval(store, id, { decision: 'allow_once', decidedBy: 'ada' });
      const after = await served([toolOf(other, entered)], store, {});
      const result = await after.client.call('work');

      expect({ status: statusIn(result), entered }, `seed ${seed}, ${path}`).toEqual({
        status: 'definition_changed',
        entered: [],
      });
      await after.close();
    }
  });

  it('are entered where they stay what they are', async () => {
    const { first } = randomChange(1, definition);
    const entered: string[] = [];
    const { client, update, close } = await served(
      [toolOf(first, entered)],
      memoryApprovals(),
      ELICITS,
    );
    await ask(client, () => update([toolOf(first, entered)]));

    expect(entered).toEqual(['ran']);
    await close();
  });
});
