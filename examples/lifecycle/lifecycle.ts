/**
 * Every way a call can end, with what the result says and what listeners hear. Prints the table of
 * docs/lifecycle.md.
 */

import assert from 'node:assert/strict';
import {
  defineLayer,
  defineTool,
  type GovernedTools,
  type GovernOptions,
  governTools,
  isAlliumError,
  passThrough,
  refuse,
  type Tool,
  type ToolEvent,
  toolOutput,
  type ToolRequest,
  type ToolResult,
  withCall,
} from 'allium';
import { settle, testClock } from 'allium/conformance';
import { raise } from 'allium/layer';
import { dryRun } from 'allium/middleware';
import { z } from 'zod';

const clock = testClock();
const number = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
const never = () => new Promise<never>(() => {});

/** A tool called `work` whose answer the exit decides. */
const work = (execute: (args: { readonly n: number }) => unknown, more: Partial<Tool> = {}): Tool =>
  Object.freeze({
    ...defineTool({ name: 'work', description: 'Works.', inputSchema: number, execute }),
    ...more,
  });

const answers = work(({ n }) => n);
const sent: ToolRequest = { name: 'work', arguments: { n: 1 } };
const layer = (caller: Parameters<typeof defineLayer>[0]['caller']) =>
  defineLayer({ name: 'yours', caller });

interface Exit {
  readonly exit: string;
  /** As the table shows it: status, executed. */
  readonly ends: readonly [status: string, executed: string];
  readonly options?: Partial<GovernOptions>;
  readonly request?: ToolRequest;
  readonly run?: (governed: GovernedTools, request: ToolRequest) => Promise<ToolResult>;
}

const approval = {
  kind: 'approval_required',
  id: 'a1',
  fingerprint: 'f',
  shown: {},
  options: ['allow_once', 'reject_once'],
} as const;

const exits: readonly Exit[] = [
  { exit: 'the tool answers', ends: ['ok', 'yes'] },
  {
    exit: 'unknown tool',
    ends: ['tool_not_found', 'no'],
    request: { name: 'wrok', arguments: {} },
  },
  {
    exit: 'malformed JSON text',
    ends: ['schema_violation', 'no'],
    request: { name: 'work', arguments: '{"n": ' },
  },
  {
    exit: 'does not fit the shown schema',
    ends: ['schema_violation', 'no'],
    request: { name: 'work', arguments: { n: 'one' } },
  },
  {
    exit: 'cancelled before it began',
    ends: ['cancelled', 'no'],
    run: (governed, request) => governed.call(request, { signal: AbortSignal.abort() }),
  },
  {
    exit: 'a call limit is reached',
    ends: ['limit_exceeded', 'no'],
    options: { limits: { maxCallsPerSession: 0 } },
  },
  {
    exit: 'cancelled while it waits for a place',
    ends: ['cancelled', 'no'],
    options: { tools: [work(never)], limits: { maxConcurrent: 1 } },
    run: cancelledInQueue,
  },
  {
    exit: 'a layer refuses',
    ends: ['policy_blocked', 'no'],
    options: { layers: [layer((call) => refuse(call, 'policy_blocked', 'Not here.'))] },
  },
  {
    exit: 'a layer answers in its place',
    ends: ['dry_run', 'no'],
    options: { layers: [dryRun()] },
  },
  {
    exit: 'a layer throws',
    ends: ['tool_middleware_exception', 'no'],
    options: {
      layers: [
        layer(() => {
          throw new Error('broken');
        }),
      ],
    },
  },
  {
    exit: 'a layer raises',
    ends: ['policy_blocked', 'no'],
    options: { layers: [layer((call) => raise(refuse(call, 'policy_blocked', 'Not here.')))] },
    run: raised,
  },
  {
    exit: 'a layer pauses the call',
    ends: ['approval_required', 'no'],
    options: {
      layers: [
        layer((call) =>
          refuse(call, 'approval_required', 'Somebody has to allow this.', {
            interruption: approval,
          }),
        ),
      ],
    },
  },
  {
    exit: "a layer's change does not fit the own schema",
    ends: ['schema_violation', 'no'],
    options: { layers: [layer((call, next) => next(withCall(call, { toolArgs: {} })))] },
  },
  {
    exit: 'the schema library refuses',
    ends: ['schema_violation', 'no'],
    options: {
      tools: [
        defineTool({
          name: 'work',
          description: '',
          inputSchema: z.object({ n: z.number().refine((n) => n % 2 === 0) }),
          execute: () => 1,
        }),
      ],
    },
  },
  {
    exit: 'the tool throws',
    ends: ['executor_error', 'unknown'],
    options: { tools: [work(() => Promise.reject(new Error('no disk')))] },
  },
  {
    exit: 'the tool reports an error',
    ends: ['executor_error', 'yes'],
    options: {
      tools: [
        work(() =>
          toolOutput({ content: [{ type: 'text', text: 'no such file' }], isError: true }),
        ),
      ],
    },
  },
  {
    exit: 'the answer is not JSON',
    ends: ['executor_error', 'yes'],
    options: { tools: [work(() => 1n)] },
  },
  {
    exit: 'the answer is over maxResultBytes or maxResultValues',
    ends: ['executor_error', 'yes'],
    options: { tools: [work(() => 'long')], limits: { maxResultBytes: 3 } },
  },
  {
    exit: 'the answer does not fit the output schema',
    ends: ['output_schema_violation', 'yes'],
    options: { tools: [work(() => 'text', { outputSchema: { type: 'number' } })] },
  },
  {
    exit: 'the tool runs out of time',
    ends: ['timeout', 'unknown'],
    options: { tools: [work(never, { timeoutMs: 50 })] },
    run: timedOut,
  },
  {
    exit: 'cancelled while it runs',
    ends: ['cancelled', 'unknown'],
    options: { tools: [work(never)] },
    run: cancelledWhileRunning,
  },
];

