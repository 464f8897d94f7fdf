import { afterEach, describe, expect, it, vi } from 'vitest';
import { annotate } from '../../core/onion/results.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { settle } from '../../../conformance/test-kit.ts';
import { defineLayer } from '../../core/contract/layer.ts';
import type { GovernOptions } from '../../dispatch/govern-tools.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { toolFailure, toolOutput } from '../../tools/tool.ts';
import { channelOf, endAll, govern, type Message, socketPair } from './hosts.fixture.ts';
import { hostBridge } from './host-bridge.ts';
import type { BridgeProblem } from './problems.ts';
import { serveHostTools, type ServeHostToolsOptions } from './serve-host-tools.ts';

afterEach(endAll);

const schema = {
  type: 'object',
  properties: { text: { type: 'string' } },
  additionalProperties: false,
} as const;
const about = { description: 'A tool of the host.', inputSchema: schema };
const block = (text: string) => ({ type: 'text', text }) as const;

const tools = [
  defineTool({
    ...about,
    name: 'echo',
    annotations: { kind: 'read', readOnly: true, sideEffectLevel: 'none' },
    execute: (args) => args,
  }),
  defineTool({ ...about, name: 'number', execute: () => 3 }),
  defineTool({
    ...about,
    name: 'blocks',
    execute: () => toolOutput({ content: [block('hi')], structuredContent: { n: 1 } }),
  }),
  defineTool({
    ...about,
    name: 'report_error',
    execute: () => toolOutput({ content: [block('no')], isError: true }),
  }),
  defineTool({
    ...about,
    name: 'locked',
    execute: () =>
      Promise.reject(
        toolFailure('It is locked.', {
          category: 'locked',
          errorClass: 'retryable',
          executed: 'no',
        }),
      ),
  }),
  defineTool({ ...about, name: 'throw', execute: () => Promise.reject(new Error('broke')) }),
  defineTool({ ...about, name: 'large', execute: () => 'x'.repeat(200_000) }),
  defineTool({
    ...about,
    name: 'listen',
    execute: (_args, { signal, report }) => {
      report({ progress: 1, message: 'listening' });
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
      );
    },
  }),
  defineTool({
    ...about,
    name: 'promised',
    outputSchema: { type: 'object', required: ['n'] },
    execute: () => ({ n: 1 }),
  }),
];

/** Both halves of a bridge, one at each end of a socket. */
async function bothHalves(
  hostOptions: ServeHostToolsOptions = {},
  governOptions: Partial<GovernOptions> = {},
) {
  const [here, there] = await socketPair();
  const own = govern({ tools, limits: { maxPreviewBytes: 1_000_000 } });
  const host = serveHostTools(channelOf(there), own, hostOptions);
  const problems: BridgeProblem[] = [];
  const bridge = await hostBridge(channelOf(here), {
    onProblem: (problem) => problems.push(problem),
  });
  const limits = { maxPreviewBytes: 1_000_000 };
  return {
    own,
    host,
    bridge,
    problems,
    there,
    governed: govern({ tools: bridge.tools, executor: bridge, limits, ...governOptions }),
  };
}

