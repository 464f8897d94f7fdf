import { describe, expect, it } from 'vitest';
import { annotate, refuse, withResult } from '../../core/onion/results.ts';
import { settle } from '../../../conformance/test-kit.ts';
import { auditLog } from '../../../middleware/index.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { defineLayer, passThrough } from '../../core/contract/layer.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { EventListener } from '../events/events.ts';
import { setup, storyOf } from '../testing.fixture.ts';

const frozenInDepth = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(frozenInDepth));

const tracing = (name: string, trace: string[], observes: boolean) =>
  defineLayer({
    name,
    observes,
    async caller(call, next) {
      trace.push(`${name} in`);
      const result = await next(call);
      trace.push(`${name} out`);
      return result;
    },
  });

describe('the lifecycle of a call', () => {
  it('tells pending, in_progress, the audit record and one ending, in this order', async () => {
    const { governed, events } = setup({ layers: [passThrough] });

    const result = await governed.call({ name: 'echo', arguments: { text: 'hi' }, id: 'c1' });

    expect(result).toMatchObject({
      ok: true,
      status: 'ok',
      executed: 'yes',
      toolCallId: 'c1',
      result: { text: 'hi' },
    });
    expect(storyOf(events)).toEqual(['pending', 'in_progress', 'audit', 'completed']);
    expect(events.map((event) => event.tool_call_id)).toEqual(['c1', 'c1', 'c1', 'c1']);
  });

  it('belongs to the session of its dispatcher where a turn names none', async () => {
    const { governed, events } = setup();
    const nameless: object = { sessionId: undefined, iteration: undefined };

    await governed.call({ name: 'echo', arguments: {} });
    await governed.call({ name: 'echo', arguments: {} }, { turn: nameless });
    const [first, ...others] = events.map((event) => event.session_id);

    expect(first).toMatch(/./);
    expect(new Set(others)).toEqual(new Set([first]));
  });

  it('has no audit event where there is no audit record', async () => {
    const { governed, events } = setup();

    const result = await governed.call({ name: 'echo', arguments: {} });

    expect(result.audit).toBeUndefined();
    expect(storyOf(events)).toEqual(['pending', 'in_progress', 'completed']);
  });

  it('tells listeners everything before the call resolves', async () => {
    const { governed, events } = setup();
    const seen = await governed.call({ name: 'echo', arguments: {} }).then(() => events.length);

    expect(seen).toBe(3);
  });

  it('runs observing layers around admission and the others inside it', async () => {
    const trace: string[] = [];
    const layers = [
      tracing('watch', trace, true),
      tracing('act', trace, false),
      tracing('late', trace, true),
    ];
    const { governed } = setup({ layers });

    await governed.call({ name: 'nobody', arguments: {} });
    expect(trace).toEqual(['watch in', 'watch out']);

    trace.length = 0;
    await governed.call({ name: 'echo', arguments: {} });
    expect(trace).toEqual(['watch in', 'act in', 'late in', 'late out', 'act out', 'watch out']);
  });

  it('gives a refused call a pending and exactly one failed', async () => {
    const no = defineLayer({ name: 'no', caller: (call) => refuse(call, 'policy_blocked', 'No.') });
    const { governed, events, ran } = setup({ layers: [no] });

    const result = await governed.call({ name: 'echo', arguments: {} });

    expect(result).toMatchObject({
      status: 'policy_blocked',
      errorCategory: 'policy_blocked',
      executed: 'no',
      observation: '[blocked: echo — policy_blocked]',
    });
    expect(storyOf(events)).toEqual(['pending', 'in_progress', 'audit', 'failed']);
    expect(ran).toEqual([]);
  });

  it('does not call a call under way that was answered while it waited for its turn', async () => {
    let finish = (_value: unknown) => {};
    const wait = defineTool({
      name: 'wait',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => new Promise((resolve) => (finish = resolve)),
    });
    const leaving = defineLayer({
      name: 'leaving',
      observes: true,
      caller(call, next) {
        const inside = next(call);
        return call.callId === 'leaves'
          ? refuse(call, 'policy_blocked', 'Not waited for.')
          : inside;
      },
    });
    const { governed, events } = setup({
      toolList: () => [wait],
      layers: [leaving],
      limits: { maxConcurrent: 1 },
    });
    const first = governed.call({ name: 'wait', arguments: {}, id: 'first' });
    await settle();

    await governed.call({ name: 'wait', arguments: {}, id: 'leaves' });
    finish('done');
    await first;
    await settle();

    expect(storyOf(events.filter((event) => event.tool_call_id === 'leaves'))).toEqual([
      'pending',
      'audit',
      'failed',
    ]);
  });

  it('calls an interrupted call paused', async () => {
    const interruption = {
      kind: 'approval_required',
      id: 'a1',
      fingerprint: 'f',
      shown: {},
      options: [],
    } as const;
    const ask = defineLayer({
      name: 'ask',
      caller: (call) => refuse(call, 'approval_required', 'Ask.', { interruption }),
    });
    const { governed, events } = setup({ layers: [ask] });

    const result = await governed.call({ name: 'echo', arguments: {} });

    expect(result.interruption).toEqual(interruption);
    expect(storyOf(events).at(-1)).toBe('paused');
  });

  it('survives listeners that throw and reject, and logs them', async () => {
    const { governed, logger } = setup();
    governed.on('tool_call', () => {
      throw new Error('listener broke');
    });
    governed.on('tool_call', () => Promise.reject(new Error('listener broke later')));

    const result = await governed.call({ name: 'echo', arguments: {} });

    expect(result.status).toBe('ok');
    expect(logger.lines.filter((line) => line.includes('listener broke'))).toHaveLength(2);
  });

  it('ends a call whose audit record cannot be written, and logs that', async () => {
    const layer = defineLayer({
      name: 'twice',
      caller: async (call, next) => annotate(await next(call), { my_key: 1, myKey: 2 }),
    });
    const { governed, events, logger } = setup({ layers: [layer] });

    const result = await governed.call({ name: 'echo', arguments: {} });

    expect(result.status).toBe('ok');
    expect(storyOf(events)).toEqual(['pending', 'in_progress', 'completed']);
    expect(logger.lines.filter((line) => line.includes('an event could not be made'))).toHaveLength(
      1,
    );
  });

  it('tells those who listened when an event came, each once, those of its name first', async () => {
    const { governed } = setup();
    const told: string[] = [];
    const late = () => void told.push('late');
    const all: EventListener<'*'> = ({ type }) => void (type === 'tool_call' && told.push('all'));
    governed.on('*', all);
    governed.on('*', all);
    const offFirst = governed.on('tool_call', () => {
      told.push('first');
      offFirst();
      offSecond();
      governed.on('tool_call', late);
    });
    const offSecond = governed.on('tool_call', () => void told.push('second'));

    await governed.call({ name: 'echo', arguments: { text: 'a' } });
    const before = told.splice(0);
    await governed.call({ name: 'echo', arguments: { text: 'a' } });

    expect(before).toEqual(['first', 'second', 'all']);
    expect(told).toEqual(['late', 'all']);
  });

  it('shows every listener the same event, which none can change', async () => {
    const { governed } = setup({ layers: [auditLog('cloud')] });
    const heard: unknown[][] = [[], []];
    for (const events of heard) governed.on('*', (event) => void events.push(event));

    await governed.call({ name: 'echo', arguments: { text: 'a' } });

    expect(heard[0]?.length).toBe(4);
    expect(heard[0]?.every((event, index) => event === heard[1]?.[index])).toBe(true);
    expect(heard[0]?.every(frozenInDepth)).toBe(true);
  });

  it('stops telling a listener that was taken off', async () => {
    const { governed } = setup();
    let told = 0;
    const off = governed.on('*', () => void (told += 1));

    off();
    await governed.call({ name: 'echo', arguments: {} });

    expect(told).toBe(0);
  });

  it('makes an id where the model gave none, and a session where the host gave none', async () => {
    const { governed, events } = setup();

    const first = await governed.call({ name: 'echo', arguments: {} });
    const second = await governed.call({ name: 'echo', arguments: {}, id: '' });

    expect(first.toolCallId).not.toBe(second.toolCallId);
    expect([first, second].every(({ toolCallId }) => /^call_.+/.test(toolCallId))).toBe(true);
    expect(new Set(events.map((event) => event.session_id)).size).toBe(1);
  });

  it('throws for a request that is no request, before anything is told', async () => {
    const { governed, events } = setup();

    await expect(governed.call({ nmae: 'echo', arguments: {} } as never)).rejects.toSatisfy(
      (error) => isAlliumError(error, 'ERR_INVALID_OPTION'),
    );
    expect(events).toEqual([]);
  });
});

