import { describe, expect, it } from 'vitest';
import { createPass } from './pass.ts';
import { type CallChanges, createCall, ownCall, stateOf, withCall } from './own-call.ts';
import { echoExecutor, makeCall } from '../../../conformance/test-kit.ts';
import { SLOT, type ToolCall } from '../contract/call.ts';
import { composeToolCallers } from './compose.ts';
import type { ToolCaller } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';

/** What the executor got when a layer passed on something of its own making. */
async function passing(
  make: (call: ToolCall) => unknown,
): Promise<{ result: ToolResult; got: ToolCall | undefined }> {
  const executor = echoExecutor();
  const caller: ToolCaller = (call, next) => next(make(call) as ToolCall); // What layers without types pass on.
  const stack = [
    { name: 'passing', caller },
    { name: 'inner', caller: ((call, next) => next(call)) satisfies ToolCaller },
  ];
  const result = await composeToolCallers(stack)(makeCall({ toolArgs: { a: 1 } }), executor);
  return { result, got: executor.calls[0] };
}

describe('withCall', () => {
  it('changes what it is told to, and keeps who and when', () => {
    const call = makeCall({ toolArgs: { a: 1 }, turn: { iteration: 4 }, metadata: { m: 1 } });
    const { signal } = new AbortController();
    const report = () => {};
    const changed = withCall(call, { toolName: 'other', toolArgs: { b: [2] }, signal, report });

    expect(changed).toMatchObject({
      toolName: 'other',
      toolArgs: { b: [2] },
      callId: 'call-1',
      turn: { iteration: 4 },
      metadata: { m: 1 },
    });
    expect([changed.signal, changed.report]).toEqual([signal, report]);
    expect(call).toMatchObject({ toolName: 'echo', toolArgs: { a: 1 } });
    expect(stateOf(changed)).toBe(stateOf(call));
  });

  it('freezes the new arguments in depth, as a copy', () => {
    const toolArgs = { list: [{ n: 1 }] };
    const changed = withCall(makeCall(), { toolArgs });
    toolArgs.list.push({ n: 2 });

    expect(changed.toolArgs).toEqual({ list: [{ n: 1 }] });
    expect(Object.isFrozen(changed)).toBe(true);
    expect(Object.isFrozen((changed.toolArgs['list'] as readonly object[])[0])).toBe(true);
  });

  it.each<[string, object]>([
    ['an empty name', { toolName: '' }],
    ['a name that is no text', { toolName: 5 }],
    ['a signal that is none', { signal: {} }],
    ['a report that cannot be called', { report: 'progress' }],
  ])('refuses %s', (_, changes) => {
    expect(() => withCall(makeCall(), changes as CallChanges)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_CALL' }),
    );
  });

  it.each<[string, unknown]>([
    ['a list', [1]],
    ['text', 'args'],
    ['a function inside', { run: () => 1 }],
    ['null', null],
  ])('refuses arguments that are %s', (_, toolArgs) => {
    expect(() => withCall(makeCall(), { toolArgs: toolArgs as object })).toThrow(
      expect.objectContaining({ code: 'ERR_NOT_JSON' }),
    );
  });

  it('reads every change once', () => {
    let reads = 0;
    const fickle = {
      get toolName() {
        reads += 1;
        return reads === 1 ? 'checked' : 'another';
      },
    };

    expect(withCall(makeCall(), fickle).toolName).toBe('checked');
  });
});

describe('a call that is passed to next', () => {
  it('may be a copy by spread, and is taken for what withCall would have made', async () => {
    const { signal } = new AbortController();
    const report = () => {};
    const { result, got } = await passing((call) => ({
      ...call,
      ...{
        callId: 'forged',
        turn: { iteration: 99, sessionId: 'forged' },
        annotations: { readOnly: true },
        schema: {},
        description: 'forged',
      },
      ...{ toolName: 'other', toolArgs: { b: [1] }, signal, report },
    }));

    expect(got).toMatchObject({
      callId: 'call-1',
      turn: { iteration: 1, sessionId: 'session-1' },
      schema: null,
    });
    expect(got).toMatchObject({
      toolName: 'other',
      toolArgs: { b: [1] },
      annotations: { readOnly: false },
      description: 'Answers with its arguments.',
    });
    expect([got?.signal, got?.report]).toEqual([signal, report]);
    expect(Object.isFrozen(got) && Object.isFrozen(got?.toolArgs['b'])).toBe(true);
    expect(result).toMatchObject({ ok: true, toolCallId: 'call-1' });
  });

  it('may be a copy of a changed one', async () => {
    const { got } = await passing((call) => ({ ...withCall(call, { toolArgs: { changed: 1 } }) }));

    expect(got?.toolArgs).toEqual({ changed: 1 });
  });

  it.each<[string, (call: ToolCall) => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['text', () => 'call'],
    ['an empty object', () => ({})],
    ['a copy without its slot', (call) => JSON.parse(JSON.stringify(call)) as unknown],
    ['a call of somebody else', () => makeCall()],
    ['a copy of a call of somebody else', () => ({ ...makeCall() })],
    ['a call that was never let in', (call) => createCall(call, createPass())],
    ['a slot without a state', () => ({ [SLOT]: {} })],
    ['a copy with arguments that are no JSON', (call) => ({ ...call, toolArgs: { n: 1n } })],
    ['a copy with a name that is no text', (call) => ({ ...call, toolName: 7 })],
    [
      'a copy that throws when it is read',
      (call) =>
        Object.defineProperty({ ...call }, 'toolArgs', {
          get: () => {
            throw new Error('read');
          },
        }),
    ],
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
  ])('must not be %s', async (_, make) => {
    const { result, got } = await passing(make);

    expect(got).toBeUndefined();
    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      executed: 'no',
      toolCallId: 'call-1',
    });
    expect(result.audit?.layers.map(({ name, status }) => `${name}: ${status}`)).toEqual([
      'passing: exception',
    ]);
    expect(result.audit?.layers[0]?.error).toMatch(/^passed on a call that cannot be used: ./);
  });
});

describe('a call that is handed to a stack', () => {
  it('may be a copy by spread, which is taken for what withCall would have made', async () => {
    const executor = echoExecutor();
    await composeToolCallers([])(
      { ...makeCall(), callId: 'forged', toolArgs: { list: [1] } },
      executor,
    );

    expect(executor.calls[0]).toMatchObject({ callId: 'call-1', toolArgs: { list: [1] } });
    expect(Object.isFrozen(executor.calls[0]?.toolArgs['list'])).toBe(true);
  });

  it.each([undefined, null, {}, 'call'])('is refused when nobody made it: %j', async (call) => {
    const handed = composeToolCallers([])(call as ToolCall, echoExecutor()); // Somebody without types.

    await expect(handed).rejects.toMatchObject({ code: 'ERR_INVALID_CALL' });
  });
});

describe('ownCall', () => {
  it('hands back the call itself', () => {
    const call = makeCall();

    expect(ownCall(call)).toBe(call);
    expect(ownCall({ ...call })).not.toBe(call);
  });
});
