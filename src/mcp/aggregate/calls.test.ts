import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Frame, Link } from '../proxy/link.ts';
import { kindOf, paramsOf, type RequestId } from '../wire.ts';
import {
  clientOf,
  errorIn,
  type ScriptedServer,
  type TestClient,
  textIn,
  toolServer,
} from './aggregate.fixture.ts';
import { splitName, type UpstreamSpec } from './names.ts';

const clients: TestClient[] = [];
const connected = async (upstreams: readonly UpstreamSpec[]): Promise<TestClient> => {
  const client = await clientOf(upstreams);
  clients.push(client);
  await client.initialize();
  return client;
};
afterEach(async () => {
  await Promise.all(clients.splice(0).map(({ link }) => link.close()));
});

const callsOf = ({ received }: ScriptedServer) =>
  received.filter(({ method }) => method === 'tools/call');
const hang = () => null;

describe('calls over several servers', () => {
  it('reach the server of their prefix under their own name, with everything else as it came', async () => {
    const [a, b] = [toolServer('a', ['echo']), toolServer('b', ['echo'])];
    const client = await connected([a, b]);
    const params = {
      arguments: { n: 1.5, names: ['é'] },
      name: 'b_echo',
      task: { ttl: 1 },
      _meta: { progressToken: 'p', x: [] },
    };

    await client.request('tools/call', params, 'q');

    expect(callsOf(a)).toEqual([]);
    expect(callsOf(b).map((call) => call.params)).toEqual([{ ...params, name: 'echo' }]);
  });

  it.each([
    [
      '{"content":[],"structuredContent":{"9":1,"f":1.50}}',
      { result: { content: [], structuredContent: { 9: 1, f: 1.5 } } },
    ],
    ['{"content":[],"structuredContent":{"big":9007199254740993}}', { error: { code: -32_603 } }],
    ['{"content":[],"content":[{"type":"text","text":"forged"}]}', { error: { code: -32_603 } }],
  ])(
    'are answered with what the server said, or with an error where readers would not agree on it: %s',
    async (result, expected) => {
      const server = toolServer('a', ['raw'], {
        'tools/call': (_params, { id }) => {
          server.sayText(`{"result":${result},"id":${Number(id)},"jsonrpc":"2.0"}\n`);
          return null;
        },
      });
      const client = await connected([server]);

      expect(await client.request('tools/call', { name: 'a_raw' }, 'mine')).toMatchObject({
        id: 'mine',
        ...expected,
      });
    },
  );

  it('of a name that is nobody’s are refused, and reach nobody', async () => {
    const server = toolServer('a', ['echo', 'ECHO']);
    const client = await connected([server]);
    await client.request('tools/list');

    for (const name of ['echo', 'b_echo', 'a_', 'a_ECHO', 7, null]) {
      expect(errorIn(await client.request('tools/call', { name })).code).toBe(-32_602);
    }
    expect(callsOf(server)).toEqual([]);
  });

  it('that are cancelled are cancelled there, under the id they have there, and never answered', async () => {
    const [a, b] = [toolServer('a', ['wait'], { 'tools/call': hang }), toolServer('b', ['echo'])];
    const client = await connected([a, b]);
    void client.request('tools/call', { name: 'a_wait' }, 'open');
    await vi.waitFor(() => expect(callsOf(a)).toHaveLength(1));
    const id = callsOf(a)[0]?.id ?? null;

    client.tell('notifications/cancelled', { requestId: 'open', reason: 'enough' });
    await vi.waitFor(() =>
      expect(a.received.at(-1)).toMatchObject({
        method: 'notifications/cancelled',
        params: { requestId: id, reason: 'enough' },
      }),
    );
    a.say({ id, result: { content: [] } });
    await client.request('tools/call', { name: 'b_echo' });
    await vi.waitFor(() =>
      expect(client.reports).toContain('server "a" answered a request that is not open'),
    );

    expect(client.answersTo('open')).toEqual([]);
    expect(b.received.filter(({ method }) => method === 'notifications/cancelled')).toEqual([]);
  });

  it('are answered once where the server answers twice, or what was never asked', async () => {
    const server = toolServer('a', ['echo'], {
      'tools/call': (_params, { id }) => {
        const forged = { content: [{ type: 'text', text: 'forged' }] };
        for (const other of ['x', 99, 0, null]) server.say({ id: other, result: forged });
        server.say({ id: id ?? 0, result: { content: [{ type: 'text', text: 'own' }] } });
        return forged;
      },
    });
    const client = await connected([server]);

    expect(textIn(await client.request('tools/call', { name: 'a_echo' }, 1000))).toBe('own');
    await vi.waitFor(() =>
      expect(client.reports.filter((line) => line.includes('not open'))).toHaveLength(4),
    );

    expect(client.answersTo(1000)).toHaveLength(1);
  });

  it('under an id that is still open are refused', async () => {
    const server = toolServer('a', ['wait'], { 'tools/call': hang });
    const client = await connected([server]);
    void client.request('tools/call', { name: 'a_wait' }, 'same');
    await vi.waitFor(() => expect(callsOf(server)).toHaveLength(1));

    expect(errorIn(await client.request('tools/call', { name: 'a_wait' }, 'same')).code).toBe(
      -32_600,
    );
    expect(callsOf(server)).toHaveLength(1);
  });

  it('that are open when their server dies are each answered once, and the others go on', async () => {
    const [a, b] = [toolServer('a', ['wait'], { 'tools/call': hang }), toolServer('b', ['echo'])];
    const client = await connected([a, b]);
    const open = Array.from({ length: 20 }, (_, index) =>
      client.request('tools/call', { name: 'a_wait' }, `w${index}`),
    );
    await vi.waitFor(() => expect(callsOf(a)).toHaveLength(20));

    a.die();
    const answers = await Promise.all(open);

    expect(answers.map((answer) => errorIn(answer).data)).toEqual(
      Array(20).fill({ server: 'a', executed: 'unknown' }),
    );
    expect(textIn(await client.request('tools/call', { name: 'b_echo' }))).toContain('echo');
    expect(Array.from({ length: 20 }, (_, index) => client.answersTo(`w${index}`).length)).toEqual(
      Array(20).fill(1),
    );
  });

  it('bring a server back that was lost, greeted as before', async () => {
    const server = toolServer('a', ['echo']);
    const client = await connected([server, toolServer('b', ['echo'])]);
    await vi.waitFor(() => expect(server.received).toHaveLength(2));
    server.die();
    await vi.waitFor(() => expect(client.reports).toHaveLength(1));

    const answer = await client.request('tools/call', { name: 'a_echo' });

    expect(textIn(answer)).toContain('echo');
    expect(server.opened()).toBe(2);
    const opened = server.received.map(({ method }) => method);
    expect(opened.slice(2)).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
    expect(server.received[2]?.params).toEqual(server.received[0]?.params);
    await vi.waitFor(() => expect(client.told('notifications/tools/list_changed')).toHaveLength(1));
  });
});

