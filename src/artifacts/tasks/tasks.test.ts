import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { recordingSink, settle, testClock } from '../../../conformance/index.ts';
import {
  auditLog,
  consent,
  idempotency,
  rateLimit,
  redaction,
  requiredReason,
  timeout,
} from '../../../middleware/index.ts';
import {
  defineTool,
  governTools,
  type JsonObject,
  type Tool,
  type ToolEvent,
  type ToolLayer,
  type ToolResult,
} from '../../index.ts';
import { memoryApprovals } from '../../approvals/store/approval-stores.ts';
import { memoryTasks } from '../../stores/memory/memory-tasks.ts';
import { asyncTool } from './async-tool.ts';
import { createTaskBoard, type TaskBoardOptions } from './task-board.ts';
import { taskTools } from './task-tools.ts';

interface Receipt extends JsonObject {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly status: string;
  readonly executed: string;
}

const INPUT = {
  type: 'object',
  properties: { target: { type: 'string' } },
  required: ['target'],
  additionalProperties: false,
} as const;

/** A tool that runs until it is told to end, or its signal aborts. */
function buildTool() {
  const runs: {
    readonly args: object;
    readonly end: (value: unknown) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const tool = defineTool({
    name: 'build',
    description: 'Builds.',
    inputSchema: INPUT,
    outputSchema: { type: 'object', required: ['built'] },
    annotations: { kind: 'execute', destructive: false },
    execute: (args, { signal }) =>
      new Promise((resolve, reject) => {
        runs.push({ args, end: resolve, fail: reject });
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  });
  return { tool, runs };
}

function start(
  layers: readonly ToolLayer[] = [],
  boardOptions: TaskBoardOptions = {},
  more: readonly Tool[] = [],
  options: object = {},
) {
  const { tool, runs } = buildTool();
  const receipts = recordingSink<Receipt>();
  const board = createTaskBoard(boardOptions);
  const governed = governTools({
    tools: [asyncTool(tool, board), ...taskTools(board), ...more],
    layers: [auditLog((receipt) => receipts(receipt as unknown as Receipt)), ...layers],
    ...options,
  });
  const events: ToolEvent[] = [];
  governed.on('*', (event) => events.push(event));
  const turn = { sessionId: 's' };
  const call = (name: string, args: object, sessionId = 's') =>
    governed.call({ name, arguments: args }, { turn: { sessionId } });
  const begin = async (args: object = { target: 'all' }) => idIn(await call('build', args));
  return { governed, board, runs, receipts: receipts.records, events, turn, call, begin };
}

const idIn = (result: ToolResult): string =>
  (result.result as { readonly task_id: string }).task_id;
const statuses = (receipts: readonly Receipt[], id: string) =>
  receipts
    .filter((receipt) => receipt.tool_call_id === id)
    .map(({ status, executed }) => `${status} ${executed}`);

describe('an async tool', () => {
  it('answers with a task at once, and the tool has done nothing yet', async () => {
    const { call, runs, receipts, governed } = start();
    const result = await call('build', { target: 'all' });

    expect(result).toMatchObject({
      ok: true,
      status: 'ok',
      executed: 'no',
      result: { task_id: expect.stringMatching(/^task_/) as unknown, status: 'running' },
    });
    await settle();
    expect(runs).toHaveLength(1);
    expect(statuses(receipts, result.toolCallId)).toEqual(['ok no']);
    expect(receipts[0]?.audit).toMatchObject({ metadata: { task_id: idIn(result) } });
    await governed.close();
  });

  it('runs under the id of its task, and that run has one receipt and its own events', async () => {
    const { begin, call, runs, receipts, events, governed } = start();
    const id = await begin();
    await settle();
    runs[0]?.end({ built: true });
    const ended = await call('task_await', { task_id: id });

    expect(ended.result).toMatchObject({
      task_id: id,
      tool: 'build',
      status: 'completed',
      outcome: 'ok',
      executed: 'yes',
      result: { built: true },
    });
    expect(statuses(receipts, id)).toEqual(['ok yes']);
    expect(events.filter((event) => event.tool_call_id === id).map(({ type }) => type)).toEqual([
      ...['tool_call', 'tool_call_update', 'tool_call_audit', 'tool_call_update'],
    ]);
    await governed.close();
  });

  it('tells who listens, with what the model would read', async () => {
    const { begin, call, runs, events, governed } = start();
    const id = await begin();
    await settle();
    runs[0]?.end({ built: true });
    await call('task_await', { task_id: id });
    const told = events.filter((event) => event.type === 'task');

    expect(told.map(({ task_id: task, status, content }) => [task, status, content])).toEqual([
      [id, 'running', undefined],
      [id, 'completed', '{"built":true}'],
    ]);
    await governed.close();
  });

  it('outlives the turn and the caller that started it', async () => {
    const { governed, runs, board } = start();
    const caller = new AbortController();
    const result = await governed.call(
      { name: 'build', arguments: { target: 'a' } },
      { turn: { sessionId: 's' }, signal: caller.signal },
    );
    caller.abort();
    await settle();
    runs[0]?.end({ built: 1 });

    expect(await board.await(idIn(result), 's')).toMatchObject({ state: 'completed' });
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
    await governed.close();
  });

  it('holds the run to the promised form of its answer, and not the start', async () => {
    const { begin, board, runs, governed } = start();
    const id = await begin();
    await settle();
    runs[0]?.end('nothing of the kind');

    expect(await board.await(id, 's')).toMatchObject({
      state: 'failed',
      answer: { status: 'output_schema_violation', executed: 'yes' },
    });
    await governed.close();
  });

  it('is not started with arguments that do not fit', async () => {
    const { call, runs, board, governed } = start();
    const result = await call('build', { target: 7 });

    expect(result).toMatchObject({ status: 'schema_violation', executed: 'no' });
    await board.close();
    expect(runs).toHaveLength(0);
    await governed.close();
  });

  it('shows the model what to do with the answer, and no output schema', () => {
    const { governed } = start();
    const shown = governed.tools.find(({ name }) => name === 'build');

    expect(shown?.description).toContain('task_await');
    expect(shown?.outputSchema).toBeUndefined();
  });

  it('is not made of one that is async already', () => {
    const board = createTaskBoard();
    const tool = asyncTool(buildTool().tool, board);

    expect(() => asyncTool(tool, board)).toThrow(/already/);
  });
});

describe('the run of a task', () => {
  it('passes every layer once, with what the model sent, under a stack that asks, strips, cleans, counts and keeps', async () => {
    const asked: string[] = [];
    const layers = [
      consent((call) => (asked.push(`${call.toolName} ${call.callId}`), true)),
      requiredReason(),
      idempotency({ mode: 'effect', key: (call) => JSON.stringify(call.toolArgs) }),
      redaction(),
      rateLimit({ maxCalls: 3 }),
      timeout({ maxMs: 60_000 }),
    ];
    const { call, runs, board, receipts, governed } = start(layers);
    const id = idIn(await call('build', { target: 'all', reason: 'the release' }));
    await settle();
    runs[0]?.end({ built: true });

    expect(await board.await(id, 's')).toMatchObject({
      state: 'completed',
      answer: { result: { built: true } },
    });
    expect(runs.map(({ args }) => args)).toEqual([{ target: 'all' }]);
    expect(asked).toEqual([`build ${id}`]);
    expect(receipts.find((receipt) => receipt.tool_call_id === id)).toMatchObject({
      reason: 'the release',
      status: 'ok',
    });
    await governed.close();
  });

  it('is refused there, and the tool does not run', async () => {
    const { begin, board, runs, receipts, governed } = start([consent(() => false)]);
    const id = await begin();

    expect(await board.await(id, 's')).toMatchObject({
      state: 'failed',
      answer: { status: 'consent_denied', executed: 'no' },
    });
    expect(runs).toHaveLength(0);
    expect(statuses(receipts, id)).toEqual(['consent_denied no']);
    await governed.close();
  });

  it('waits for a person who is asked later, and ends when the call is resumed', async () => {
    const approvals = memoryApprovals();
    const { begin, board, runs, receipts, governed } = start(
      [consent({ default: 'ask' })],
      {},
      [],
      { approvals },
    );
    const id = await begin();
    await settle();
    await settle();
    expect(await board.poll(id, 's')).toMatchObject({ state: 'waiting', endedAt: null });
    const [approval] = await approvals.list();
    const resumed = governed.resume(approval?.id ?? '', {
      decision: 'allow_once',
      decidedBy: 'ada',
    });
    await settle();
    runs[0]?.end({ built: true });
    await resumed;

    expect(await board.await(id, 's')).toMatchObject({
      state: 'completed',
      answer: { result: { built: true } },
    });
    expect(statuses(receipts, id)).toEqual(['approval_required no', 'ok yes']);
    await governed.close();
  });

  it('takes no place from those that ask after it', async () => {
    const { begin, call, governed } = start([], {}, [], { limits: { maxConcurrent: 1 } });
    const id = await begin();
    await settle();

    expect((await call('task_poll', { task_id: id })).result).toMatchObject({ status: 'running' });
    await governed.close();
  });
});

describe('a task', () => {
  it('is cancelled by its id, ends as cancelled, and has one receipt', async () => {
    const { begin, call, receipts, governed } = start();
    const id = await begin();
    await settle();

    expect((await call('task_cancel', { task_id: id })).result).toMatchObject({
      status: 'cancelled',
      outcome: 'cancelled',
    });
    expect((await call('task_cancel', { task_id: id })).result).toMatchObject({
      status: 'cancelled',
    });
    expect(statuses(receipts, id)).toEqual(['cancelled unknown']);
    await governed.close();
  });

  it('that runs out of time has one receipt that says so', async () => {
    const clock = testClock();
    const { begin, board, receipts, governed } = start([timeout({ maxMs: 100 })], { clock }, [], {
      clock,
    });
    const id = await begin();
    await clock.advance(300);

    expect(await board.poll(id, 's')).toMatchObject({
      state: 'failed',
      answer: { status: 'timeout' },
    });
    expect(statuses(receipts, id)).toEqual(['timeout unknown']);
    await governed.close();
  });

  it('that fails says why', async () => {
    const { begin, call, runs, governed } = start();
    const id = await begin();
    await settle();
    runs[0]?.fail(new Error('no space left'));

    expect((await call('task_await', { task_id: id })).result).toMatchObject({
      status: 'failed',
      error: 'no space left',
    });
    await governed.close();
  });

  it('is ended by close, which waits for its receipt', async () => {
    const { begin, receipts, events, board, governed } = start();
    const ids = [await begin(), await begin({ target: 'b' })];
    await settle();
    await governed.close();

    expect(ids.map((id) => statuses(receipts, id))).toEqual([
      ['cancelled unknown'],
      ['cancelled unknown'],
    ]);
    expect(
      events.filter((event) => event.type === 'task' && event.status === 'cancelled'),
    ).toHaveLength(2);
    expect(await board.poll(ids[0] ?? '', 's')).toMatchObject({ state: 'cancelled' });
  });

  it('that was started while the dispatcher closes still gets its ending', async () => {
    const { call, receipts, governed } = start();
    const started = call('build', { target: 'late' });
    const closed = governed.close();
    const id = idIn(await started);
    await closed;

    expect(statuses(receipts, id)).toEqual(['cancelled no']);
  });

  it('is waited for no longer than asked, and waiting leaves nothing behind', async () => {
    const clock = testClock();
    const { begin, board, governed } = start([], { clock, maxWaitMs: 50 });
    const id = await begin();
    const caller = new AbortController();
    const waits = [
      board.await(id, 's', { timeoutMs: 10 }),
      board.await(id, 's', { timeoutMs: 9_000 }),
      board.await(id, 's', { signal: caller.signal }),
    ];
    await settle();
    caller.abort();
    await clock.advance(50);

    expect((await Promise.all(waits)).map((task) => task?.state)).toEqual([
      'running',
      'running',
      'running',
    ]);
    expect(clock.pending).toBe(0);
    await governed.close();
  });

  it('is known to its own session only', async () => {
    const { begin, call, board, governed } = start();
    const id = await begin();

    for (const name of ['task_poll', 'task_await', 'task_cancel']) {
      const stranger = await call(name, { task_id: id }, 'other');
      const nobody = await call(name, { task_id: 'task_none' }, 'other');
      expect(stranger).toMatchObject({ ok: false, errorCategory: 'unknown_task' });
      expect(stranger.error?.replace(id, '')).toBe(nobody.error?.replace('task_none', ''));
    }
    expect(await board.poll(id, 's')).toMatchObject({ state: 'running' });
    await governed.close();
  });

  it('is not started where too many run, and the model is told what to do', async () => {
    const { begin, call, runs, governed } = start([], { store: memoryTasks({ maxRunning: 1 }) });
    await begin();
    const second = await call('build', { target: 'b' });

    expect(second).toMatchObject({
      status: 'executor_error',
      errorCategory: 'too_many_tasks',
      errorClass: 'retryable',
      executed: 'no',
    });
    expect(second.error).toContain('task_await');
    await settle();
    expect(runs).toHaveLength(1);
    await governed.close();
  });

  it('is started by a tool like by a model, and no wider', async () => {
    const starter = defineTool({
      name: 'release',
      description: 'd',
      inputSchema: { type: 'object' },
      execute: async (_args, context) =>
        (await context.call({ name: 'build', arguments: { target: 'nested' } })).result,
    });
    const { call, board, runs, receipts, governed } = start([], {}, [starter]);
    const id = idIn(await call('release', {}));
    await settle();
    runs[0]?.end({ built: true });

    expect(await board.await(id, 's')).toMatchObject({ state: 'completed' });
    expect(statuses(receipts, id)).toEqual(['ok yes']);
    await governed.close();
  });

  it('is not begun once its board is closed, also where the store takes its time', async () => {
    const board = createTaskBoard();
    const ran: string[] = [];
    const starting = board.start(
      { toolName: 'build', callId: 'c', sessionId: 's' },
      (id) => Promise.reject(new Error(`${ran.push(id)} ran`)),
      () => {},
    );
    await Promise.all([
      expect(starting).rejects.toThrow('No more tasks are started'),
      board.close(),
    ]);

    expect(ran).toEqual([]);
  });

  it('is cancelled by the close of its board, which waits until it has ended', async () => {
    const board = createTaskBoard();
    const { tool, runs } = buildTool();
    const governed = governTools({ tools: [asyncTool(tool, board)], layers: [] });
    const id = idIn(
      await governed.call(
        { name: 'build', arguments: { target: 'all' } },
        { turn: { sessionId: 's' } },
      ),
    );
    await settle();
    await board.close();

    expect(runs).toHaveLength(1);
    expect(await board.poll(id, 's')).toMatchObject({ state: 'cancelled' });
    await governed.close();
  });

  it('leaves no place taken when it is not begun', async () => {
    const store = memoryTasks({ maxRunning: 1 });
    const board = createTaskBoard({ store });
    const starting = board.start(
      { toolName: 'build', callId: 'c', sessionId: 's' },
      () => new Promise(() => {}),
      () => {},
    );
    await Promise.allSettled([starting, board.close()]);

    expect(store.open({ id: 'next', toolName: 'build', callId: 'd', sessionId: 's' })).toBe(true);
  });

  it.each<[string, () => Promise<boolean>]>([
    ['rejects', () => Promise.reject(new Error('disk'))],
    [
      'throws',
      () => {
        throw new Error('disk');
      },
    ],
  ])('whose store %s keeps nobody waiting', async (_how, fails) => {
    const inner = memoryTasks();
    const store = { ...inner, settle: fails };
    const { begin, board, runs, governed } = start([], { store });
    const id = await begin();
    await settle();
    runs[0]?.end({ built: true });

    expect(await board.await(id, 's')).toMatchObject({ state: 'running' });
    await governed.close();
  });
});
