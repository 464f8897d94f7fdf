/**
 * The server that the official suite runs on: with everything that its scenarios ask for, and
 * nothing of ours.
 */

/* oxlint-disable typescript/no-deprecated -- the suite is of a revision in which it was not */

import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { PIXEL, SUITE_TOOLS } from './suite-tools.ts';

const RESOURCES = [
  { uri: 'test://static-text', name: 'text', description: 'Text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'binary', description: 'A picture', mimeType: 'image/png' },
  {
    uri: 'test://watched-resource',
    name: 'watched',
    description: 'May change',
    mimeType: 'text/plain',
  },
];

const PROMPTS = [
  { name: 'test_simple_prompt', description: 'No arguments' },
  {
    name: 'test_prompt_with_arguments',
    description: 'Two arguments',
    arguments: required('arg1', 'arg2'),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A resource',
    arguments: required('resourceUri'),
  },
  { name: 'test_prompt_with_image', description: 'An image' },
];

function required(
  ...names: readonly string[]
): { name: string; description: string; required: boolean }[] {
  return names.map((name) => ({ name, description: name, required: true }));
}

const user = <T>(content: T): { role: 'user'; content: T } => ({ role: 'user', content });

/** The messages of a prompt. */
function messagesOf(
  name: string,
  args: Readonly<Record<string, string>>,
): ReturnType<typeof user>[] {
  const say = (text: string) => user({ type: 'text', text });
  const { arg1 = '', arg2 = '', resourceUri: uri = '' } = args;
  const resource = { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' };
  const messages: Readonly<Record<string, ReturnType<typeof user>[]>> = {
    test_simple_prompt: [say('This is a simple prompt for testing.')],
    test_prompt_with_arguments: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    test_prompt_with_embedded_resource: [
      user({ type: 'resource', resource }),
      say('Please process the embedded resource above.'),
    ],
    test_prompt_with_image: [
      user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
      say('Please analyze the image above.'),
    ],
  };
  return messages[name] ?? unknown('prompt');
}

function contentsOf(uri: string): object {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined)
    return {
      uri,
      mimeType: 'application/json',
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PIXEL };
  if (RESOURCES.some((resource) => resource.uri === uri))
    return {
      uri,
      mimeType: 'text/plain',
      text: 'This is the content of the static text resource.',
    };
  return unknown('resource');
}

const unknown = (what: string): never => {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown ${what}`);
};

export function suiteServer(): Server {
  const server = new Server(
    { name: 'suite-server', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(SUITE_TOOLS).map(
      ([name, { description, inputSchema = { type: 'object' as const } }]) => ({
        name,
        description,
        inputSchema,
      }),
    ),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = SUITE_TOOLS[params.name] ?? unknown('tool');
    return tool.run(params.arguments ?? {}, context);
  });
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'By id',
        mimeType: 'application/json',
      },
    ],
  }));
  // The SDK checks what it sends, so the shapes need no types here.
  server.setRequestHandler('resources/read', ({ params }) => ({
    contents: [contentsOf(params.uri) as never],
  }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }));
  server.setRequestHandler('prompts/get', ({ params }) => ({
    messages: messagesOf(params.name, params.arguments ?? {}) as never,
  }));
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
  }));
  return server;
}