describe('a mistake in a call, or in listening,', () => {
  it.each([
    ['session_id', { session_id: 's1' }],
    ['iteration', { iteration: 'two' }],
  ])('is told for a turn: %s', async (_name, turn) => {
    const { governed, ran } = setup();
    const called = governed.call({ name: 'echo', arguments: {} }, { turn: turn as object });

    await expect(called).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining('sessionId') as string,
    });
    expect(ran).toEqual([]);
  });

  it('names the member of a turn that there is not, and what was meant', async () => {
    const turn = { sesionId: 's1' } as object;

    await expect(setup().governed.call({ name: 'echo', arguments: {} }, { turn })).rejects.toThrow(
      'prefetchNextTurn, resumes, got an object; it has "sesionId", did you mean "sessionId"?',
    );
  });

  it('is told for an event that there is not', () => {
    const { governed } = setup();

    expect(() => governed.on('tool.started' as 'tool_call', () => {})).toThrow(
      'on: "event" must be one of "*", "tool_call", "tool_call_update", "tool_call_progress", "tool_call_audit", "task"',
    );
    expect(() => governed.on('tool_calls' as 'tool_call', () => {})).toThrow(
      'got a string; did you mean "tool_call"?',
    );
    expect(() => governed.on('tool_call', undefined as never)).toThrow('"listener" must be');
  });
});