const rows: string[] = [];
for (const { exit, ends, options, request = sent, run = plainly } of exits) {
  const governed = governTools({
    tools: [answers],
    clock,
    ...options,
    layers: [passThrough, ...(options?.layers ?? [])],
  });
  const events: ToolEvent[] = [];
  governed.on('*', (event) => {
    if (event.tool_call_id !== 'first') events.push(event);
  });
  const result = await run(governed, request);

  assert.deepEqual([result.status, result.executed], ends, exit);
  assert.equal(
    events.filter((event) => ['completed', 'failed', 'cancelled', 'paused'].includes(stepOf(event)))
      .length,
    1,
    exit,
  );
  rows.push(
    `| ${exit} | \`${result.status}\` | ${result.executed} | ${events.map(stepOf).join(', ')} |`,
  );
}

console.log(['| exit | status | executed | events |', '|---|---|---|---|', ...rows].join('\n'));

function stepOf(event: ToolEvent): string {
  if (event.type === 'tool_call' || event.type === 'tool_call_update') return event.status;
  return event.type === 'tool_call_audit' ? 'audit' : 'progress';
}

function plainly(governed: GovernedTools, request: ToolRequest): Promise<ToolResult> {
  return governed.call(request);
}

/** A raise reaches the host as an error that carries the result. */
async function raised(governed: GovernedTools, request: ToolRequest): Promise<ToolResult> {
  const error: unknown = await governed.call(request).catch((thrown: unknown) => thrown);
  assert.ok(isAlliumError(error, 'ERR_CALL_REFUSED') && error.result !== undefined);
  return error.result;
}

async function timedOut(governed: GovernedTools, request: ToolRequest): Promise<ToolResult> {
  const calling = governed.call(request);
  // The limit of the tool, then the grace in which it could still have said what it did.
  await clock.advance(50);
  await clock.advance(100);
  return calling;
}

async function cancelledWhileRunning(
  governed: GovernedTools,
  request: ToolRequest,
): Promise<ToolResult> {
  const controller = new AbortController();
  const calling = governed.call(request, { signal: controller.signal });
  await settle();
  controller.abort();
  await clock.advance(100);
  return calling;
}

async function cancelledInQueue(
  governed: GovernedTools,
  request: ToolRequest,
): Promise<ToolResult> {
  void governed.call({ ...request, id: 'first' });
  await settle();
  const controller = new AbortController();
  const calling = governed.call(request, { signal: controller.signal });
  await settle();
  controller.abort();
  return calling;
}
