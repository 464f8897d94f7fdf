/** The client of SDK 2, as it is by default and as one that speaks the revision of 2026-07-28. */

import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  capabilitiesOf,
  type ConnectOptions,
  type Connection,
  type Driver,
  errorOutcome,
  listedTool,
  outcomeOf,
  questionOf,
  requestOptions,
  type Target,
} from './driver.ts';

export const MODERN = '2026-07-28';

/** Says nothing about revisions, and so speaks the older ones. */
export const clientV2: Driver = {
  name: 'v2',
  isModern: false,
  connect: (target, options = {}) => connect(target, options, { mode: 'legacy' }),
};

/**
 * Insists on the new revision where the other side has it, and finds out by itself where it may
 * not.
 */
export const clientV2Modern: Driver = {
  name: 'v2-modern',
  isModern: true,
  connect: (target, options = {}) =>
    connect(target, options, { mode: options.isModern === true ? { pin: MODERN } : 'auto' }),
};

async function connect(
  target: Target,
  options: ConnectOptions,
  versionNegotiation: VersionNegotiationOptions,
): Promise<Connection> {
  const client = new Client(
    { name: 'bench-v2', version: '1.0.0' },
    { capabilities: capabilitiesOf(options), versionNegotiation },
  );
  const { onElicit } = options;
  if (onElicit !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const { action, content } = await onElicit(questionOf(params));
      return { action, ...(content === undefined ? {} : { content: { ...content } }) };
    });
  await client.connect(transportTo(target));
  return connectionOf(client);
}

function transportTo(target: Target): Transport {
  if (!('url' in target))
    return new StdioClientTransport({
      ...target,
      args: [...target.args],
      env: { ...target.env },
      stderr: 'ignore',
    });
  const requestInit =
    target.token === undefined ? {} : { headers: { authorization: `Bearer ${target.token}` } };
  return new StreamableHTTPClientTransport(new URL(target.url), { requestInit });
}

const connectionOf = (client: Client): Connection => ({
  era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
  listTools: async () => (await client.listTools()).tools.map(listedTool),
  call: (name, args, options = {}) =>
    client
      .callTool({ name, arguments: args }, requestOptions(options))
      .then(outcomeOf, errorOutcome),
  onToolsChanged: (listener) =>
    client.setNotificationHandler('notifications/tools/list_changed', listener),
  close: () => client.close(),
});
