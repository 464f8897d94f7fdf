/** The client of SDK 1, which knows nothing of the revision of 2026-07-28. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  capabilitiesOf,
  type Connection,
  type Driver,
  errorOutcome,
  listedTool,
  outcomeOf,
  questionOf,
  requestOptions,
  type Target,
} from './driver.ts';

export const clientV1: Driver = {
  name: 'v1',
  isModern: false,
  async connect(target, options = {}) {
    const client = new Client(
      { name: 'bench-v1', version: '1.0.0' },
      { capabilities: capabilitiesOf(options) },
    );
    const { onElicit } = options;
    if (onElicit !== undefined)
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        const { action, content } = await onElicit(questionOf(params));
        return { action, ...(content === undefined ? {} : { content: { ...content } }) };
      });
    await client.connect(transportTo(target));
    return connectionOf(client);
  },
};

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
  era: 'legacy',
  listTools: async () => (await client.listTools()).tools.map(listedTool),
  call: (name, args, options = {}) =>
    client
      .callTool({ name, arguments: args }, undefined, requestOptions(options))
      .then(outcomeOf, errorOutcome),
  onToolsChanged: (listener) =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, listener),
  close: () => client.close(),
});
