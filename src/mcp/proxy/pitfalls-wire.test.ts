import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { requiredReason } from '../../../middleware/index.ts';
import { passThrough } from '../../index.ts';
import { createProxy } from './create-proxy.ts';
import { linkPair } from './link.ts';
import { NOTE, said, scripted } from './scripted.fixture.ts';
import { streamLink } from '../stdio/stdio-links.ts';
import { isRequestId, MAX_MESSAGE_BYTES, resultMessage, type WireMessage } from '../wire.ts';

/** A client of bytes before a server that answers everything; a list where a list is asked for. */
async function bytesBench() {
  const [toProxy, fromProxy] = [new PassThrough(), new PassThrough()];
  const got: WireMessage[] = [];
  const lines: JsonObject[] = [];
  const problems: string[] = [];
  const [back, serverEnd] = linkPair();
  await serverEnd.start({
    onFrame({ message }) {
      got.push(message);
      const result = message.method === 'tools/list' ? { tools: [NOTE] } : said('done');
      if (isRequestId(message.id)) serverEnd.send({ message: resultMessage(message.id, result) });
    },
    onGarbage() {},
    onClose() {},
  });
  let text = '';
  fromProxy.on('data', (chunk: Buffer) => {
    const parts = (text + chunk.toString('utf8')).split('\n');
    text = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line) as JsonObject)); // Anything else fails the test.
  });
  const proxy = createProxy({
    stack: [passThrough],
    upstream: () => back,
    report: (problem) => void problems.push(problem),
  });
  await proxy.connect(streamLink(toProxy, fromProxy));
  const say = (line: string): void => void toProxy.write(`${line}\n`);
  return {
    say,
    lines,
    got,
    problems,
    answered: (count: number) => vi.waitFor(() => expect(lines).toHaveLength(count)),
  };
}

const CALL = '"method":"tools/call","params":{"name":"note"}';

describe('pitfalls of the wire', () => {
  it.each([
    ['a line that is not JSON', '{"jsonrpc":"2.0",', -32_700],
    ['a batch', `[{"jsonrpc":"2.0","id":1,${CALL}}]`, -32_700],
    [
      'a line that is longer than any may be',
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'ping',
        params: { text: 'x'.repeat(MAX_MESSAGE_BYTES) },
      }),
      -32_700,
    ],
    ['a message of another protocol', `{"jsonrpc":"1.0","id":1,${CALL}}`, -32_600],
    ['an id that is none', `{"jsonrpc":"2.0","id":{},${CALL}}`, -32_600],
    ['a call without a name', '{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32_602],
    [
      'a call that wants to be a task',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","task":{}}}',
      -32_602,
    ],
  ])('12 · %s is an error, reaches no server, and reading goes on', async (_what, line, code) => {
    const { say, lines, got, answered } = await bytesBench();

    say(line);
    say('{"jsonrpc":"2.0","id":"next","method":"ping"}');
    await answered(2);

    expect(lines[0]).toMatchObject({ error: { code } });
    expect(lines[1]).toMatchObject({ id: 'next', result: {} });
    expect(got.map(({ method }) => method)).toEqual(['ping']);
  });

  it('12 · a batch of notifications, an empty line and a line of spaces run nothing', async () => {
    const { say, got, answered } = await bytesBench();

    say(`[{"jsonrpc":"2.0",${CALL}}]\n\n   `);
    say(`{"jsonrpc":"2.0",${CALL}}`);
    say('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    await answered(2);

    expect(got.map(({ method }) => method)).toEqual(['ping']);
  });

  it('12 · requests without params, and with the ids 0, "0" and an empty one, are told apart', async () => {
    const { say, lines, answered } = await bytesBench();

    for (const id of ['0', '"0"', '""', '-1', '1.5'])
      say(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    for (const id of ['0', '"0"']) say(`{"jsonrpc":"2.0","id":${id},${CALL}}`);
    await answered(7);

    expect(lines.slice(0, 5).map(({ id }) => id)).toEqual([0, '0', '', -1, 1.5]);
    expect(lines.slice(5).map(({ id }) => id)).toEqual(expect.arrayContaining([0, '0']));
    expect(lines.every((line) => 'result' in line)).toBe(true);
  });

  it('12 · arguments that are no object are refused, and a name of everybody is only a name', async () => {
    const { client, server } = await scripted({
      stack: [requiredReason()],
      tools: [NOTE, { ...NOTE, name: '__proto__' }, null, 7, {}],
    });

    for (const args of ['text', [1], 7, null]) {
      const { result } = await client.request('tools/call', { name: 'note', arguments: args });
      expect(result).toMatchObject({ isError: true });
    }
    expect(await client.call('constructor', { reason: 'x' })).toMatchObject({ isError: true });
    expect(server.calls).toHaveLength(0);
  });

  it('11 · a server that goes away has open calls answered, and leaves no timer', async () => {
    const { client, server, clock } = await scripted({ stack: [passThrough], onCall: () => null });
    const call = client.call('note');
    const ping = client.request('ping');
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    await ping;

    await server.close();

    expect(await call).toMatchObject({ isError: true, _meta: { 'allium/executed': 'unknown' } });
    await vi.waitFor(() => expect(clock.pending).toBe(0));
  });

  it('11 · an answer that nobody asked for, and a second one, go nowhere', async () => {
    const { client, server, problems } = await scripted({ stack: [passThrough] });
    server.send(resultMessage(4711, { forged: true }));
    server.send(resultMessage('allium-000000000000-1', { forged: true }));

    await client.call('note');

    expect(JSON.stringify(client.got)).not.toContain('forged');
    expect(problems).toEqual(
      Array.from({ length: 2 }, () => 'the server answered a request that is not open'),
    );
  });

  it('12 · a server that goes on with doubtful requests is told so a thousand times, and everything else goes on', async () => {
    const { server, client, problems } = await scripted({ stack: [passThrough] });
    const before = server.got.length;
    // A reader may take these for requests or for answers.
    for (let id = 0; id < 3000; id += 1)
      server.send({ jsonrpc: '2.0', id, method: 'ping', result: {} });
    await client.call('note');

    const told = server.got.slice(before).filter(({ error }) => error !== undefined);
    expect(told).toHaveLength(1000);
    expect(problems).toHaveLength(3000);
    expect(client.got.filter(({ method }) => method === 'ping')).toEqual([]);
  });
});
