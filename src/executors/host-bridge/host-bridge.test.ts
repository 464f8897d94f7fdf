import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { settle, testClock } from '../../../conformance/test-kit.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { ToolExecutor } from '../../tools/tool.ts';
import {
  contextFor,
  echoCall,
  endAll,
  govern,
  type RawHostOptions,
  rawHost,
  wireTool,
} from './hosts.fixture.ts';
import { hostBridge, type HostBridgeOptions } from './host-bridge.ts';
import type { BridgeProblem } from './problems.ts';

afterEach(endAll);

async function connected(hostOptions: RawHostOptions = {}, options: HostBridgeOptions = {}) {
  const host = await rawHost(hostOptions);
  const problems: BridgeProblem[] = [];
  const bridge = await hostBridge(host.channel, {
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  return { host, bridge, problems, governed: govern({ tools: bridge.tools, executor: bridge }) };
}

const answering = (result: object): RawHostOptions => ({
  onCall: ({ id }, { say }) => say({ id, result }),
});
const failing = (error: object): RawHostOptions => ({
  onCall: ({ id }, { say }) => say({ id, error }),
});

describe('host bridge', () => {
  it('runs a tool of the host', async () => {
    const { governed, host } = await connected({ onCall: echoCall });
    const turn = { sessionId: 's1', iteration: 3, runId: 'run-1' };
    const result = await governed.call(
      { name: 'echo', arguments: { text: 'hé' }, id: 'c1' },
      { turn },
    );

    expect(result).toMatchObject({
      status: 'ok',
      result: { text: 'hé' },
      executor: 'host_bridge',
      executed: 'yes',
    });
    expect(host.received[0]).toMatchObject({
      jsonrpc: '2.0',
      method: 'tool/list',
      params: { protocol: 1 },
    });
    expect(host.calls()[0]?.params).toEqual({
      ...{ name: 'echo', arguments: { text: 'hé' }, call_id: 'c1', session_id: 's1' },
      meta: { iteration: 3, run_id: 'run-1' },
    });
  });

  it.each([
    ['a value', { value: 3 }, { status: 'ok', result: 3, renderedResult: '3' }],
    ['nothing', {}, { status: 'ok', result: null }],
    ['unknown members', { value: 1, later: true }, { status: 'ok', result: 1 }],
    [
      'blocks',
      { content: [{ type: 'text', text: 'hi' }], structured_content: { n: 1 } },
      { status: 'ok', result: { n: 1 }, renderedResult: 'hi' },
    ],
    [
      'structured content',
      { structured_content: { n: 1 } },
      { status: 'ok', result: { n: 1 }, renderedResult: '{"n":1}' },
    ],
    [
      'an error',
      { content: [{ type: 'text', text: 'no' }], is_error: true },
      { errorCategory: 'tool_error', error: 'no', executed: 'yes' },
    ],
    [
      'an error as a value',
      { value: 'no', is_error: true },
      { errorCategory: 'tool_error', error: 'no', executed: 'yes' },
    ],
    [
      'an error without words',
      { is_error: true },
      { errorCategory: 'tool_error', error: 'The tool reported an error.', executed: 'yes' },
    ],
  ])('takes %s for an answer', async (_name, answer, expected) => {
    const { governed } = await connected(answering(answer));

    expect(await governed.call({ name: 'echo', arguments: {} })).toMatchObject(expected);
  });

  it.each([
    [
      'a failure',
      { code: -32000, message: 'broke' },
      { error: 'broke', errorCategory: 'host_bridge_error', executed: 'unknown' },
    ],
    [
      'unknown tool',
      { code: -32602, message: 'no such tool' },
      { error: 'no such tool', executed: 'no' },
    ],
    [
      'what the host knows',
      {
        code: 1,
        message: 'locked',
        data: { executed: 'no', category: 'locked', error_class: 'retryable' },
      },
      { error: 'locked', errorCategory: 'locked', errorClass: 'retryable', executed: 'no' },
    ],
    [
      'what the host says wrongly',
      {
        code: 'x',
        message: 7,
        data: { executed: 'never', category: 'A\nB', error_class: 'funny' },
      },
      {
        error: 'The host reported an error.',
        errorCategory: 'host_bridge_error',
        executed: 'unknown',
      },
    ],
    [
      'an error that is none',
      'broken',
      { error: 'The host reported an error.', executed: 'unknown' },
    ],
  ])('makes %s a failure', async (_name, error, expected) => {
    const { governed } = await connected(failing(error as object));

    expect(await governed.call({ name: 'echo', arguments: {} })).toMatchObject({
      status: 'executor_error',
      ...expected,
    });
  });

  it('keeps a tool tied to its host when it is renamed, and when tools of two hosts are put together', async () => {
    const first = await connected({
      onCall: ({ id, params }, { say }) =>
        say({ id, result: { value: `first ran ${String(params?.name)}` } }),
    });
    const second = await connected({
      onCall: ({ id, params }, { say }) =>
        say({ id, result: { value: `second ran ${String(params?.name)}` } }),
    });
    const both = govern({
      tools: first.bridge.tools.prefix('a').merge(second.bridge.tools.prefix('b')),
      executor: first.bridge,
    });

    expect((await both.call({ name: 'a_echo', arguments: {} })).result).toBe('first ran echo');
    expect((await both.call({ name: 'b_echo', arguments: {} })).result).toBe('second ran echo');
  });

  it('has a naive twin, which goes by the name in the registry and asks for what no host has', async () => {
    const host = await connected({
      onCall: ({ id, params }, { say }) => say({ id, result: { value: params?.name } }),
    });
    const naive: ToolExecutor = {
      kind: 'host_bridge',
      execute: (invocation) => host.bridge.execute(invocation),
    };
    const byName = [...host.bridge.tools.prefix('b')].map(({ name, description, ownSchema }) =>
      defineTool({ name, description, inputSchema: ownSchema, executor: 'host_bridge' }),
    );

    expect(
      (await govern({ tools: byName, executor: naive }).call({ name: 'b_echo', arguments: {} }))
        .result,
    ).toBe('b_echo');
  });

  it('runs tools that were defined here, with their hidden arguments', async () => {
    const { bridge, host } = await connected({ onCall: echoCall });
    const tool = defineTool({
      ...{
        name: 'echo',
        description: 'Echoes.',
        inputSchema: { type: 'object' },
        executor: 'host_bridge',
      },
      injected: [{ name: 'session', from: 'sessionId' }],
    });
    const result = await govern({ tools: [tool], executor: bridge }).call(
      { name: 'echo', arguments: {} },
      { turn: { sessionId: 's7' } },
    );

    expect(result.status).toBe('ok');
    expect(host.calls()[0]?.params?.arguments).toEqual({ session: 's7' });
  });

  it('does not send arguments that are not JSON, or too large', async () => {
    const { bridge, host } = await connected({}, { maxLineBytes: 2_000 });
    const hidden = defineTool({
      ...{
        name: 'echo',
        description: 'Echoes.',
        inputSchema: { type: 'object' },
        executor: 'host_bridge',
      },
      injected: [{ name: 'signal', from: () => () => {} }],
    });
    const notJson = await govern({ tools: [hidden], executor: bridge }).call({
      name: 'echo',
      arguments: {},
    });
    const tooLarge = await govern({ tools: bridge.tools }).call({
      name: 'echo',
      arguments: { text: 'x'.repeat(2_000) },
    });

    expect(notJson).toMatchObject({ errorCategory: 'not_json', executed: 'no' });
    expect(tooLarge).toMatchObject({
      errorCategory: 'arguments_too_large',
      errorClass: 'repairable',
      executed: 'no',
    });
    expect(host.calls()).toEqual([]);
  });

  it('sends the host what is on record', async () => {
    const { governed, bridge, host } = await connected({ onCall: echoCall });
    governed.on('tool_call_audit', bridge.audit);
    await govern({ tools: bridge.tools }).call({ name: 'echo', arguments: {} });
    bridge.audit({
      type: 'tool_call_audit',
      session_id: 's1',
      tool_call_id: 'c1',
      tool_name: 'echo',
      audit: { summary: 'echoed' },
    });

    await vi.waitFor(() =>
      expect(host.received.at(-1)).toEqual({
        ...{ jsonrpc: '2.0', method: 'tool_call_audit' },
        params: {
          type: 'tool_call_audit',
          session_id: 's1',
          tool_call_id: 'c1',
          tool_name: 'echo',
          audit: { summary: 'echoed' },
        },
      }),
    );
  });
});

describe('progress over a bridge', () => {
  it('is heard by its call', async () => {
    const { governed } = await connected({
      onCall({ id, params }, { say }) {
        say({
          method: 'tool/progress',
          params: { call_id: params?.call_id, progress: 1, total: 2, message: 'half\nway' },
        });
        say({
          method: 'tool/progress',
          params: { call_id: params?.call_id, progress: 'NaN', message: 7 },
        });
        say({ method: 'tool/progress', params: { call_id: 'another', progress: 2 } });
        for (const odd of [null, [], 'x', { call_id: null }, { call_id: '__proto__' }])
          say({ method: 'tool/progress', params: odd });
        say({ id, result: { value: 1 } });
        say({ method: 'tool/progress', params: { call_id: params?.call_id, progress: 9 } });
      },
    });
    const heard: unknown[] = [];
    await governed.call(
      { name: 'echo', arguments: {}, id: 'c1' },
      { onProgress: (progress) => heard.push(progress) },
    );

    expect(heard).toEqual([{ progress: 1, total: 2, message: 'half way' }, {}]);
  });

  it('may break whoever hears of it, and not the bridge', async () => {
    const { bridge } = await connected({
      onCall({ id, params }, { say }) {
        say({ method: 'tool/progress', params: { call_id: params?.call_id, progress: 1 } });
        say({ id, result: { value: 'answered' } });
      },
    });
    const report = () => {
      throw new Error('cannot be told');
    };

    expect(await bridge.tools.get('echo')?.execute?.({}, contextFor('c1', { report }))).toBe(
      'answered',
    );
  });

  /** Two sessions whose models chose the same id, and what each of them heard. */
  async function sameCallId(
    requestIdOf: (id: unknown) => object,
  ): Promise<readonly (readonly unknown[])[]> {
    const { governed } = await connected({
      onCall(call, { calls, say }) {
        if (calls().length < 2) return;
        for (const { id, params } of calls())
          say({
            method: 'tool/progress',
            params: { call_id: 'c1', ...requestIdOf(id), message: params?.session_id },
          });
        for (const { id } of calls()) say({ id, result: { value: call.method } });
      },
    });
    const heard: unknown[][] = [[], []];
    await Promise.all(
      heard.map((said, index) =>
        governed.call(
          { name: 'echo', arguments: {}, id: 'c1' },
          { turn: { sessionId: `s${index}` }, onProgress: ({ message }) => said.push(message) },
        ),
      ),
    );
    return heard;
  }

  it('is of neither call where two have one id, unless it names the request', async () => {
    expect(await sameCallId((id) => ({ request_id: id }))).toEqual([['s0'], ['s1']]);
    expect(await sameCallId(() => ({}))).toEqual([[], []]);
    expect(await sameCallId(() => ({ request_id: 'x' }))).toEqual([[], []]);
  });
});

describe('a cancelled call over a bridge', () => {
  it('is cancelled at the host, and a late answer is dropped', async () => {
    const { governed, host, problems } = await connected();
    const controller = new AbortController();
    const calling = governed.call(
      { name: 'echo', arguments: {}, id: 'c1' },
      { signal: controller.signal },
    );
    await vi.waitFor(() => expect(host.calls()).toHaveLength(1));
    controller.abort();

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'unknown' });
    await vi.waitFor(() =>
      expect(host.received.at(-1)).toMatchObject({
        method: 'tool/cancel',
        params: { call_id: 'c1', request_id: host.calls()[0]?.id },
      }),
    );
    host.say({ id: host.calls()[0]?.id, result: { value: 'late' } });
    host.say({ id: host.calls()[0]?.id, result: { value: 'twice' } });
    await vi.waitFor(() => expect(problems).toMatchObject([{ kind: 'unknown_id', count: 1 }]));
  });

  it('says that it ran if the host still answers', async () => {
    const { governed, host } = await connected();
    const controller = new AbortController();
    const calling = governed.call(
      { name: 'echo', arguments: {}, id: 'c1' },
      { signal: controller.signal },
    );
    await vi.waitFor(() => expect(host.calls()).toHaveLength(1));
    host.socket.on('data', () =>
      host.say({ id: host.calls()[0]?.id, result: { value: 'done before' } }),
    );
    controller.abort();

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'yes' });
  });

  it('is not sent at all by somebody who has gone', async () => {
    const { bridge, host } = await connected();
    const execute = bridge.tools.get('echo')?.execute;

    await expect(execute?.({}, contextFor('c1', { signal: AbortSignal.abort() }))).rejects.toThrow(
      'before it was sent',
    );
    await settle();
    expect(host.calls()).toEqual([]);
  });

  it('ends in time where the host stays silent', async () => {
    const { governed } = await connected({
      list: { protocol: 1, tools: [wireTool('echo', { timeout_ms: 20 })] },
    });

    expect(await governed.call({ name: 'echo', arguments: {} })).toMatchObject({
      status: 'timeout',
      executed: 'unknown',
    });
  });

  it('is not kept for good where the host never answers', async () => {
    const { bridge } = await connected();
    const execute = bridge.tools.get('echo')?.execute;
    const endings: Promise<unknown>[] = [];
    for (let index = 0; index < 1_010; index += 1) {
      const controller = new AbortController();
      endings.push(
        Promise.resolve(
          execute?.({}, contextFor(`c${index}`, { signal: controller.signal })),
        ).catch((error: unknown) => error),
      );
      controller.abort();
    }

    expect(String(await Promise.race(endings))).toMatch('went away');
  });
});

