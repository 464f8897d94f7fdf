import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { settle, testClock } from '../../../conformance/test-kit.ts';
import type { Link } from '../proxy/link.ts';
import { kindOf } from '../wire.ts';
import {
  type ClientOptions,
  clientOf,
  errorIn,
  initialized,
  namesIn,
  pipePair,
  scripted,
  type ScriptedServer,
  type TestClient,
  textIn,
  toolServer,
} from './aggregate.fixture.ts';
import { aggregateLinks } from './aggregate-links.ts';
import type { UpstreamSpec } from './names.ts';
import { templateFit } from './resources.ts';

const clients: TestClient[] = [];
const connected = async (
  upstreams: readonly UpstreamSpec[],
  options: ClientOptions = {},
): Promise<TestClient> => {
  const client = await clientOf(upstreams, options);
  clients.push(client);
  if (options.make === undefined) await client.initialize();
  return client;
};
afterEach(async () => {
  await Promise.all(clients.splice(0).map(({ link }) => link.close()));
});

const answersIn = ({ received }: ScriptedServer) =>
  received.filter((message) => kindOf(message) === 'response');
const last = ({ received }: ScriptedServer) => received.at(-1);

/** Gives questions on as they are and their answers to everybody. */
function withoutMapping(upstreams: readonly UpstreamSpec[]): Link {
  const links = upstreams.map(({ open }) => open());
  return {
    transport: 'pipe',
    async start(handlers) {
      await Promise.all(links.map((link) => link.start(handlers)));
    },
    send: (frame) => links.every((link) => link.send(frame)),
    onDrain() {},
    pause() {},
    resume() {},
    async close() {
      await Promise.all(links.map((link) => link.close()));
    },
  };
}

describe('questions of several servers', () => {
  const ask = async (options: ClientOptions = {}) => {
    const [a, b] = [toolServer('a', []), toolServer('b', [])];
    const client = await connected([a, b], options);
    for (const server of [a, b]) {
      server.say({
        id: 1,
        method: 'sampling/createMessage',
        params: { of: server.name, _meta: { progressToken: 7 } },
      });
      server.say({ id: '1', method: 'roots/list' });
    }
    await vi.waitFor(() =>
      expect(client.frames.filter(({ message }) => kindOf(message) === 'request')).toHaveLength(4),
    );
    for (const { id, params } of client.told('sampling/createMessage').toReversed()) {
      const of = (params as { of?: string }).of ?? '';
      const token = (params as { _meta?: { progressToken?: string } })._meta?.progressToken ?? 0;
      client.tell('notifications/progress', { progressToken: token, progress: 1, of });
      client.send({ id: id ?? 0, result: { of } });
    }
    await vi.waitFor(() =>
      expect([a, b].every((server) => answersIn(server).length > 0)).toBe(true),
    );
    return { a, b, client };
  };

  it('with the same ids and tokens are told apart, and answered to who asked', async () => {
    const { a, b, client } = await ask();

    const ids = client.frames.flatMap(({ message }) =>
      kindOf(message) === 'request' ? [message.id] : [],
    );
    expect(new Set(ids).size).toBe(4);
    for (const server of [a, b]) {
      expect(answersIn(server)).toEqual([{ jsonrpc: '2.0', id: 1, result: { of: server.name } }]);
      const progress = server.received.filter(({ method }) => method === 'notifications/progress');
      expect(progress.map(({ params }) => params)).toEqual([
        { progressToken: 7, progress: 1, of: server.name },
      ]);
    }
  });

  it('are mixed up where ids are given on as they are', async () => {
    const { a } = await ask({ make: withoutMapping });

    expect(answersIn(a)).not.toEqual([{ jsonrpc: '2.0', id: 1, result: { of: 'a' } }]);
  });

  it('are answered once: what the client says again, or unasked, reaches nobody', async () => {
    const { a, client } = await ask();
    const [{ id = 0 } = {}] = client.told('sampling/createMessage');
    for (const other of [id, '0:n9', '9:n1', 1]) client.send({ id: other, result: {} });

    expect(
      client.reports.filter((line) => line === 'the client answered a request that is not open'),
    ).toHaveLength(4);
    await client.request('ping');
    expect(answersIn(a)).toHaveLength(1);
  });

  it('are withdrawn by the server, and when it dies', async () => {
    const { a, b, client } = await ask();
    a.say({ method: 'notifications/cancelled', params: { requestId: '1', reason: 'late' } });
    b.say({ method: 'notifications/cancelled', params: { requestId: 'other' } });
    await vi.waitFor(() => expect(client.told('notifications/cancelled')).toHaveLength(1));
    b.die();
    await vi.waitFor(() => expect(client.told('notifications/cancelled')).toHaveLength(2));

    expect(client.told('notifications/cancelled').map(({ params }) => params)).toEqual([
      { requestId: '0:s1', reason: 'late' },
      { requestId: '1:s1', reason: 'the server is gone' },
    ]);
  });

  it('under an id that is open, or too many of them, are refused', async () => {
    const server = toolServer('a', []);
    const client = await connected([server]);
    for (let index = 0; index < 1100; index += 1)
      server.say({ id: index % 1050, method: 'roots/list' });

    await vi.waitFor(() => expect(answersIn(server)).toHaveLength(100));
    expect(client.told('roots/list')).toHaveLength(1000);
  });
});