describe('progress', () => {
  const slow = () =>
    defineTool({
      name: 'slow',
      description: 'Reports.',
      inputSchema: { type: 'object' },
      execute(_args, { report }) {
        report({ progress: 1, total: 2, message: 'half\nway' });
        report({ progress: Number.NaN, message: 7 } as never);
        return null;
      },
    });

  it('reaches listeners and the host as clean numbers and one line of text', async () => {
    const heard: unknown[] = [];
    const { governed, events } = setup({ toolList: () => [slow()] });

    await governed.call(
      { name: 'slow', arguments: {} },
      { onProgress: (progress) => heard.push(progress) },
    );

    expect(heard).toEqual([{ progress: 1, total: 2, message: 'half way' }, {}]);
    expect(events.filter((event) => event.type === 'tool_call_progress')).toHaveLength(2);
  });

  it('cannot be swallowed by a layer: the numbers come through without the text', async () => {
    const heard: unknown[] = [];
    const mute = defineLayer({
      name: 'mute',
      caller: (call, next) => next({ ...call, report: () => {} }),
    });
    const { governed } = setup({ toolList: () => [slow()], layers: [mute] });

    await governed.call(
      { name: 'slow', arguments: {} },
      { onProgress: (progress) => heard.push(progress) },
    );

    expect(heard[0]).toEqual({ progress: 1, total: 2 });
  });

  it('is not told any more once the call was answered', async () => {
    let late = () => {};
    const tool = defineTool({
      name: 'late',
      description: '',
      inputSchema: { type: 'object' },
      execute: (_args, { report }) => void (late = () => report({ progress: 9 })),
    });
    const { governed, events } = setup({ toolList: () => [tool] });

    await governed.call({ name: 'late', arguments: {} });
    late();

    expect(storyOf(events)).toEqual(['pending', 'in_progress', 'completed']);
  });
});

describe('observe', () => {
  it('shows a call that ran elsewhere to observing and cleaning layers only', async () => {
    const trace: string[] = [];
    const layers = [tracing('watch', trace, true), tracing('act', trace, false)];
    const { governed, events, ran } = setup({ layers });

    const result = await governed.observe(
      { name: 'web_search', arguments: { q: 'x' }, id: 's1' },
      { hits: 3 },
    );

    expect(result).toMatchObject({
      status: 'ok',
      executed: 'yes',
      result: { hits: 3 },
      toolCallId: 's1',
    });
    expect(trace).toEqual(['watch in', 'watch out']);
    expect(storyOf(events)).toEqual(['pending', 'audit', 'completed']);
    expect(ran).toEqual([]);
  });
});

describe('observe, with a layer that cleans,', () => {
  it('keeps what ran elsewhere as clean as what runs here', async () => {
    const redact = defineLayer({
      name: 'redact',
      scrub: (text) => text.replaceAll('hunter2', '***'),
      caller: async (call, next) => withResult(await next(call), { result: '***' }),
    });
    const note = defineLayer({
      name: 'note',
      observes: true,
      caller: async (call, next) => annotate(await next(call), { summary: 'it was hunter2' }),
    });
    const { governed, events } = setup({ layers: [note, redact] });

    const result = await governed.observe({ name: 'web_search', arguments: {} }, 'hunter2');

    expect(result.result).toBe('***');
    expect(JSON.stringify([result, events])).not.toContain('hunter2');
  });
});

describe('close', () => {
  it('waits for calls under way, closes layers once, and takes no more calls', async () => {
    let finish = (_value: unknown) => {};
    const tool = defineTool({
      name: 'wait',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => new Promise((resolve) => (finish = resolve)),
    });
    const trace: string[] = [];
    const layer = defineLayer({
      name: 'closing',
      caller: (call, next) => next(call),
      close: async () => void trace.push('closed'),
    });
    const { governed } = setup({ toolList: () => [tool], layers: [layer] });
    const calling = governed
      .call({ name: 'wait', arguments: {} })
      .then(({ status }) => trace.push(status));

    await Promise.resolve();
    const closing = governed.close();
    await expect(governed.call({ name: 'wait', arguments: {} })).rejects.toSatisfy((error) =>
      isAlliumError(error, 'ERR_CLOSED'),
    );
    await new Promise(setImmediate);
    finish('done');
    await Promise.all([calling, closing]);
    await governed.close();

    expect(trace).toEqual(['ok', 'closed']);
  });
});

describe('close, when something cannot be closed,', () => {
  it('closes the rest all the same and says so', async () => {
    const closed: string[] = [];
    const closing = (name: string, close: () => Promise<void>) =>
      defineLayer({ name, caller: (call, next) => next(call), close });
    const stuck = closing('stuck', () => Promise.reject(new Error('stuck')));
    const fine = closing('fine', async () => void closed.push('fine'));
    const { governed } = setup({ layers: [stuck, fine] });

    await expect(governed.close()).rejects.toThrow('stuck');
    expect(closed).toEqual(['fine']);
  });
});
