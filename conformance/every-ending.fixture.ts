/**
 * Calls that come to every ending there is, through real layers, for whoever checks what they leave
 * behind.
 */

import {
  consent,
  dryRun,
  handoffArtifact,
  idempotency,
  outputLimit,
  rateLimit,
  redaction,
  requiredReason,
  scopedExecutor,
  summary,
  timeout,
} from '../middleware/index.ts';
import {
  annotate,
  defineLayer,
  defineTool,
  governTools,
  type Logger,
  ok,
  refuse,
  STATUSES,
  type ToolEvent,
  type ToolLayer,
  type ToolProgress,
  type ToolRequest,
} from '../src/index.ts';
import { memoryOutputs } from '../src/dispatch/testing.fixture.ts';
import { testClock } from './test-kit.ts';

const object = {
  type: 'object',
  properties: { text: { type: 'string' } },
  additionalProperties: false,
} as const;

/** Terminal escapes, line breaks, half characters, quotes and length. */
export const HOSTILE = `\u001b[2J\u001b]0;x\u0007\r\n\u202e\u2028"'\\{}\ud800__proto__${'x'.repeat(3000)}`;

const handoff = {
  source_persona: 'a',
  target_persona_or_human: { kind: 'human', label: 'Ada' },
  task: 'Review',
  reason: 'Two tests changed',
};

const TOOLS = [
  defineTool({
    name: 'echo',
    description: 'Echoes.',
    inputSchema: object,
    annotations: { kind: 'read', readOnly: true },
    execute: (args) => args,
  }),
  defineTool({
    name: 'write',
    description: '',
    inputSchema: object,
    annotations: { kind: 'edit' },
    execute: () => null,
  }),
  defineTool({ name: 'plain', description: HOSTILE, inputSchema: object, execute: () => HOSTILE }),
  defineTool({
    name: 'constructor',
    description: '',
    inputSchema: object,
    executor: 'mcp_server',
    execute: () => [1, 'two', null],
  }),
  defineTool({
    name: 'fails',
    description: '',
    inputSchema: object,
    execute() {
      throw new Error(HOSTILE);
    },
  }),
  defineTool({
    name: 'hangs',
    description: '',
    inputSchema: object,
    execute: () => new Promise(() => {}),
  }),
  defineTool({ name: 'hands', description: '', inputSchema: object, execute: () => ({ handoff }) }),
  defineTool({
    name: 'nests',
    description: '',
    inputSchema: object,
    execute: async (_args, context) =>
      (await context.call({ name: 'echo', arguments: { text: 'inside' } })).result,
  }),
  defineTool({
    name: 'reports',
    description: '',
    inputSchema: object,
    execute(_args, { report }) {
      report({});
      report({ progress: 0.5, total: 1, message: HOSTILE });
      // A tool in plain JavaScript may report anything.
      report({
        progress: Number.NaN,
        total: 'all',
        message: 7,
        more: {},
      } as unknown as ToolProgress);
      return 'done';
    },
  }),
];

const refusing = (status: string): ToolLayer =>
  defineLayer({ name: 'refusing', caller: (call) => refuse(call, status, HOSTILE) });
const answering = (status: string): ToolLayer =>
  defineLayer({ name: 'answering', caller: (call) => ok(call, 'x', { status }) });

const throwing = defineLayer({
  name: 'throwing',
  caller() {
    throw new Error(HOSTILE);
  },
});

/** A layer that writes what it likes into the audit record. */
const chatty = defineLayer({
  name: 'chatty',
  async caller(call, next) {
    const metadata = { [HOSTILE]: { deepName: [HOSTILE] }, __proto__: 1 };
    const line = { name: 'step', status: 'done', startedAt: '', endedAt: '', extraDetail: [1] };
    return annotate(
      await next(call),
      { ownKey: { innerName: null }, metadata, layers: [line] },
      { status: 'own', moreDetails: [{}] },
    );
  },
});

/** Turns every digit into a mask, those of times too. */
const masking = defineLayer({
  name: 'masking',
  scrub: (text) => text.replace(/\d/g, '#'),
  caller: chatty.caller,
});

interface Story {
  readonly name: string;
  readonly layers?: readonly ToolLayer[];
  readonly requests: readonly ToolRequest[];
  readonly abort?: boolean;
}

const call = (name: string, args: ToolRequest['arguments'] = {}): ToolRequest => ({
  name,
  arguments: args,
});

