import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRandom, type Random } from '../../../conformance/benches/fuzz/random.ts';
import {
  unhandledDuring,
  watchPrototypes,
} from '../../../conformance/benches/fuzz/watch-process.ts';
import { settle } from '../../../conformance/test-kit.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import {
  echoCall,
  endAll,
  govern,
  type Message,
  type RawHost,
  rawHost,
  wireTool,
} from './hosts.fixture.ts';
import { hostBridge, type HostBridgeOptions } from './host-bridge.ts';
import type { BridgeProblem } from './problems.ts';

afterEach(endAll);

async function connected(
  onCall: (call: Message, host: RawHost) => void,
  options: HostBridgeOptions = {},
) {
  const host = await rawHost({ onCall });
  const problems: BridgeProblem[] = [];
  const bridge = await hostBridge(host.channel, {
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  return { host, bridge, problems, governed: govern({ tools: bridge.tools, executor: bridge }) };
}

const call = { name: 'echo', arguments: { secret: 'S3CRET' }, id: 'c1' };

describe('a host that does not keep to the protocol', () => {
  it.each([
    ['text', 'Traceback (most recent call last): S3CRET\n'],
    ['half a message', '{"jsonrpc":"2.0","result":{"value":"S3CRET"\n'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a])],
    ['a batch', '[{"jsonrpc":"2.0","id":2,"result":{"value":1}}]\n'],
    ['another JSON-RPC', '{"jsonrpc":"1.0","id":77,"result":{"value":1}}\n'],
    ['a number', '7\n'],
    ['null', 'null\n'],
    ['a long line', `${'x'.repeat(60_000)}\n`],
    [
      'an error for nobody',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"S3CRET"}}\n',
    ],
    ['an answer for another id', '{"jsonrpc":"2.0","id":99,"result":{"value":"S3CRET"}}\n'],
    ['an id that is a text', '{"jsonrpc":"2.0","id":"2","result":{"value":"S3CRET"}}\n'],
    ['an unknown notification', '{"jsonrpc":"2.0","method":"tools/changed"}\n'],
    ['a request', '{"jsonrpc":"2.0","id":1,"method":"tool/call","params":{"name":"echo"}}\n'],
  ])('is not stopped for writing %s, which is told without repeating it', async (_name, line) => {
    const { governed, problems } = await connected(
      (message, host) => {
        host.write(line);
        echoCall(message, host);
      },
      { maxLineBytes: 50_000 },
    );

    expect(await governed.call(call)).toMatchObject({ status: 'ok', result: call.arguments });
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain('S3CRET');
  });

  it.each<[string, (id: number) => string, string]>([
    ['is cut off', (id) => `{"jsonrpc":"2.0","id":${id},"result":{"val\n`, 'host_bridge_error'],
    [
      'is too long',
      (id) => `{"jsonrpc": "2.0", "id": ${id}, "result": {"value": "${'x'.repeat(60_000)}"}}\n`,
      'result_too_large',
    ],
    [
      'has neither a result nor an error',
      (id) => `{"jsonrpc":"2.0","id":${id}}\n`,
      'host_bridge_error',
    ],
    [
      'has both',
      (id) => `{"jsonrpc":"2.0","id":${id},"result":{},"error":{}}\n`,
      'host_bridge_error',
    ],
    ['names no version', (id) => `{"id":${id},"result":{"value":1}}\n`, 'host_bridge_error'],
    ['is a list', (id) => `{"jsonrpc":"2.0","id":${id},"result":[1]}\n`, 'host_bridge_error'],
    [
      'has blocks that are none',
      (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text"}]}}\n`,
      'host_bridge_error',
    ],
    [
      'has unknown blocks',
      (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"video","text":"x"}]}}\n`,
      'host_bridge_error',
    ],
    [
      'has a value and blocks',
      (id) => `{"jsonrpc":"2.0","id":${id},"result":{"value":1,"content":[]}}\n`,
      'host_bridge_error',
    ],
    [
      'nests too deep',
      (id) =>
        `{"jsonrpc":"2.0","id":${id},"result":{"value":${'['.repeat(9_000)}${']'.repeat(9_000)}}}\n`,
      'host_bridge_error',
    ],
  ])('fails the call whose answer %s, and no other', async (_name, answer, errorCategory) => {
    const { governed, host } = await connected(() => {}, { maxLineBytes: 50_000 });
    const calls = ['c1', 'c2', 'c3'].map((id) => governed.call({ ...call, id }));
    await vi.waitFor(() => expect(host.calls()).toHaveLength(3));
    const [first, second, third] = host.calls();
    host.write(answer(second?.id ?? 0));
    for (const one of [third, first]) if (one !== undefined) echoCall(one, host);

    expect(await calls[1]).toMatchObject({
      status: 'executor_error',
      errorCategory,
      executed: 'unknown',
    });
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([
      'ok',
      'executor_error',
      'ok',
    ]);
  });

  it('does not take an id out of a tool’s text for that of a broken answer', async () => {
    const { governed, host } = await connected(() => {});
    const calling = governed.call(call);
    await vi.waitFor(() => expect(host.calls()).toHaveLength(1));
    host.write(
      `{"jsonrpc":"2.0","result":{"value":"{"jsonrpc":"2.0","id":${String(host.calls()[0]?.id)},\n`,
    );
    for (const one of host.calls()) echoCall(one, host);

    expect(await calling).toMatchObject({ status: 'ok' });
  });

  it('changes no prototype', async () => {
    const changed = watchPrototypes();
    const { governed } = await connected(({ id }, { write }) => {
      write(
        `{"jsonrpc":"2.0","method":"tool/progress","params":{"call_id":"c1","__proto__":{"polluted":1},"constructor":{"prototype":1}}}\n`,
      );
      write(
        `{"jsonrpc":"2.0","id":${String(id)},"__proto__":{"error":1},"result":{"value":{"__proto__":{"polluted":1}}}}\n`,
      );
    });
    const { result, status } = await governed.call(call);

    expect([status, JSON.stringify(result)]).toEqual(['ok', '{"__proto__":{"polluted":1}}']);
    expect(changed()).toEqual([]);
  });

  it('is heard through a flood of notifications, and does not flood whoever is told', async () => {
    const { governed, problems } = await connected(({ id }, { say, write }) => {
      const progress = `${JSON.stringify({ jsonrpc: '2.0', method: 'tool/progress', params: { call_id: 'c1', progress: 1 } })}\n`;
      write(progress.repeat(50_000));
      write('nonsense\n'.repeat(50_000));
      say({ id, result: { value: 'heard' } });
    });
    let heard = 0;

    expect((await governed.call(call, { onProgress: () => (heard += 1) })).result).toBe('heard');
    expect(heard).toBe(50_000);
    expect(problems).toHaveLength(16);
    expect(problems.at(-1)).toMatchObject({ kind: 'unreadable_line', count: 32_768 });
  });

  /**
   * As many calls to a host that does not read as can wait, and the first that could not. The last
   * one before it waits for certain.
   */
  async function fillUp() {
    const { governed, host, bridge, problems } = await connected(() => {}, {
      maxLineBytes: 1_000_000,
    });
    host.socket.pause();
    const controller = new AbortController();
    const calls: Promise<ToolResult>[] = [];
    let refused: ToolResult | undefined;
    while (refused === undefined) {
      const request = {
        name: 'echo',
        arguments: { text: 'x'.repeat(900_000) },
        id: `c${calls.length}`,
      };
      const calling = governed.call(request, { signal: controller.signal });
      void calling.then((result) => (refused ??= result));
      calls.push(calling);
      await settle();
    }
    // To the last byte.
    while (problems.length === 0)
      bridge.audit({
        type: 'tool_call_audit',
        session_id: 's1',
        tool_call_id: 'c1',
        tool_name: 'echo',
        audit: {},
      });
    return { host, controller, calls: calls.slice(0, -1), refused, last: `c${calls.length - 2}` };
  }

  it('is refused calls that it does not read', async () => {
    const { refused, host, calls } = await fillUp();
    host.socket.destroy();
    await Promise.all(calls);

    expect(refused).toMatchObject({
      errorCategory: 'host_bridge_error',
      errorClass: 'retryable',
      executed: 'no',
    });
  });

  it('never gets a call that was cancelled before it could be sent', async () => {
    const { host, controller, calls, last } = await fillUp();
    controller.abort();
    await Promise.all(calls);
    host.socket.resume();
    await vi.waitFor(() => expect(host.received.at(-1)?.method).toBe('tool/cancel'));
    const got = host.calls().map(({ params }) => params?.call_id);

    expect(
      host.received
        .filter(({ method }) => method === 'tool/cancel')
        .map(({ params }) => params?.call_id),
    ).toEqual(got);
    expect(got).not.toContain(last);
  });

  it('has not run what was not sent when it goes', async () => {
    const { host, calls } = await fillUp();
    host.socket.destroy();
    const results = await Promise.all(calls);

    expect(results.at(0)).toMatchObject({ errorCategory: 'network', executed: 'unknown' });
    expect(results.at(-1)).toMatchObject({ errorCategory: 'network', executed: 'no' });
  });

  it('is not read further than UTF-8 goes', async () => {
    const { governed } = await connected(({ id }, { write }) =>
      write(
        Buffer.concat([
          Buffer.from(`{"jsonrpc":"2.0","id":${String(id)},"result":{"value":"`),
          Buffer.of(0xff),
          Buffer.from('"}}\n'),
        ]),
      ),
    );

    expect(await governed.call(call)).toMatchObject({
      errorCategory: 'host_bridge_error',
      executed: 'unknown',
    });
  });

  it('loses audit events it does not read, which is told', async () => {
    const { bridge, host, problems } = await connected(() => {}, { maxLineBytes: 1_000_000 });
    host.socket.pause();
    const audit = { text: 'x'.repeat(900_000) };
    for (let index = 0; index < 20; index += 1)
      bridge.audit({
        type: 'tool_call_audit',
        session_id: 's1',
        tool_call_id: `c${index}`,
        tool_name: 'echo',
        audit,
      });
    bridge.audit({
      type: 'tool_call_audit',
      session_id: 's1',
      tool_call_id: 'c',
      tool_name: 'echo',
      audit: { text: 'x'.repeat(2_000_000) },
    });

    expect(problems[0]).toEqual({
      kind: 'not_sent',
      message: 'a "tool_call_audit" was not sent: queue_full',
      count: 1,
    });
    expect(host.channel.writable.writableLength).toBeLessThan(2_000_000);
  });
});

