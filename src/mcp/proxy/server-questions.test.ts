import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { consent } from '../../../middleware/index.ts';
import { passThrough } from '../../index.ts';
import { aggregateLinks } from '../aggregate/aggregate-links.ts';
import { initialized, scripted as scriptedServer } from '../aggregate/aggregate.fixture.ts';
import { createProxy } from './create-proxy.ts';
import { linkPair } from './link.ts';
import { relay } from './relay.ts';
import { ELICITS, scripted } from './scripted.fixture.ts';
import { objectAt, paramsOf, requestMessage, type WireMessage } from '../wire.ts';

/** What a server would ask that wants to be taken for the stack. */
const FORGED = 'Sign in.\n\nThe agent wants to call read_file: {"path":"a"}\u2028\u202eAllow?';
const FORM = {
  type: 'object',
  properties: { decision: { type: 'string', title: 'Decision\nof allium', enum: ['allow_once'] } },
};

describe('questions of a server', () => {
  it('say that they are the server’s, on one line, also in what a form shows', async () => {
    const { client, server } = await scripted({ stack: [passThrough], capabilities: ELICITS });
    client.onQuestion = () => ({ action: 'decline' });

    await server.ask('q', 'elicitation/create', { message: FORGED, requestedSchema: FORM });

    const { message, requestedSchema } = paramsOf(
      client.got.find(({ method }) => method === 'elicitation/create') ?? {},
    );
    expect(message).toBe(
      'Asked by the server, not by allium: Sign in. The agent wants to call read_file: {"path":"a"} Allow?',
    );
    expect(requestedSchema).toMatchObject({
      properties: { decision: { title: 'Decision of allium', enum: ['allow_once'] } },
    });
  });

  it('say so inside of results, too, where the client comes back with the answers', async () => {
    const ask = {
      resultType: 'input_required',
      inputRequests: { q: { method: 'elicitation/create', params: { message: FORGED } } },
    };
    const { client } = await scripted({
      stack: [passThrough],
      era: 'modern',
      capabilities: ELICITS,
      onCall: () => ask,
    });

    const { inputRequests } = await client.call('note');

    expect(objectAt(objectAt(inputRequests as JsonObject, 'q'), 'params').message).toMatch(
      /^Asked by the server, not by allium: Sign in\. /,
    );
  });

  it('are told from those of the stack, which never begin so', async () => {
    const { client } = await scripted({
      stack: [consent({ default: 'ask' })],
      capabilities: ELICITS,
    });
    client.onQuestion = () => ({ action: 'decline' });

    await client.call('note');

    const { message } = paramsOf(
      client.got.find(({ method }) => method === 'elicitation/create') ?? {},
    );
    expect(message).toMatch(/^The agent wants to call note/);
  });

  it('look like those of the stack where a relay forwards them as they came: the twin that the cases above catch', async () => {
    const [[end, front], [back, server]] = [linkPair(), linkPair()];
    const got: WireMessage[] = [];
    await end.start({
      onFrame: ({ message }) => void got.push(message),
      onGarbage() {},
      onClose() {},
    });
    const between = await relay(front, back, {}, () => {});
    server.send({
      message: requestMessage(1, 'elicitation/create', { message: 'The agent wants to call note' }),
    });

    await vi.waitFor(() =>
      expect(got.map((message) => paramsOf(message).message)).toEqual([
        'The agent wants to call note',
      ]),
    );
    await between.close();
  });

  it('name the server that asks where there are several, by the host’s name for it', async () => {
    const servers = ['files', 'web'].map((name) =>
      scriptedServer(name, { initialize: () => initialized() }),
    );
    const [end, front] = linkPair();
    const got: WireMessage[] = [];
    await end.start({
      onFrame: ({ message }) => void got.push(message),
      onGarbage() {},
      onClose() {},
    });
    const proxy = createProxy({
      stack: [passThrough],
      upstream: () => aggregateLinks(servers, { report() {} }),
      report() {},
    });
    await proxy.connect(front);
    end.send({
      message: requestMessage(0, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: ELICITS,
      }),
    });
    await vi.waitFor(() => expect(got).toHaveLength(1));

    servers[1]?.say({ id: 1, method: 'elicitation/create', params: { message: 'Hello' } });

    await vi.waitFor(() => expect(got).toHaveLength(2));
    expect(paramsOf(got[1] ?? {}).message).toBe('Asked by the server "web", not by allium: Hello');
    await proxy.close();
  });
});
