import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { requiredReason } from '../../../middleware/index.ts';
import { defineLayer, type ToolLayer, withCall } from '../../index.ts';
import { aggregateLinks } from '../aggregate/aggregate-links.ts';
import { createProxy } from './create-proxy.ts';
import { httpServerLink } from '../http/http-server-link.ts';
import { listenHttp } from '../http/listen-http.ts';
import { modernClient, TOKEN } from '../http/peers.fixture.ts';
import { postTo } from '../http/raw-client.fixture.ts';
import { type RecordingServer, recordingServer } from '../http/recording-server.fixture.ts';
import type { Link } from './link.ts';
import { objectAt } from '../wire.ts';

/** Another tool, another region, other rows, whatever the client wanted. */
const rewriting = defineLayer({
  name: 'rewriting',
  rewrites: true,
  caller: (call, next) =>
    next(
      withCall(call, {
        toolName: 'count',
        toolArgs: { ...call.toolArgs, region: 'zürich', limit: { rows: 7 } },
      }),
    ),
});

/** Not a layer that does anything, so that calls are governed. */
const watching = defineLayer({
  name: 'watching',
  observes: true,
  caller: (call, next) => next(call),
});

/** A proxy that is reached over HTTP, before a server that is. */
async function proxied(
  stack: readonly ToolLayer[],
  linkTo: (url: string) => Link = httpServerLink,
): Promise<RecordingServer & { readonly front: string }> {
  const server = await recordingServer();
  const proxy = createProxy({ stack, upstream: () => linkTo(server.url) });
  const listener = await listenHttp({
    port: 0,
    token: TOKEN,
    onClient: (link) => proxy.connect(link).then(() => {}),
  });
  onTestFinished(async () => {
    await listener.close();
    await proxy.close();
  });
  return { ...server, front: listener.url };
}

/**
 * What a call with these arguments and headers is answered with, by a client that has not asked for
 * the list.
 */
async function callWith(
  front: string,
  args: JsonObject,
  headers: Readonly<Record<string, string>>,
  name = 'query',
) {
  const posted = await postTo(
    front,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    headers,
  );
  const message = await posted.json();
  return { status: posted.status, code: objectAt(message, 'error').code, result: message.result };
}

const asOneOfSeveral = (url: string): Link =>
  aggregateLinks(
    ['a', 'b'].map((name) => ({ name, open: () => httpServerLink(url) })),
    { report() {} },
  );

const MISFITS: readonly (readonly [string, JsonObject, Readonly<Record<string, string>>])[] = [
  ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
  ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
  ['another number', { limit: { rows: 7 } }, { 'mcp-param-rows': '70' }],
  ['a number that is no decimal one', { limit: { rows: 16 } }, { 'mcp-param-rows': '0x10' }],
  ['nothing where the body has a value', { region: 'eu' }, {}],
  ['one of two values', { region: 'eu', limit: { rows: 7 } }, { 'mcp-param-region': 'eu' }],
  ['a value where the body has none', {}, { 'mcp-param-region': 'eu' }],
  ['marks around what is no base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?ZX?=' }],
  [
    'marks around what is no UTF-8',
    { region: '\ufffd' },
    { 'mcp-param-region': '=?base64?/w==?=' },
  ],
  ['a byte that belongs between marks', { region: 'ü' }, { 'mcp-param-region': 'ü' }],
];

describe('pitfalls of headers', () => {
  it('16 · headers name what is sent to the server, not what the client had sent', async () => {
    const { front, calls, ran } = await proxied([requiredReason(), rewriting]);
    const client = await modernClient(front);
    onTestFinished(() => client.close());
    await client.list();

    const answer = await client.call('query', {
      region: 'eu',
      limit: { rows: 3 },
      text: 'x',
      reason: 'to see',
    });

    const sent = { region: 'zürich', limit: { rows: 7 }, text: 'x' };
    expect(answer).toContain('count ran');
    expect(ran).toEqual([sent]);
    expect(calls).toMatchObject([
      {
        name: 'count',
        args: sent,
        headers: {
          'mcp-method': 'tools/call',
          'mcp-name': 'count',
          'mcp-param-region': '=?base64?esO8cmljaA==?=',
          'mcp-param-rows': '7',
        },
      },
    ]);
  });

  it('16 · a header of an argument that a layer took out is not sent', async () => {
    const dropping = defineLayer({
      name: 'dropping',
      rewrites: true,
      caller: (call, next) => next(withCall(call, { toolArgs: { text: 'x' } })),
    });
    const { front, calls, ran } = await proxied([dropping]);

    const { status } = await callWith(
      front,
      { region: 'eu', text: 'x' },
      { 'mcp-param-region': 'eu' },
    );

    expect(status).toBe(200);
    expect(ran).toEqual([{ text: 'x' }]);
    expect(calls[0]?.headers).not.toHaveProperty('mcp-param-region');
  });

  it.each(MISFITS)('16 · a call is refused whose headers say %s', async (_what, args, headers) => {
    const { front, calls } = await proxied([watching]);

    expect(await callWith(front, args, headers)).toMatchObject({ status: 400, code: -32_020 });
    // And once the list is known.
    expect(await callWith(front, args, headers)).toMatchObject({ status: 400, code: -32_020 });
    expect(calls).toHaveLength(0);
  });

  it('16 · a call whose headers say the same in other words runs', async () => {
    const { front, ran } = await proxied([watching]);
    const args = { region: 'zürich', limit: { rows: 7 } };
    const headers = {
      'mcp-param-region': '=?base64?esO8cmljaA==?=',
      'mcp-param-rows': '7.0',
      'mcp-param-unknown': 'x',
    };

    expect(await callWith(front, args, headers)).toMatchObject({ status: 200, code: undefined });
    expect(await callWith(front, { text: 'x' }, {})).toMatchObject({
      status: 200,
      code: undefined,
    });
    expect(ran).toEqual([args, { text: 'x' }]);
  });

  it.each([
    ['one server', httpServerLink, 'query'],
    ['several', asOneOfSeveral, 'a_query'],
  ] as const)(
    '16 · where messages are only forwarded, to %s, the server sees the headers that the client sent',
    async (_to, linkTo, name) => {
      const { front, calls, ran } = await proxied([], linkTo);

      const right = await callWith(front, { region: 'eu' }, { 'mcp-param-region': 'eu' }, name);
      const wrong = await callWith(front, { region: 'eu' }, { 'mcp-param-region': 'us' }, name);
      const missing = await callWith(front, { region: 'eu' }, {}, name);

      expect([right.status, wrong.status, missing.status]).toEqual([200, 400, 400]);
      expect(
        calls.map(({ headers }) => [headers['mcp-name'], headers['mcp-param-region']]),
      ).toEqual([
        ['query', 'eu'],
        ['query', 'us'],
        ['query', undefined],
      ]);
      expect(ran).toEqual([{ region: 'eu' }]);
    },
  );
});
