import { describe, expect, it, vi } from 'vitest';
import { createRandom } from '../../conformance/fuzz/random.ts';
import { settle } from '../../conformance/index.ts';
import { consent, definitionPin, permissions } from '../../middleware/index.ts';
import type { JsonObject } from '../core/json.ts';
import { leavesOf, randomDefinition, withOtherLeaf } from '../dispatch/random-tools.fixture.ts';
import type { ToolLayer } from '../index.ts';
import { memoryPins } from '../policy/pins/memory-pins.ts';
import { aggregateLinks } from './aggregate/aggregate-links.ts';
import { scripted as upstreamServer, initialized, discovered } from './aggregate/aggregate.fixture.ts';
import { createProxy } from './create-proxy.ts';
import { CONSENT_KEY } from './elicitation.ts';
import { linkPair } from './link.ts';
import { decided, ELICITS, type Era, ERAS, metaIn, said, scripted, scriptedClient, statusIn } from './scripted.fixture.ts';

/** Changes by each route: few in every run of the suite, a thousand where ALLIUM_DEFINITION_CHANGES says so. */
const CHANGES = Number(process.env.ALLIUM_DEFINITION_CHANGES ?? 25);
const CHANGED = { method: 'notifications/tools/list_changed' };
const STACKS: readonly [string, () => readonly ToolLayer[]][] = [
  ['consent', () => [consent({ default: 'ask' })]],
  ['permissions', () => [permissions({ checkers: [() => 'require_approval'] })]],
  ['a pin and consent', () => [definitionPin({ store: memoryPins(), onQuarantine: () => {} }), consent({ default: 'ask' })]],
];

/** What a server may say of a tool: more than a stack is told. */
function randomListed(seed: number): { readonly first: JsonObject; readonly other: JsonObject; readonly path: string } {
  const random = createRandom(seed);
  const { inputSchema = {} } = randomDefinition(random);
  const hints = { title: 'Works', readOnlyHint: random.oneIn(2), destructiveHint: random.oneIn(2) };
  const first: JsonObject = {
    ...{ name: 'work', title: 'Works', description: 'Works.', inputSchema, annotations: hints },
    ...{ icons: [{ src: 'data:,' }], _meta: { version: 1 } },
  };
  const path = random.pick(leavesOf(first).filter((leaf) => leaf !== 'name'));
  return { first, other: withOtherLeaf(first, path), path };
}

describe.each(ERAS)('a server whose tools change while somebody is asked (%s)', (era) => {
  it.each(STACKS)('is not sent the call: %s', { timeout: 600_000 }, async (_name, stack) => {
    for (let seed = 1; seed <= CHANGES; seed += 1) {
      const { first, other, path } = randomListed(seed);
      const outcome = await askedWhile(era, stack(), first, (server) => void (server.tools = [other]));

      expect(outcome, `seed ${seed}, ${path}`).toEqual({ status: 'definition_changed', executed: 'no', calls: 0 });
    }
  });

  it.each(STACKS)('is sent it where nothing changed but what it says: %s', async (_name, stack) => {
    const { first } = randomListed(1);

    expect(await askedWhile(era, stack(), first, () => {})).toMatchObject({ status: undefined, calls: 1 });
  });

  it('is not sent a call whose tool it has taken away', async () => {
    const { first } = randomListed(1);
    const gone = await askedWhile(era, [consent({ default: 'ask' })], first, (server) => void (server.tools = []));

    expect(gone).toEqual({ status: 'definition_changed', calls: 0, executed: 'no' });
  });
});

type Bench = Awaited<ReturnType<typeof scripted>>;

/** A call that somebody allows after the server has changed and said so. */
async function askedWhile(era: Era, stack: readonly ToolLayer[], first: JsonObject, change: (server: Bench['server']) => void) {
  const bench = await scripted({ era, stack, capabilities: ELICITS, tools: [first] });
  const { client, server } = bench;
  const tell = (): void => {
    change(server);
    server.send({ jsonrpc: '2.0', ...CHANGED });
  };
  const result = await (era === 'modern' ? inTwoRounds(client, tell) : inOne(client, tell));
  await client.close();
  return { status: statusIn(result), executed: metaIn(result)['allium/executed'], calls: server.calls.length };
}

async function inOne(client: Bench['client'], tell: () => void | Promise<void>): Promise<JsonObject> {
  const result = client.call('work');
  const question = await vi.waitFor(() => client.got.find(({ method }) => method === 'elicitation/create') ?? expect.fail('asked'), {
    interval: 1,
  });
  await tell();
  client.send({ jsonrpc: '2.0', id: question.id ?? null, result: decided('allow_once') });
  return result;
}

async function inTwoRounds(client: Bench['client'], tell: () => void | Promise<void>): Promise<JsonObject> {
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
  const greetings = { initialize: () => initialized({ tools: { listChanged: true } }), 'server/discover': () => discovered() };
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
  const proxy = createProxy({ upstream: () => back, stack: [consent({ default: 'ask' })], report: () => {} });
  await proxy.connect(front);
  const client = await scriptedClient(clientEnd, era, ELICITS);
  return { client, one, state, calls, close: () => proxy.close() };
}

describe.each(ERAS)('one of several servers whose tools change while somebody is asked (%s)', (era) => {
  const ask = era === 'modern' ? inTwoRounds : inOne;
  const named = (client: Bench['client']): Bench['client'] => ({ ...client, call: (_name, ...rest) => client.call('one_work', ...rest) });

  // In the newer era only a client that listens is told, and what a server says is heard through it.
  if (era === 'legacy')
    it('is not sent the call, however often it said so before', { timeout: 600_000 }, async () => {
      for (let seed = 1; seed <= CHANGES; seed += 1) {
        const { first, other, path } = randomListed(seed);
        const { client, one, state, calls, close } = await aggregated(era);
        state.tools = [first];
        // The first is told to the client at once, and what follows within a tenth of a second is not.
        one.say(CHANGED);
        await settle();
        await client.list();
        const result = await ask(named(client), () => {
          state.tools = [other];
          one.say(CHANGED);
        });

        expect({ status: statusIn(result), calls: calls.length }, `seed ${seed}, ${path}`).toEqual({
          status: 'definition_changed',
          calls: 0,
        });
        await close();
      }
    });

  it('is not sent the call where it was opened again with other tools', async () => {
    const { first, other } = randomListed(1);
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
});
