/** The published schema of scenario files. */

import type { JsonObject } from '../../src/index.ts';

const text = (description: string): JsonObject => ({ type: 'string', minLength: 1, description });
const object = (description: string): JsonObject => ({ type: 'object', description });
const closed = (
  description: string,
  properties: JsonObject,
  required: readonly string[] = [],
): JsonObject => ({
  type: 'object',
  description,
  properties,
  required: [...required],
  additionalProperties: false,
});

const expectation: JsonObject = {
  description: 'What is to be seen: by subset, or by one of the forms that begin with "$".',
};

const callMembers: JsonObject = {
  call: text('The tool.'),
  args: object('The arguments.'),
  raw: { type: 'string', description: 'The arguments as the model wrote them, instead of "args".' },
  id: { type: 'string', description: 'The id of the call.' },
  turn: object('Members of the turn: iteration, sessionId, runId, model, …'),
  expect: expectation,
};

const call = closed('A call.', callMembers, ['call']);

const answerMembers: JsonObject = {
  respond: { description: 'The value that the tool returns.' },
  output: closed('An answer in the shape of MCP.', {
    content: { type: 'array', items: { type: 'object' } },
    structuredContent: { type: 'object' },
    isError: { type: 'boolean' },
  }),
  throw: {
    description: 'The error that the tool throws.',
    anyOf: [
      { type: 'string' },
      closed(
        'An error whose executor knows more.',
        {
          message: { type: 'string' },
          category: { type: 'string' },
          errorClass: { enum: ['retryable', 'repairable', 'fatal'] },
          executed: { enum: ['no', 'yes', 'unknown'] },
        },
        ['message'],
      ),
    ],
  },
  hang: {
    enum: [true, 'forever'],
    description: 'Answers never: until it is aborted, or not even then.',
  },
  call: closed(
    'Calls another tool through the same stack, and answers with its status, error and result.',
    {
      tool: text('The other tool.'),
      args: object('Its arguments.'),
    },
  ),
  afterMs: {
    type: 'number',
    minimum: 0,
    description: 'How long it takes, by the clock of the scenario.',
  },
  progress: {
    type: 'array',
    items: { type: 'object' },
    description: 'Reports of progress before that.',
  },
};

const answer: JsonObject = {
  description: 'What a tool does when it is called.',
  anyOf: [{ const: 'echo' }, { ...closed('One answer.', answerMembers), minProperties: 1 }],
};

const tool = closed(
  'A tool whose answers are scripted.',
  {
    name: text('Its name.'),
    description: { type: 'string', description: 'What the model reads.' },
    inputSchema: object('The schema of its arguments. Left out: any object.'),
    outputSchema: object('The schema of its structured result.'),
    annotations: object('Kind, hints, side effects.'),
    executor: { enum: ['local', 'host_bridge', 'mcp_server', 'provider_native'] },
    timeoutMs: { type: 'integer', minimum: 1 },
    retry: object('How it may be tried again.'),
    idempotency: { enum: ['none', 'safe', 'keyed'] },
    metadata: object('Free.'),
    injected: {
      type: 'array',
      items: closed(
        'A hidden argument.',
        { name: text('Its name.'), from: text('Where it comes from.') },
        ['name', 'from'],
      ),
    },
    proposes: {
      description:
        'What it says it is about to do: a list of requests, in which { $arg: name } stands for an argument; { throw: text } throws; anything else is answered as it is.',
    },
    answers: {
      ...answer,
      description: 'What it does every time. Left out: it answers with its arguments.',
    },
    script: {
      type: 'array',
      items: answer,
      description: 'What it does, call by call. Every answer must be asked for, and no more.',
    },
  },
  ['name'],
);

const host = closed('What the host hands over beside tools and layers.', {
  limits: object('Limits of the dispatcher.'),
  onUnknownTool: { enum: ['repair', 'throw'] },
  onInvalidArgs: { enum: ['repair', 'throw'] },
  state: {},
  stores: object('By name.'),
  secrets: { type: 'object', additionalProperties: { type: 'string' } },
  grants: { type: 'boolean', description: 'Whether answers for always are kept.' },
  prompts: {
    type: 'array',
    items: { type: 'object', minProperties: 1, maxProperties: 1 },
    description: 'Channels on which a person is asked.',
  },
});

const decision = object(
  'The decision: decision, decidedBy, reason, args, result. What is none is refused.',
);

