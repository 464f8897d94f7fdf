import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { byteRelay } from './create-proxy.ts';
import { streamLink } from '../stdio/stdio-links.ts';

/** A relay, with all that came out on both sides. */
async function relayBench() {
  const [fromClient, toClient, fromServer, toServer] = [
    new PassThrough(),
    new PassThrough(),
    new PassThrough(),
    new PassThrough(),
  ];
  const out: Record<'client' | 'server', Buffer[]> = { client: [], server: [] };
  toClient.on('data', (chunk: Buffer) => void out.client.push(chunk));
  toServer.on('data', (chunk: Buffer) => void out.server.push(chunk));
  const relay = await byteRelay(streamLink(fromClient, toClient), streamLink(fromServer, toServer));
  const textOf = (side: 'client' | 'server') => Buffer.concat(out[side]).toString('utf8');
  return {
    relay,
    fromClient,
    fromServer,
    textOf,
    lines: () =>
      textOf('client')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonObject),
  };
}

const request = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"m"}\n`;

describe('byte relay', () => {
  it('forwards bytes as they come, whatever they are, and without waiting for a line to end', async () => {
    const { fromClient, fromServer, textOf } = await relayBench();

    fromClient.write('{"jsonrpc": "2.0" , "id":1,');
    await vi.waitFor(() => expect(textOf('server')).toBe('{"jsonrpc": "2.0" , "id":1,'));
    fromClient.write('"method":"m"}\nno message\n\n');
    fromServer.write('[1]\n');

    await vi.waitFor(() =>
      expect(textOf('server')).toBe('{"jsonrpc": "2.0" , "id":1,"method":"m"}\nno message\n\n'),
    );
    expect(textOf('client')).toBe('[1]\n');
  });

  it('answers the open requests of a server that dies, each once, and no others', async () => {
    const { relay, fromClient, fromServer, lines } = await relayBench();
    for (const id of ['0', '"0"', '1', '2']) fromClient.write(request(id));
    fromClient.write('{"jsonrpc":"2.0","method":"notifications/x"}\n');
    await vi.waitFor(() => expect(relay.isOpen(2)).toBe(true));
    fromServer.write('{"jsonrpc":"2.0","id":1,"resu');
    fromServer.write('lt":{}}\n');
    await vi.waitFor(() => expect(relay.isOpen(1)).toBe(false));

    fromServer.end();

    expect(await relay.ended).toMatchObject({ by: 'server' });
    expect(
      lines()
        .slice(1)
        .map(({ id }) => id),
    ).toEqual([0, '0', 2]);
    expect(
      lines()
        .slice(1)
        .every(({ error }) => error !== undefined),
    ).toBe(true);
  });

  it('answers also what it had not read yet when the server died', async () => {
    const { relay, fromClient, fromServer, lines, textOf } = await relayBench();
    fromClient.write(request('7'));
    await vi.waitFor(() => expect(textOf('server')).toBe(request('7')));

    fromServer.end();

    expect(await relay.ended).toMatchObject({ by: 'server' });
    expect(lines()).toMatchObject([{ id: 7, error: { code: -32_603 } }]);
  });

  it('answers nobody when it is the client that leaves', async () => {
    const { relay, fromClient, textOf } = await relayBench();
    fromClient.write(request('1'));
    await vi.waitFor(() => expect(relay.isOpen(1)).toBe(true));

    fromClient.end();

    expect(await relay.ended).toMatchObject({ by: 'client' });
    expect(textOf('client')).toBe('');
  });
});