describe('connecting a bridge', () => {
  it.each([
    ['speaks another version', { protocol: 2, tools: [] }, 'protocol'],
    ['names no version', { tools: [] }, 'protocol'],
    ['lists no tools', { protocol: 1 }, 'protocol'],
    ['answers with something else', 'hello', 'protocol'],
    ['does not know the question', null, 'refused'],
  ])('fails with a host that %s', async (_name, list, reason) => {
    const host = await rawHost({ list });

    await expect(hostBridge(host.channel)).rejects.toMatchObject({
      code: 'ERR_HOST_BRIDGE',
      details: { reason },
    });
    expect(host.channel.readable.destroyed).toBe(true);
  });

  it('fails with a host that stays silent, and leaves no timer behind', async () => {
    const host = await rawHost();
    host.socket.removeAllListeners('data');
    const clock = testClock();
    const connecting = hostBridge(host.channel, { connectTimeoutMs: 500, clock }).catch(
      (error: unknown) => error,
    );
    host.socket.pause();
    await clock.advance(499);
    expect(clock.pending).toBe(1);
    await clock.advance(1);

    expect(await connecting).toMatchObject({
      code: 'ERR_HOST_BRIDGE',
      details: { reason: 'timeout' },
    });
    expect(clock.pending).toBe(0);
  });

  it('fails with a host that has gone', async () => {
    const host = await rawHost();
    host.socket.destroy();
    await expect(hostBridge(host.channel)).rejects.toMatchObject({ details: { reason: 'closed' } });
  });

  it('fails with streams that have ended before, and will not say so again', async () => {
    const readable = new PassThrough();
    readable.end();
    await once(readable.resume(), 'end');

    await expect(hostBridge({ readable, writable: new PassThrough() })).rejects.toMatchObject({
      details: { reason: 'closed' },
    });
  });

  it('leaves out and reports tools that cannot be used', async () => {
    const bad = [
      wireTool('not a name'),
      wireTool('dotted.name'),
      wireTool('echo'),
      wireTool('remote', { input_schema: { $ref: 'https://example.org/schema.json' } }),
      wireTool('list', { input_schema: { type: 'array' } }),
      wireTool('hint', { annotations: { read_only: 'yes' } }),
      wireTool('kind', { annotations: { kind: 'harmless' } }),
      wireTool('time', { timeout_ms: 0 }),
      { name: 'bare' },
      null,
      JSON.parse('{"__proto__":{"name":"x"}}') as unknown,
    ];
    const { bridge, problems } = await connected({
      list: { protocol: 1, tools: [wireTool('echo'), ...bad] },
    });

    expect(bridge.tools.names).toEqual(['echo']);
    expect(bridge.refused.map(({ name }) => name)).toEqual([
      ...[
        'not a name',
        'dotted.name',
        'echo',
        'remote',
        'list',
        'hint',
        'kind',
        'time',
        'bare',
        'tools[10]',
        'tools[11]',
      ],
    ]);
    expect(problems.filter(({ kind }) => kind === 'refused_tool')).toHaveLength(bad.length);
  });

  it('takes from a definition what the protocol knows, and nothing else', async () => {
    const tool = wireTool('files.read', {
      ...{
        timeout_ms: 50,
        metadata: { team_name: 'x' },
        injected: [{ name: 'key', from: 'secret:chat' }],
        executor: 'local',
      },
      annotations: {
        kind: 'edit',
        side_effect_level: 'network',
        open_world: false,
        later: 1,
        safety: { allowed_roots: ['/a'], more: 1 },
      },
    });
    const { bridge } = await connected({ list: { protocol: 1, tools: [tool] } }, { names: 'mcp' });
    const read = bridge.tools.get('files.read');

    expect(read).toMatchObject({
      executor: 'host_bridge',
      injected: [],
      timeoutMs: 50,
      metadata: { teamName: 'x' },
    });
    expect(read?.annotations).toEqual({
      ...{ kind: 'edit', sideEffectLevel: 'network', safety: { allowedRoots: ['/a'] } },
      ...{ readOnly: false, destructive: true, idempotent: false, openWorld: false },
    });
  });

  it('takes no more tools than it can look at', async () => {
    const { bridge } = await connected({
      list: { protocol: 1, tools: Array.from({ length: 1_500 }, (_, n) => wireTool(`t${n}`)) },
    });

    expect(bridge.tools.names).toHaveLength(1_000);
    expect(bridge.refused).toEqual([{ name: '500 more', reason: 'a host may have 1000 tools' }]);
  });

  it.each([
    [{ connectTimeoutMs: 0 }, 'connectTimeoutMs'],
    [{ maxLineBytes: 10 }, 'maxLineBytes'],
    [{ onProblems: () => {} }, 'onProblems'],
  ])('refuses options that are wrong: %j', async (options, option) => {
    const host = await rawHost();

    await expect(hostBridge(host.channel, options as HostBridgeOptions)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      details: { option },
    });
  });

  it('refuses a channel that is none', async () => {
    const wrong = { readable: 'stdout' } as unknown as Parameters<typeof hostBridge>[0];

    await expect(hostBridge(wrong)).rejects.toSatisfy((error) =>
      isAlliumError(error, 'ERR_INVALID_OPTION'),
    );
  });
});

