/** A server that speaks both eras. Its tools ask, tell and change their own list. */

import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , name = 'server'] = process.argv;
const words = fromJsonSchema<{ readonly text?: string }>({
  type: 'object',
  properties: { text: { type: 'string' } },
});
const answer = fromJsonSchema<{ readonly colour: string }>({
  type: 'object',
  properties: { colour: { type: 'string' } },
  required: ['colour'],
});
const say = (text: string) => ({ content: [{ type: 'text' as const, text }] });

serveStdio(() => {
  const server = new McpServer(
    { name, version: '1' },
    {
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      instructions: `I am ${name}.`,
    },
  );
  server.registerTool('echo', { inputSchema: words }, ({ text = '' }) => say(`${name}: ${text}`));
  server.registerTool('ask', { inputSchema: words }, (_args, context) => {
    const colour = acceptedContent(context.mcpReq.inputResponses, 'colour', answer)?.colour;
    if (colour !== undefined) return say(`${name}: ${colour}`);
    const requestedSchema = {
      type: 'object' as const,
      properties: { colour: { type: 'string' as const } },
      required: ['colour'],
    };
    return inputRequired({
      inputRequests: { colour: inputRequired.elicit({ message: `${name} asks`, requestedSchema }) },
    });
  });
  server.registerTool('grow', { inputSchema: words }, () => {
    server.registerTool('grown', { inputSchema: words }, () => say(`${name}: grown`));
    return say('grew');
  });
  server.registerTool('die', { inputSchema: words }, () => process.exit(3));
  server.registerResource('card', `card://${name}`, {}, () => ({
    contents: [{ uri: `card://${name}`, text: name }],
  }));
  return server;
});