describe('what servers tell', () => {
  it('of progress goes on only where it belongs to something that is open there', async () => {
    const [a, b] = [
      toolServer('a', ['wait'], { 'tools/call': () => null }),
      toolServer('b', ['echo']),
    ];
    const client = await connected([a, b]);
    void client.request('tools/call', { name: 'a_wait', _meta: { progressToken: 'p' } });
    await vi.waitFor(() =>
      expect(last(a)).toMatchObject({
        method: 'tools/call',
        params: { _meta: { progressToken: 'p' } },
      }),
    );

    b.say({ method: 'notifications/progress', params: { progressToken: 'p', progress: 99 } });
    a.say({ method: 'notifications/progress', params: { progressToken: 'q', progress: 98 } });
    a.say({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } });
    await client.request('tools/call', { name: 'b_echo' });

    expect(client.told('notifications/progress').map(({ params }) => params)).toEqual([
      { progressToken: 'p', progress: 1 },
    ]);
  });

  it('of a task goes on after the call, and the task is asked for where it is', async () => {
    const tasking = (name: string) =>
      toolServer(name, ['t'], {
        initialize: () => initialized({ tools: {}, tasks: { list: {} } }),
        'tools/call': () => ({ task: { taskId: `${name}-1`, status: 'working' } }),
        'tasks/get': ({ taskId }) => ({ taskId: taskId ?? null, of: name }),
      });
    const [a, b] = [tasking('a'), tasking('b')];
    const client = await connected([a, b]);
    await client.request('tools/call', { name: 'b_t', task: {}, _meta: { progressToken: 'p' } });

    b.say({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } });
    await vi.waitFor(() => expect(client.told('notifications/progress')).toHaveLength(1));
    expect((await client.request('tasks/get', { taskId: 'b-1' })).result).toEqual({
      taskId: 'b-1',
      of: 'b',
    });
    expect(errorIn(await client.request('tasks/get', { taskId: 'a-1' })).code).toBe(-32_601);
  });

  it('of a task that two of them gave the same id is nobody’s', async () => {
    const tasking = (name: string) =>
      toolServer(name, ['t'], {
        initialize: () => initialized({ tools: {}, tasks: {} }),
        'tools/call': () => ({ task: { taskId: 'same' } }),
        'tasks/get': () => ({ of: name }),
      });
    const client = await connected([tasking('a'), tasking('b')]);
    for (const name of ['a_t', 'b_t']) await client.request('tools/call', { name, task: {} });

    expect(errorIn(await client.request('tasks/get', { taskId: 'same' })).code).toBe(-32_601);
  });

  it('in their log carries their name', async () => {
    const [a, b] = [toolServer('a', []), toolServer('b', [])];
    const client = await connected([a, b]);
    a.say({ method: 'notifications/message', params: { level: 'info', data: 1 } });
    b.say({ method: 'notifications/message', params: { level: 'info', logger: 'db', data: 2 } });
    await vi.waitFor(() => expect(client.told('notifications/message')).toHaveLength(2));

    expect(
      client.told('notifications/message').map(({ params }) => (params as JsonObject).logger),
    ).toEqual(['a', 'b/db']);
  });
});

const files = (
  name: string,
  uris: readonly string[],
  templates: readonly string[],
  more: readonly string[] = [],
) =>
  scripted(name, {
    initialize: () => initialized({ resources: { subscribe: true } }),
    'resources/list': () => ({ resources: uris.map((uri) => ({ uri })) }),
    'resources/templates/list': () => ({
      resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate })),
    }),
    'resources/read': ({ uri }) => {
      const asked = typeof uri === 'string' ? uri : '';
      const isHere =
        [...uris, ...more].includes(asked) ||
        templates.some((uriTemplate) => templateFit({ uriTemplate }, asked) > 0);
      return isHere
        ? { contents: [{ uri: asked, of: name }] }
        : { error: { code: -32_002, message: 'Resource not found' } };
    },
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
    'completion/complete': () => ({ completion: { values: [name] } }),
  });