const stories = (): readonly Story[] => [
  {
    name: 'well',
    requests: [
      call('echo', { text: 'hi' }),
      call('write'),
      call('plain'),
      call('constructor'),
      call('echo', '{"text":"a"}'),
    ],
  },
  { name: 'unknown', requests: [call('nobody'), call(HOSTILE)] },
  {
    name: 'malformed',
    requests: [call('echo', { text: 5 }), call('echo', '{'), call('echo', { [HOSTILE]: 1 })],
  },
  { name: 'broken', layers: [throwing], requests: [call('echo')] },
  { name: 'failed', requests: [call('fails')] },
  { name: 'late', layers: [timeout({ maxMs: 10 })], requests: [call('hangs')] },
  { name: 'gone', requests: [call('hangs')], abort: true },
  { name: 'denied', layers: [consent(() => false)], requests: [call('write')] },
  {
    name: 'approved',
    layers: [consent(() => ({ decision: 'approved', decidedBy: HOSTILE, reason: HOSTILE }))],
    requests: [call('write')],
  },
  { name: 'asked', layers: [consent({})], requests: [call('write')] },
  { name: 'previewed', layers: [dryRun()], requests: [call('write')] },
  { name: 'limited', layers: [rateLimit({ maxCalls: 1 })], requests: [call('echo'), call('echo')] },
  {
    name: 'scoped',
    layers: [scopedExecutor({ stage: HOSTILE, allowedTools: ['echo'] })],
    requests: [call('echo'), call('write')],
  },
  {
    name: 'raised',
    layers: [scopedExecutor({ allowedTools: [], onViolation: 'raise' })],
    requests: [call('echo')],
  },
  {
    name: 'masked',
    layers: [consent(() => true), requiredReason(), redaction({ detectors: ['email'] })],
    requests: [
      call('echo', { text: 'ada@example.org', reason: 'ask bob@example.org' }),
      call('echo', { text: 'a' }),
    ],
  },
  {
    name: 'withheld',
    layers: [redaction(() => Promise.reject(new Error(HOSTILE)))],
    requests: [call('echo')],
  },
  {
    name: 'reasoned',
    layers: [summary(() => HOSTILE), requiredReason({ onMissing: 'fill_blank' })],
    requests: [call('echo')],
  },
  {
    name: 'remembered',
    layers: [idempotency({ key: () => 'k' })],
    requests: [call('echo'), call('echo')],
  },
  { name: 'handed over', layers: [handoffArtifact()], requests: [call('hands')] },
  {
    name: 'cut',
    layers: [outputLimit({ maxBytes: 512, store: memoryOutputs() })],
    requests: [call('plain')],
  },
  { name: 'nested', requests: [call('nests')] },
  { name: 'reported', requests: [call('reports')] },
  { name: 'written about', layers: [chatty], requests: [call('echo')] },
  { name: 'written about and masked', layers: [masking], requests: [call('echo'), call('fails')] },
  ...Object.entries(STATUSES).map(([status, row]) => ({
    name: status,
    layers: [row.ok ? answering(status) : refusing(status)],
    requests: [call('write')],
  })),
  { name: 'own status', layers: [refusing(HOSTILE), answering('x')], requests: [call('write')] },
];

const TURNS = [
  { sessionId: 'session-1', iteration: 1 },
  {
    sessionId: HOSTILE,
    iteration: 3,
    runId: HOSTILE,
    model: 'm',
    provider: 'p',
    emitOrder: 2,
    turnId: 't',
  },
];

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Runs all of them inside the layers given, once in an ordinary session and once in a hostile one.
 * Answers what listeners heard. `except` leaves out what has a layer of this name, for those that
 * must not stand outside of it.
 */
export async function runEveryEnding(
  outside: readonly ToolLayer[],
  except?: string,
): Promise<readonly ToolEvent[]> {
  const events: ToolEvent[] = [];
  for (const turn of TURNS) {
    for (const { layers = [], requests, abort = false } of stories().filter(
      ({ layers }) => !layers?.some(({ name }) => name === except),
    )) {
      const clock = testClock();
      const governed = governTools({
        tools: TOOLS,
        layers: [...outside, ...layers],
        clock,
        logger: quiet,
      });
      governed.on('*', (event) => events.push(event));
      for (const request of requests) {
        const leaving = new AbortController();
        // A raise is an ending like the others.
        const answered = governed.call(request, { turn, signal: leaving.signal }).catch(() => null);
        const state = { ended: false };
        void answered.then(() => (state.ended = true));
        // Real files take their time, and only then does a layer inside set its timer.
        while (!state.ended) {
          await clock.advance(1_000);
          if (abort) leaving.abort();
        }
      }
    }
  }
  return events;
}