describe('closing a bridge', () => {
  it('is done by a host that says nothing more', async () => {
    const { governed, host } = await connected({ onCall: (_call, { socket }) => socket.end() });

    expect(await governed.call({ name: 'echo', arguments: {} })).toMatchObject({
      errorCategory: 'network',
      executed: 'unknown',
    });
    expect(host.channel.writable.destroyed).toBe(true);
  });

  it('lets out what was said before, closes the streams, and takes no more calls', async () => {
    const clock = testClock();
    const { bridge, host, governed } = await connected({}, { clock });
    const audit = { text: 'x'.repeat(900_000) };
    host.socket.pause();
    for (let index = 0; index < 20; index += 1)
      bridge.audit({
        type: 'tool_call_audit',
        session_id: 's1',
        tool_call_id: `c${index}`,
        tool_name: 'echo',
        audit,
      });
    const closing = bridge.close();
    host.socket.resume();
    await closing;
    await bridge.closed;

    await vi.waitFor(() =>
      expect(host.received.filter(({ method }) => method === 'tool_call_audit')).toHaveLength(20),
    );
    await vi.waitFor(() => expect(host.socket.destroyed).toBe(true));
    expect(clock.pending).toBe(0);
    expect(await governed.call({ name: 'echo', arguments: {} })).toMatchObject({
      errorCategory: 'network',
      errorClass: 'fatal',
      executed: 'no',
    });
  });

  it('happens with the dispatcher, and waits no longer than a second for a host that does not read', async () => {
    const clock = testClock();
    const { bridge, host, governed } = await connected({}, { clock });
    host.socket.pause();
    for (let index = 0; index < 10; index += 1)
      bridge.audit({
        type: 'tool_call_audit',
        session_id: 's1',
        tool_call_id: 'c1',
        tool_name: 'echo',
        audit: { text: 'x'.repeat(2_000_000) },
      });
    const closing = governed.close();
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    await clock.advance(1_000);
    await closing;

    expect(clock.pending).toBe(0);
    expect(host.channel.writable.destroyed).toBe(true);
  });
});