describe('both halves of a bridge', () => {
  it('show a tool as it was defined', async () => {
    const { own, bridge } = await bothHalves();

    expect(govern({ tools: bridge.tools }).tools).toEqual(own.tools);
  });

  it.each([
    ['echo', { status: 'ok', result: { text: 'a' }, executed: 'yes' }],
    ['number', { status: 'ok', result: 3 }],
    ['blocks', { status: 'ok', result: { n: 1 }, renderedResult: 'hi' }],
    ['promised', { status: 'ok', result: { n: 1 } }],
    [
      'report_error',
      { status: 'executor_error', errorCategory: 'tool_error', error: 'no', executed: 'yes' },
    ],
    [
      'locked',
      { errorCategory: 'locked', errorClass: 'retryable', executed: 'no', error: 'It is locked.' },
    ],
    ['throw', { errorCategory: 'exception', error: 'broke', executed: 'unknown' }],
  ])('answer for %s as if it were here', async (name, expected) => {
    const { governed, own, problems } = await bothHalves();
    const request = { name, arguments: { text: 'a' }, id: 'c1' };
    const there = await governed.call(request);
    const here = await own.call(request);

    expect(there).toMatchObject(expected);
    expect(there).toMatchObject({
      status: here.status,
      result: here.result,
      error: here.error,
      content: here.content,
    });
    expect(problems).toEqual([]);
  });

  it('check arguments at both ends', async () => {
    const { bridge } = await bothHalves();
    const loose = [...bridge.tools].map(({ name, execute }) =>
      defineTool({ name, description: '', inputSchema: {}, execute: execute as () => unknown }),
    );
    const result = await govern({ tools: loose }).call({ name: 'echo', arguments: { wrong: 1 } });

    expect(result).toMatchObject({
      status: 'executor_error',
      errorCategory: 'schema_violation',
      executed: 'no',
    });
  });

  it('pass progress on, and a cancellation', async () => {
    const { governed, own } = await bothHalves();
    const ended: unknown[] = [];
    own.on('tool_call_update', (event) => ended.push(event.status));
    const controller = new AbortController();
    const heard: unknown[] = [];
    const onProgress = (progress: unknown) => {
      heard.push(progress);
      controller.abort();
    };
    const result = await governed.call(
      { name: 'listen', arguments: {} },
      { signal: controller.signal, onProgress },
    );

    expect(result.status).toBe('cancelled');
    expect(heard).toEqual([{ progress: 1, message: 'listening' }]);
    await vi.waitFor(() => expect(ended.at(-1)).toBe('cancelled'));
  });

  it('cancel one of two calls that have the same id', async () => {
    const { governed, own } = await bothHalves();
    const running = new Set<string>();
    own.on('tool_call_update', ({ session_id: session, status }) =>
      status === 'in_progress' ? running.add(session) : running.delete(session),
    );
    const controller = new AbortController();
    const turns = ['s1', 's2'].map((sessionId) => ({ sessionId }));
    const first = governed.call(
      { name: 'listen', arguments: {}, id: 'same' },
      { turn: turns[0] ?? {}, signal: controller.signal },
    );
    const second = governed.call(
      { name: 'listen', arguments: {}, id: 'same' },
      { turn: turns[1] ?? {} },
    );
    await vi.waitFor(() => expect(running.size).toBe(2));
    controller.abort();
    await first;
    await vi.waitFor(() => expect([...running]).toEqual(['s2']));

    void second;
  });

  it('say that an answer is too large to be sent', async () => {
    const { governed } = await bothHalves({ maxLineBytes: 20_000 });

    expect(await governed.call({ name: 'large', arguments: {} })).toMatchObject({
      errorCategory: 'result_too_large',
      executed: 'yes',
    });
  });

  it('carry audit events to the host, and are not broken by a host that throws over one', async () => {
    const events: JsonObject[] = [];
    const onAudit = (event: JsonObject) => {
      events.push(event);
      throw new Error('the host cannot record');
    };
    const note = defineLayer({
      name: 'note',
      observes: true,
      caller: async (call, next) => annotate(await next(call), { summary: 'noted' }),
    });
    const { governed, bridge } = await bothHalves({ onAudit }, { layers: [note] });
    governed.on('tool_call_audit', bridge.audit);
    await governed.call({ name: 'echo', arguments: {}, id: 'c1' }, { turn: { sessionId: 's1' } });
    await governed.call({ name: 'echo', arguments: {}, id: 'c2' }, { turn: { sessionId: 's1' } });

    await vi.waitFor(() =>
      expect(events.map(({ tool_call_id }) => tool_call_id)).toEqual(['c1', 'c2']),
    );
    expect(events[0]).toMatchObject({
      type: 'tool_call_audit',
      session_id: 's1',
      tool_name: 'echo',
      audit: { summary: 'noted' },
    });
  });

  it('end together, and what ran is aborted', async () => {
    const { governed, own, host, bridge } = await bothHalves();
    const ended: unknown[] = [];
    own.on('tool_call_update', (event) => ended.push(event.status));
    const calling = governed.call({ name: 'listen', arguments: {} });
    await vi.waitFor(() => expect(ended).toEqual(['in_progress']));
    await host.close();

    expect(await calling).toMatchObject({ errorCategory: 'network', executed: 'unknown' });
    await vi.waitFor(() => expect(ended).toEqual(['in_progress', 'cancelled']));
    await bridge.closed;
  });
});