/** A line of a well-behaved host, spoilt. */
function mutated(line: string, random: Random): Buffer {
  const bytes = Buffer.from(line);
  for (let times = 1 + random.below(4); times > 0; times -= 1) {
    const at = random.below(bytes.length);
    if (random.oneIn(3)) bytes[at] = random.below(256);
    else if (random.oneIn(2)) bytes.copy(bytes, at, random.below(bytes.length));
    else
      bytes.write(
        random.pick([
          '{',
          '}',
          '"',
          ',',
          ':',
          '[',
          'null',
          '-1',
          '1e999',
          '"id":',
          '__proto__',
          '\n',
          '\\u0000',
        ]),
        at,
      );
  }
  return random.oneIn(4) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

describe('ten thousand spoilt lines', () => {
  it('crash nothing, hang nothing, and every call has one answer', async () => {
    const random = createRandom(20_261);
    const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
    const changed = watchPrototypes();
    let answered = 0;
    const unhandled = await unhandledDuring(async () => {
      const { governed, host } = await connected(() => {});
      const calls = Array.from({ length: 200 }, (_, index) =>
        governed.call({ ...call, id: `c${index}` }).then(() => (answered += 1)),
      );
      await vi.waitFor(() => expect(host.calls()).toHaveLength(200));
      for (let index = 0; index < 10_000; index += 1) {
        const id = random.below(220);
        const said = random.pick([
          line({ id, result: { value: { text: 'hello' } } }),
          line({ id, result: { content: [{ type: 'text', text: 'hello' }], is_error: true } }),
          line({ id, error: { code: -32000, message: 'broke', data: { executed: 'no' } } }),
          line({
            method: 'tool/progress',
            params: { call_id: `c${id}`, progress: 1, message: 'half' },
          }),
          line({ id, method: 'tool/list' }),
        ]);
        host.write(mutated(said, random));
        if (random.oneIn(3)) host.write('\n');
      }
      host.socket.end();
      await Promise.all(calls);
    });

    expect(answered).toBe(200);
    expect(unhandled).toEqual([]);
    expect(changed()).toEqual([]);
  });

  it('spoil no list of tools so that connecting hangs, or takes a tool that is none', async () => {
    const random = createRandom(4_711);
    const good = JSON.stringify({
      protocol: 1,
      tools: [wireTool('one'), wireTool('two', { timeout_ms: 5 })],
    });
    const endings = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const host = await rawHost({ list: listOf(mutated(good, random).toString()) });
        const ending = await hostBridge(host.channel).then(
          ({ tools }) => tools.names,
          (error: unknown) => (isAlliumError(error) ? error.code : 'another error'),
        );
        host.socket.destroy();
        return ending;
      }),
    );

    expect(endings).toContain('ERR_HOST_BRIDGE');
    expect(
      endings
        .filter((ending) => typeof ending === 'string')
        .every((code) => code === 'ERR_HOST_BRIDGE'),
    ).toBe(true);
    expect(endings.flat().every((name) => /^[a-zA-Z][\w-]{0,63}$/.test(name))).toBe(true);
  });
});

/** What was meant as a list, as far as it is still JSON. */
function listOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
