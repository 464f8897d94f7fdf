import { describe, expect, it } from 'vitest';
import { causeOf, ok, raise, refuse } from '../results.ts';
import { unhandledDuring } from '../../../../conformance/benches/fuzz/watch-process.ts';
import { echoExecutor, makeCall } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import { isAlliumError } from '../../contract/errors.ts';
import { type Next, type ToolCaller, type ToolLayer } from '../../contract/layer.ts';
import type { ToolResult } from '../../contract/result.ts';
import { pass } from './layers.fixture.ts';

const linesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name, status }) => `${name}: ${status}`);

/** What a caller throws. */
async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

describe('law 3: nothing throws through the onion', () => {
  const oops = new Error('oops');
  it.each<[string, Next]>([
    [
      'at once',
      () => {
        throw oops;
      },
    ],
    ['later', () => Promise.reject(oops)],
  ])('when the executor throws %s', async (_, executor) => {
    const result = await composeToolCallers([{ name: 'outer', caller: pass }])(
      makeCall(),
      executor,
    );

    expect(result).toMatchObject({
      ok: false,
      status: 'executor_error',
      error: 'oops',
      executed: 'unknown',
    });
    expect(linesOf(result)).toEqual(['outer: executor_error']);
    expect(causeOf(result)).toBe(oops);
  });

  it.each<[string, ToolCaller, number]>([
    [
      'at once',
      () => {
        throw oops;
      },
      0,
    ],
    [
      'later, before next',
      async () => {
        throw oops;
      },
      0,
    ],
    [
      'after next',
      async (call, next) => {
        await next(call);
        throw oops;
      },
      1,
    ],
    [
      'while next is under way',
      (call, next) => {
        void next(call);
        throw oops;
      },
      1,
    ],
  ])('when a layer throws %s', async (_, caller, runs) => {
    const seen: string[] = [];
    const outer: ToolCaller = async (call, next) => {
      const result = await next(call);
      seen.push(result.status);
      return result;
    };
    const executor = echoExecutor();
    const stack = [
      { name: 'outer', caller: outer },
      { name: 'bad', caller },
      { name: 'inner', caller: pass },
    ];
    const result = await composeToolCallers(stack)(makeCall(), executor);

    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      toolCallId: 'call-1',
    });
    expect(result.error).toBe(
      'The layer "bad" failed, so this call of echo was stopped. Do not repeat it unchanged.',
    );
    expect(result.audit?.layers.find(({ name }) => name === 'bad')).toMatchObject({
      status: 'exception',
      error: 'oops',
    });
    expect(linesOf(result).at(-1)).toBe('outer: tool_middleware_exception');
    expect(seen).toEqual(['tool_middleware_exception']);
    expect(executor.calls).toHaveLength(runs);
  });

  it('and a raise is seen by every layer outside before it is thrown', async () => {
    const seen: string[] = [];
    const watching = (name: string): ToolLayer => ({
      name,
      caller: async (call, next) => {
        const result = await next(call);
        seen.push(`${name} saw ${result.status}`);
        return result;
      },
    });
    const scope: ToolLayer = {
      name: 'scope',
      caller: (call) => raise(refuse(call, 'scope_violation', 'Not in this stage.')),
    };
    const executor = echoExecutor();
    const thrown = await thrownBy(
      composeToolCallers([watching('a'), watching('b'), scope])(makeCall(), executor),
    );

    expect(seen).toEqual(['b saw scope_violation', 'a saw scope_violation']);
    expect(thrown).toMatchObject({
      code: 'ERR_CALL_REFUSED',
      details: { status: 'scope_violation', toolCallId: 'call-1' },
    });
    expect(isAlliumError(thrown) && thrown.result && linesOf(thrown.result)).toEqual([
      'scope: scope_violation',
      'b: scope_violation',
      'a: scope_violation',
    ]);
    expect(executor.calls).toEqual([]);
  });

  it.each<[string, ToolCaller]>([
    [
      'answers ok',
      async (call, next) => {
        await next(call);
        return ok(call, 'all is well');
      },
    ],
    [
      'throws',
      async (call, next) => {
        await next(call);
        throw oops;
      },
    ],
  ])('and a raise is thrown although a layer outside %s', async (_, caller) => {
    const raising: Next = async (call) =>
      raise(refuse(call, 'policy_blocked', 'No.'), 'ERR_INVALID_ARGS');
    for (const members of [[caller], [caller, pass], [pass, caller]]) {
      const thrown = await thrownBy(composeToolCallers(members)(makeCall(), raising));

      expect(thrown).toMatchObject({ code: 'ERR_INVALID_ARGS', message: 'policy_blocked: No.' });
      expect(isAlliumError(thrown) && thrown.result).toMatchObject({
        ok: false,
        toolCallId: 'call-1',
      });
    }
  });

  it('and the error of a raise knows what ran afterwards', async () => {
    let attempt = 0;
    const scope: ToolCaller = (call, next) =>
      (attempt += 1) === 1 ? raise(refuse(call, 'scope_violation', 'No.')) : next(call);
    const retry: ToolCaller = async (call, next) => ((await next(call)).ok ? ok(call) : next(call));
    const thrown = await thrownBy(composeToolCallers([retry, scope])(makeCall(), echoExecutor()));

    expect(isAlliumError(thrown) && thrown.result).toMatchObject({
      status: 'scope_violation',
      executed: 'yes',
    });
  });

  it('and a raise of the executor is thrown by an empty stack, too', async () => {
    const raising: Next = async (call) => raise(refuse(call, 'policy_blocked', 'No.'));

    expect(await thrownBy(composeToolCallers([])(makeCall(), raising))).toMatchObject({
      code: 'ERR_CALL_REFUSED',
    });
  });

  it('and next never rejects, so that a layer may start it and throw', async () => {
    const startAndThrow: ToolCaller = (call, next) => {
      void next(call);
      throw oops;
    };
    const executor: Next = () => Promise.reject(oops);
    const naive = async () =>
      thrownBy(Promise.resolve().then(() => startAndThrow(makeCall(), executor)));

    expect(
      await unhandledDuring(() => composeToolCallers([startAndThrow])(makeCall(), executor)),
    ).toEqual([]);
    expect(await unhandledDuring(naive)).toEqual([oops]);
  });
});