const resumeMembers: JsonObject = {
  resume: text('The id of the call that waits.'),
  decision,
  begin: text('Begins under this name and goes on.'),
  expect: expectation,
};

const step: JsonObject = {
  description: 'One thing that is done.',
  oneOf: [
    closed(
      'A call. Waits for its result, unless it is only begun.',
      { ...callMembers, begin: text('Begins the call under this name and goes on.') },
      ['call'],
    ),
    closed(
      'Calls that are begun together.',
      {
        parallel: {
          type: 'array',
          items: { anyOf: [call, closed('A call that is taken up.', resumeMembers, ['resume'])] },
          minItems: 1,
        },
        times: { type: 'integer', minimum: 1 },
        expect: expectation,
      },
      ['parallel'],
    ),
    closed(
      'A batch.',
      {
        batch: { type: 'array', items: call },
        maxConcurrent: { type: 'integer' },
        turn: object('Members of the turn.'),
        begin: text('Begins the batch under this name and goes on.'),
        expect: expectation,
      },
      ['batch'],
    ),
    closed('Moves the clock on.', { advance: { type: 'number', minimum: 0 } }, ['advance']),
    closed(
      'The caller of a call that was begun goes away.',
      { abort: text('The name it was begun under.') },
      ['abort'],
    ),
    closed(
      'The result of a call that was begun.',
      { result: text('The name it was begun under.'), expect: expectation },
      ['result'],
    ),
    closed(
      'What the model is shown.',
      {
        advertise: object('Members of the turn.'),
        select: { type: 'array', items: { type: 'string' } },
        expect: expectation,
      },
      ['advertise'],
    ),
    closed(
      'Records a call that ran elsewhere.',
      {
        observe: text('The tool.'),
        args: object('Its arguments.'),
        output: {},
        id: { type: 'string' },
        expect: expectation,
      },
      ['observe', 'output'],
    ),
    closed(
      'Closes the stack.',
      { close: { const: true }, begin: text('Begins to close under this name and goes on.') },
      ['close'],
    ),
    closed(
      'Takes up a call that waits. Without a decision: with the one that was written down.',
      resumeMembers,
      ['resume'],
    ),
    closed(
      'Writes down what somebody decided about a call that waits. Nothing runs.',
      { answer: text('The id of the call.'), decision, expect: expectation },
      ['answer', 'decision'],
    ),
    closed(
      'A new stack over the same stores, as another process has it.',
      {
        restart: closed('What is different there.', {
          tools: { type: 'array', items: tool, description: 'Other tools.' },
          layers: { type: 'array', description: 'Other layers.' },
          host,
        }),
      },
      ['restart'],
    ),
  ],
};

/** JSON Schema (2020-12) of one scenario. */
export const SCENARIO_SCHEMA: JsonObject = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:allium:schema:scenario',
  title: 'allium scenario',
  ...closed(
    'One behaviour of a stack, written as data.',
    {
      id: {
        type: 'string',
        pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$',
        description: 'Unique in a suite: <area>.<what it shows>.',
      },
      title: text('A statement that is true when the scenario passes.'),
      requirement: {
        type: 'string',
        pattern: '^[A-Z]+-[0-9]+$',
        description: 'The id of the requirement it proves.',
      },
      source: {
        anyOf: [
          text('Where the requirement comes from.'),
          { type: 'array', items: text('One source.'), minItems: 1 },
        ],
      },
      tools: {
        type: 'array',
        items: tool,
        description: 'Left out: one tool "echo" that answers with its arguments.',
      },
      layers: {
        type: 'array',
        description:
          'The stack as in a config file, outermost first. "$script", "$always", "$sink", "$outputs", "$pins", "$tempFile" and "$files" stand for what is no data.',
      },
      host,
      steps: { type: 'array', items: step, description: 'What is done, one after the other.' },
      expect: closed('What is to be seen once everything is closed.', {
        throws: expectation,
        received: expectation,
        events: expectation,
        receipts: expectation,
        spans: expectation,
        sinks: object('By name.'),
        files: expectation,
        outputs: expectation,
        logs: expectation,
        timers: expectation,
        nowhere: {
          type: 'array',
          items: text('A text that must not be seen anywhere but by the tools.'),
          minItems: 1,
        },
      }),
    },
    ['id', 'title'],
  ),
});