describe('a served host', () => {
  /** What a host says to these lines. */
  async function saidTo(
    lines: readonly (object | string)[],
    count: number,
  ): Promise<readonly Message[]> {
    const [here, there] = await socketPair();
    serveHostTools(channelOf(there), govern({ tools }));
    let text = '';
    here.on('data', (chunk: Buffer) => (text += chunk.toString()));
    for (const line of lines)
      here.write(
        `${typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })}\n`,
      );
    await vi.waitFor(() => expect(text.split('\n')).toHaveLength(count + 1));
    await settle();
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Message);
  }

  it.each<[string, object | string, object]>([
    ['nonsense', 'nonsense', { id: null, error: { code: -32700 } }],
    ['an unknown method', { id: 1, method: 'tools/list' }, { id: 1, error: { code: -32601 } }],
    [
      'a call without its parts',
      { id: 'a', method: 'tool/call', params: { name: 'echo' } },
      { id: 'a', error: { code: -32602 } },
    ],
    ['a call without params', { id: 1, method: 'tool/call' }, { id: 1, error: { code: -32602 } }],
    [
      'a call of an unknown tool',
      {
        id: 1,
        method: 'tool/call',
        params: { name: 'gone', arguments: {}, call_id: 'c1', session_id: 's1' },
      },
      { id: 1, error: { code: -32602, data: { executed: 'no', category: 'tool_not_found' } } },
    ],
    [
      'wrong arguments',
      {
        id: 1,
        method: 'tool/call',
        params: { name: 'echo', arguments: { wrong: 1 }, call_id: 'c1', session_id: 's1' },
      },
      { id: 1, error: { code: -32602, data: { executed: 'no', category: 'schema_violation' } } },
    ],
  ])('answers %s with an error', async (_name, line, answer) => {
    expect(await saidTo([line], 1)).toMatchObject([answer]);
  });

  it('does not answer notifications, nor what is none', async () => {
    const lines = [
      { method: 'tool/cancel' },
      { method: 'tool_call_audit', params: [] },
      { method: 'later' },
      { id: null, result: 1 },
    ];

    expect(await saidTo([...lines, { id: 9, method: 'later' }], 1)).toMatchObject([{ id: 9 }]);
  });

  it('refuses a request whose id is open', async () => {
    const params = { name: 'listen', arguments: {}, call_id: 'c1', session_id: 's1' };
    const said = await saidTo(
      [
        { id: 1, method: 'tool/call', params },
        { id: 1, method: 'tool/call', params },
      ],
      2,
    );

    expect(said.find(({ error }) => error !== undefined)).toMatchObject({
      id: 1,
      error: { code: -32600 },
    });
  });

  it('answers also where what it serves throws', async () => {
    const [here, there] = await socketPair();
    const broken = {
      tools: govern({ tools }).tools,
      call: () => {
        throw new Error('S3CRET');
      },
    };
    serveHostTools(channelOf(there), broken);
    const bridge = await hostBridge(channelOf(here));
    const result = await govern({ tools: bridge.tools }).call({ name: 'echo', arguments: {} });

    expect(result).toMatchObject({
      error: 'The host failed outside the tool.',
      executed: 'unknown',
    });
  });

  it('refuses options that are wrong', async () => {
    const [here] = await socketPair();

    expect(() =>
      serveHostTools(channelOf(here), govern({ tools }), {
        onAudits: () => {},
      } as ServeHostToolsOptions),
    ).toThrow('onAudits');
  });
});
