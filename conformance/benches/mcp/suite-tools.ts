/** The tools that the official suite calls by name, as its scenarios describe them. */

/* oxlint-disable typescript/no-deprecated -- the suite is of a revision in which it was not */

import { setTimeout as pause } from 'node:timers/promises';
import type {
  CallToolResult,
  ElicitRequestFormParams,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server';

export interface SuiteTool {
  readonly description: string;
  readonly inputSchema?: Tool['inputSchema'];
  run(
    args: Readonly<Record<string, unknown>>,
    context: ServerContext,
  ): Promise<CallToolResult> | CallToolResult;
}

/** A red pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** A sound without a sample. */
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

const oneText = (name: string): Tool['inputSchema'] => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
});

const form = (
  message: string,
  properties: object,
  required?: string[],
): ElicitRequestFormParams => ({
  mode: 'form',
  message,
  // The kinds of fields are many, and the scenarios are about them.
  requestedSchema: {
    type: 'object',
    properties,
    ...(required === undefined ? {} : { required }),
  } as ElicitRequestFormParams['requestedSchema'],
});

async function ask(
  context: ServerContext,
  params: ElicitRequestFormParams,
): Promise<CallToolResult> {
  const { action, content } = await context.mcpReq.elicitInput(params);
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
];
const ENUMS = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: { type: 'array', items: { anyOf: TITLED } },
};

const USER = {
  username: { type: 'string', description: "User's response" },
  email: { type: 'string', description: "User's email address" },
};

async function reportProgress(context: ServerContext): Promise<void> {
  const progressToken = context.mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined)
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100 },
      });
    await pause(50);
  }
}

export const SUITE_TOOLS: Readonly<Record<string, SuiteTool>> = {
  test_simple_text: {
    description: 'Returns text',
    run: () => text('This is a simple text response for testing.'),
  },
  test_image_content: {
    description: 'Returns an image',
    run: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }),
  },
  test_audio_content: {
    description: 'Returns a sound',
    run: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'Returns a resource',
    run: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    description: 'Returns three kinds of content',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  },
  test_tool_with_logging: {
    description: 'Writes three log lines',
    async run(_args, { mcpReq }) {
      await mcpReq.log('info', 'Tool execution started');
      await pause(50);
      await mcpReq.log('info', 'Tool processing data');
      await pause(50);
      await mcpReq.log('info', 'Tool execution completed');
      return text('Logged three times.');
    },
  },
  test_error_handling: {
    description: 'Fails',
    run: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_progress: {
    description: 'Reports progress',
    async run(_args, context) {
      await reportProgress(context);
      return text('Done.');
    },
  },
  test_sampling: {
    description: 'Asks the model of the client',
    inputSchema: oneText('prompt'),
    async run({ prompt }, { mcpReq }) {
      const asked = {
        role: 'user' as const,
        content: { type: 'text' as const, text: String(prompt) },
      };
      const { content } = await mcpReq.requestSampling({ messages: [asked], maxTokens: 100 });
      return text(`LLM response: ${'text' in content ? content.text : JSON.stringify(content)}`);
    },
  },
  test_elicitation: {
    description: 'Asks the user',
    inputSchema: oneText('message'),
    async run({ message }, { mcpReq }) {
      const { action, content } = await mcpReq.elicitInput(
        form(String(message), USER, ['username', 'email']),
      );
      return text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
    },
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with defaults',
    run: (_args, context) => ask(context, form('Check', DEFAULTS)),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with enums',
    run: (_args, context) => ask(context, form('Choose', ENUMS)),
  },
  test_reconnection: {
    description: 'Closes its stream before it answers',
    async run(_args, { http }) {
      await pause(50);
      http?.closeSSE?.();
      await pause(50);
      return text('Reconnected.');
    },
  },
  json_schema_2020_12_tool: {
    description: 'Has a schema with references',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    run: () => text('Schema.'),
  },
};