describe('resources of several servers', () => {
  const readBy = async (client: TestClient, uri: string) => {
    const { result } = await client.request('resources/read', { uri });
    return (result as { contents?: { of?: string }[] } | undefined)?.contents?.[0]?.of;
  };

  it('are read where they are listed, then where a template fits, then where somebody has them', async () => {
    const [a, b] = [
      files('a', ['x:1'], ['t:{id}']),
      files('b', ['x:2', 't:listed'], ['t:deep/{id}/end'], ['hidden:1']),
    ];
    const client = await connected([a, b]);

    const reads = ['x:1', 'x:2', 't:listed', 't:5', 't:deep/7/end', 'hidden:1'];
    expect(await Promise.all(reads.map((uri) => readBy(client, uri)))).toEqual([
      'a',
      'b',
      'b',
      'a',
      'b',
      'b',
    ]);
    expect(errorIn(await client.request('resources/read', { uri: 'nobody:1' })).code).toBe(-32_002);
    const before = a.received.length;
    await readBy(client, 'hidden:1');
    expect(a.received).toHaveLength(before);
  });

  it('are watched where they are, also after that server came again', async () => {
    const [a, b] = [files('a', ['x:1'], []), files('b', ['x:2'], [])];
    const client = await connected([a, b]);
    await client.request('resources/subscribe', { uri: 'x:2' });
    b.say({ method: 'notifications/resources/updated', params: { uri: 'x:2' } });
    await vi.waitFor(() => expect(client.told('notifications/resources/updated')).toHaveLength(1));

    b.die();
    await vi.waitFor(() => expect(client.reports).toHaveLength(1));
    await readBy(client, 'x:2');

    const subscriptions = ({ received }: ScriptedServer) =>
      received.filter(({ method }) => method === 'resources/subscribe').length;
    expect([subscriptions(a), subscriptions(b)]).toEqual([0, 2]);
    await client.request('resources/unsubscribe', { uri: 'x:2' });
    expect(last(b)).toMatchObject({ method: 'resources/unsubscribe' });
  });

  it('are completed where their template is, and prompts under their own name', async () => {
    const [a, b] = [files('a', [], ['t:{id}']), files('b', [], ['u:{id}'])];
    const client = await connected([a, b]);

    const valuesOf = async (ref: JsonObject) =>
      (await client.request('completion/complete', { ref, argument: {} })).result;
    expect(await valuesOf({ type: 'ref/resource', uri: 'u:{id}' })).toEqual({
      completion: { values: ['b'] },
    });
    expect(await valuesOf({ type: 'ref/prompt', name: 'a_greet' })).toEqual({
      completion: { values: ['a'] },
    });
    expect(last(a)?.params).toMatchObject({ ref: { name: 'greet' } });
    expect(errorIn(await client.request('completion/complete', { ref: {} })).code).toBe(-32_602);
  });

  it('fit hostile templates in no time', () => {
    const uriTemplate = `x:${'{a}a'.repeat(20_000)}!`;
    const started = performance.now();

    expect(templateFit({ uriTemplate }, `x:${'a'.repeat(40_000)}`)).toBe(0);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('other requests over several servers', () => {
  it('set the level of every log, also of one that comes again', async () => {
    const logging = (name: string, capabilities: JsonObject) =>
      toolServer(name, ['echo'], {
        initialize: () => initialized(capabilities),
        'logging/setLevel': () => ({}),
      });
    const [a, b, c] = [
      logging('a', { logging: {} }),
      logging('b', { logging: {}, tools: {} }),
      logging('c', {}),
    ];
    const client = await connected([a, b, c]);

    expect((await client.request('logging/setLevel', { level: 'debug' })).result).toEqual({});
    expect([last(a), last(b), last(c)].map((message) => message?.method)).toEqual([
      'logging/setLevel',
      'logging/setLevel',
      'notifications/initialized',
    ]);
    b.die();
    await vi.waitFor(() => expect(client.reports).toHaveLength(1));
    await client.request('tools/call', { name: 'b_echo' });
    expect(
      b.received.filter(({ params }) => (params as JsonObject | undefined)?.level === 'debug'),
    ).toHaveLength(2);
  });

  it('go to the one server that declares them', async () => {
    const extended = (name: string, extensions: JsonObject) =>
      scripted(name, {
        initialize: () => initialized({ extensions }),
        'ui/open': () => ({ of: name }),
        'io.x/y/z': () => ({ of: name }),
      });
    const client = await connected([
      extended('a', { 'io.x/ui': {} }),
      extended('b', { 'io.x/y': {}, 'io.x/two': {} }),
      extended('c', { 'io.x/two': {} }),
    ]);

    expect((await client.request('ui/open')).result).toEqual({ of: 'a' });
    expect((await client.request('io.x/y/z')).result).toEqual({ of: 'b' });
    for (const method of ['two/x', 'none/x', '', '__proto__/x', 'constructor'])
      expect(errorIn(await client.request(method)).code).toBe(-32_601);
  });
});

describe('an aggregate', () => {
  it('does not let a server that reads nothing stop the others', async () => {
    const clock = testClock();
    const stuck: UpstreamSpec = {
      name: 'stuck',
      open() {
        const link = toolServer('stuck', ['x']).open();
        let sent = 0;
        return { ...link, send: (frame) => (link.send(frame), (sent += 1) < 3), onDrain() {} };
      },
    };
    const client = await connected([stuck, toolServer('b', ['echo'])], { clock, slowMs: 5000 });
    const drained = vi.fn();
    const call = (name: string) =>
      client.link.send({
        message: { jsonrpc: '2.0', id: name, method: 'tools/call', params: { name } },
      });

    expect(call('stuck_x')).toBe(false);
    client.link.onDrain(drained);
    await clock.advance(4999);
    expect(drained).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(drained).toHaveBeenCalledOnce();
    expect(call('b_echo')).toBe(true);
    await vi.waitFor(() => expect(client.answersTo('b_echo')).toHaveLength(1));
  });

  it('gives up a server for which too much waits', async () => {
    const deaf: UpstreamSpec = {
      name: 'deaf',
      open() {
        const link = toolServer('deaf', ['x'], { 'tools/call': () => null }).open();
        return {
          ...link,
          send: (frame) => link.send(frame) && frame.message.method !== 'tools/call',
          onDrain() {},
        };
      },
    };
    const client = await connected([deaf, toolServer('b', ['echo'])]);
    const big = 'x'.repeat(9 * 1024 * 1024);

    const answers = await Promise.all(
      [1, 2].map(() => client.request('tools/call', { name: 'deaf_x', arguments: { big } })),
    );
    expect(answers.map((answer) => errorIn(answer).message)).toEqual(
      Array(2).fill(expect.stringContaining('it does not read what is sent to it')),
    );
    expect(textIn(await client.request('tools/call', { name: 'b_echo' }))).toContain('echo');
  });

  it('pauses and resumes its servers, also one that is opened meanwhile', async () => {
    const server = toolServer('a', ['echo']);
    const client = await connected([server]);
    client.link.pause();
    const answer = client.request('tools/list', {}, 'paused');
    await vi.waitFor(() => expect(last(server)?.method).toBe('tools/list'));
    expect(client.answersTo('paused')).toEqual([]);

    client.link.resume();

    expect(namesIn(await answer)).toEqual(['a_echo']);
    server.die();
    await vi.waitFor(() => expect(client.reports).toHaveLength(1));
    client.link.pause();
    const call = client.request('tools/call', { name: 'a_echo' });
    await vi.waitFor(() => expect(last(server)?.method).toBe('initialize'));
    await settle();
    expect(last(server)?.method).toBe('initialize');
    client.link.resume();
    expect(textIn(await call)).toContain('echo');
  });

  it('leaves nothing behind when it is closed', async () => {
    const clock = testClock();
    const ended: string[] = [];
    const hanging = (name: string): UpstreamSpec => ({
      name,
      open() {
        const [near, far] = pipePair();
        void far.start({ onFrame() {}, onGarbage() {}, onClose: () => void ended.push(name) });
        return near;
      },
    });
    const link = aggregateLinks([hanging('a'), hanging('b')], {
      clock,
      report() {},
      version: 'test',
    });
    const onClose = vi.fn();
    const onFrame = vi.fn();
    await link.start({ onFrame, onGarbage() {}, onClose });
    link.send({
      message: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25' },
      },
    });
    await clock.advance(1);

    await link.close();

    await vi.waitFor(() => expect(ended.sort()).toEqual(['a', 'b']));
    expect(clock.pending).toBe(0);
    expect(onClose).toHaveBeenCalledOnce();
    link.send({ message: { jsonrpc: '2.0', id: 2, method: 'tools/list' } });
    expect(onFrame).not.toHaveBeenCalled();
  });

  it('knows whose a tool is', () => {
    const link = aggregateLinks([toolServer('one', [], {}, { prefix: 'p' })], { report() {} });

    expect([link.serverOf('p_x'), link.serverOf('one_x')]).toEqual(['one', null]);
  });

  it.each([{}, { report: 'x' }, { report() {}, slowMs: 0 }, { report() {}, slow: 1 }])(
    'is not made with the options %j',
    (options) => {
      expect(() => aggregateLinks([toolServer('a', [])], options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
      );
    },
  );
});