/**
 * Gives each answer to whoever has waited longest for one of that server: true for servers that
 * answer in order.
 */
function answersInOrder(upstreams: readonly UpstreamSpec[]): Link {
  const named = upstreams.map((spec) => ({
    prefix: spec.name,
    link: spec.open(),
    waiting: [] as RequestId[],
  }));
  return {
    transport: 'pipe',
    async start(handlers) {
      for (const { link, waiting } of named) {
        await link.start({
          ...handlers,
          onFrame({ message }) {
            const id = kindOf(message) === 'response' ? waiting.shift() : undefined;
            if (id !== undefined) handlers.onFrame({ message: { ...message, id } });
          },
        });
      }
    },
    send({ message }: Frame) {
      const target = splitName(named, paramsOf(message).name);
      target?.upstream.waiting.push(message.id as RequestId);
      return (
        target?.upstream.link.send({
          message: { ...message, params: { ...paramsOf(message), name: target.name } },
        }) ?? true
      );
    },
    onDrain() {},
    pause() {},
    resume() {},
    async close() {
      await Promise.all(named.map(({ link }) => link.close()));
    },
  };
}

/**
 * Answers each call with its own name and arguments, in an order of its own; ids of requests of its
 * own are those of the client.
 */
function shufflingServer(name: string): ScriptedServer {
  const held: (() => void)[] = [];
  const random = seeded(name.charCodeAt(0));
  const release = (): void => {
    for (const answer of held.splice(0).sort(() => random() - 0.5)) answer();
  };
  const server: ScriptedServer = toolServer(name, ['t'], {
    'tools/call': (params, { id }) =>
      new Promise((resolve) => {
        held.push(() =>
          resolve({
            content: [{ type: 'text', text: `${name} ${JSON.stringify(params.arguments)}` }],
          }),
        );
        // The question of one server has the id of a call that is open at another.
        if (random() < 0.1) server.say({ id: id ?? 0, method: 'roots/list' });
        if (held.length === 1) setImmediate(release);
      }),
  });
  return server;
}

const seeded = (seed: number) => {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
};

async function wrongAnswers(client: TestClient, count: number): Promise<number> {
  const random = seeded(7);
  const calls = Array.from({ length: count }, async (_, index) => {
    const name = ['a', 'b', 'c'][Math.floor(random() * 3)] ?? 'a';
    // An id may be a number or the same number as text.
    const answer = await client.request(
      'tools/call',
      { name: `${name}_t`, arguments: { index } },
      random() < 0.5 ? index : `${index - 1}`,
    );
    return textIn(answer) === `${name} {"index":${index}}`;
  });
  return (await Promise.all(calls)).filter((isRight) => !isRight).length;
}

describe('5 000 calls in any order over three servers', () => {
  it('are each answered once, with their own answer', async () => {
    const client = await connected(['a', 'b', 'c'].map(shufflingServer));
    const before = client.frames.length;

    expect(await wrongAnswers(client, 5000)).toBe(0);
    const responses = client.frames
      .slice(before)
      .filter(({ message }) => kindOf(message) === 'response');
    expect(responses).toHaveLength(5000);
    const questions = client.told('roots/list').map(({ id }) => id);
    expect(questions.length).toBeGreaterThan(100);
    expect(new Set(questions).size).toBe(questions.length);
  });

  it('are mixed up where answers are given out in order', async () => {
    const client = await clientOf(['a', 'b', 'c'].map(shufflingServer), { make: answersInOrder });
    clients.push(client);

    expect(await wrongAnswers(client, 500)).toBeGreaterThan(100);
  });
});
