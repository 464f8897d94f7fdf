import { describe, expect, it } from 'vitest';
import { annotate, causeOf, ok, raise, refuse } from './results.ts';
import { withCall } from './own-call.ts';
import { unhandledDuring } from '../../../conformance/benches/fuzz/watch-process.ts';
import { echoExecutor, makeCall, settle, testClock } from '../../../conformance/test-kit.ts';
import type { ToolCall } from '../contract/call.ts';
import { composeToolCallers } from './compose.ts';
import type { Next, ToolCaller, ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { whenAborted } from '../time/abort.ts';

const pass: ToolCaller = (call, next) => next(call);
const layer = (name: string, caller: ToolCaller = pass): ToolLayer => ({ name, caller });
const linesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name, status }) => `${name}: ${status}`);
const blocking = layer('blocking', (call) => refuse(call, 'policy_blocked', 'No.'));

/** Takes its call back when told to, and answers without waiting. */
const leaving = layer('leaving', async (call, next) => {
  const own = new AbortController();
  void next(withCall(call, { signal: own.signal }));
  await settle();
  own.abort();
  return annotate(refuse(call, 'timeout', 'Too slow.'), {}, { status: 'left' });
});

describe('a stack that a layer calls inside itself', () => {
  const inner = composeToolCallers([layer('inner')]);
  const joining = (stack = inner, caller: ToolCaller = (call, next) => stack(call, next)) =>
    layer('joining', caller);

  it('has one record with the stack around it', async () => {
    const result = await composeToolCallers([layer('outer'), joining(), layer('below')])(
      makeCall(),
      echoExecutor(),
    );

    expect(linesOf(result)).toEqual(['below: ok', 'inner: ok', 'joining: ok', 'outer: ok']);
    expect(result).toMatchObject({ ok: true, executed: 'yes' });
  });

  it.each<[string, ToolLayer, string]>([
    ['refuses', blocking, 'no'],
    ['lets through', layer('lets through'), 'yes'],
  ])('tells truthfully what ran when it %s', async (_, member, executed) => {
    const stacks: readonly ToolCaller[] = [
      (call, next) => composeToolCallers([member])(call, next),
      async (call, next) => composeToolCallers([member])(withCall(call, {}), next),
      (call, next) =>
        composeToolCallers([(given, on) => composeToolCallers([member])(given, on)])(call, next),
    ];
    for (const caller of stacks) {
      const executor = echoExecutor();
      const result = await composeToolCallers([joining(inner, caller), layer('below')])(
        makeCall(),
        executor,
      );

      expect(result.executed).toBe(executed);
      expect(executor.calls).toHaveLength(executed === 'yes' ? 1 : 0);
    }
  });

  it('shows its own layers what ran below', async () => {
    const seen: string[] = [];
    const seeing = composeToolCallers([
      async (call, next) => {
        const result = await next(call);
        seen.push(result.executed);
        return result;
      },
    ]);
    for (const below of [[], [layer('below')], [blocking]]) {
      await composeToolCallers([joining(seeing), ...below])(makeCall(), echoExecutor());
    }

    expect(seen).toEqual(['yes', 'yes', 'no']);
  });

  it.each<[string, (own: Next) => ToolCaller]>([
    ['an executor', (own) => (call) => inner(call, own)],
    ['a function around next', (own) => (call, next) => inner(call, (on) => next(on) ?? own(on))],
  ])('refuses %s in the place of the next of its layer, and runs nothing', async (_, caller) => {
    const [own, executor] = [echoExecutor(), echoExecutor()];
    const result = await composeToolCallers([joining(inner, caller(own)), layer('below')])(
      makeCall(),
      executor,
    );

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'no' });
    expect(String(causeOf(result))).toContain('list its layers');
    expect([...own.calls, ...executor.calls]).toEqual([]);
  });

  it('refuses the next of a layer that has answered', async () => {
    const executor = echoExecutor();
    const late: Promise<ToolResult>[] = [];
    const hasty = joining(inner, (call, next) => {
      void settle().then(() => late.push(inner(call, next)));
      return ok(call, 'not waited');
    });
    await composeToolCallers([
      layer('outer', async (call, next) => {
        const result = await next(call);
        await settle();
        return result;
      }),
      hasty,
    ])(makeCall(), executor);

    expect(await Promise.all(late)).toMatchObject([{ status: 'tool_middleware_exception' }]);
    expect(executor.calls).toEqual([]);
  });

  it('measures the time of the tool alone', async () => {
    const clock = testClock();
    const asking = layer('asking', async (call, next) => {
      await clock.advance(1_000);
      return next(call);
    });
    const result = await composeToolCallers([joining(), asking], { clock })(
      makeCall(),
      async (call) => {
        await clock.advance(20);
        return ok(call);
      },
    );

    expect(result.executionDurationMs).toBe(20);
  });

  it('writes into the record what its layers wrote, and nothing else', async () => {
    const saying = layer('saying', async (call, next) =>
      annotate(await next(call), { kind: 'fetch', reason: 'below' }),
    );
    const call = makeCall({ annotations: { kind: 'read' } });
    const result = await composeToolCallers([joining(), saying])(call, echoExecutor());

    expect(result.audit).toMatchObject({ kind: 'fetch', reason: 'below' });
  });

  it('gives way to every layer outside it', async () => {
    const saying = (name: string): ToolLayer =>
      layer(name, async (call, next) => annotate(await next(call), { summary: name }));
    const stack = composeToolCallers([saying('inside')]);
    const result = await composeToolCallers([layer('outer'), saying('around'), joining(stack)])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.audit?.summary).toBe('around');
  });

  it('lets an outer layer keep the last word over everything inside', async () => {
    const saying = (name: string): ToolLayer =>
      layer(name, async (call, next) => annotate(await next(call), { summary: name }));
    const twice = layer('twice', async (call, next) => {
      await next(call);
      return next(call);
    });
    const stack = composeToolCallers([twice, saying('inside')]);
    const result = await composeToolCallers([joining(stack), saying('below')])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.audit?.summary).toBe('inside');
  });

  it('may leave early; what it left behind shows nowhere and runs nothing', async () => {
    const gate = new AbortController();
    const slow = layer('slow', async (call, next) => {
      await whenAborted(gate.signal).aborted;
      return annotate(await next(withCall(call, { signal: new AbortController().signal })), {
        late: true,
      });
    });
    const outer = layer('outer', async (call, next) => {
      const result = await next(call);
      gate.abort();
      await settle();
      return result;
    });
    const executor = echoExecutor();
    const result = await composeToolCallers([outer, joining(composeToolCallers([leaving])), slow])(
      makeCall(),
      executor,
    );

    expect(linesOf(result)).toEqual(['leaving: left', 'joining: timeout', 'outer: timeout']);
    expect(result).toMatchObject({ status: 'timeout', executed: 'no' });
    expect(result.audit).not.toHaveProperty('late');
    expect(executor.calls).toEqual([]);
  });

  it('writes nothing any more when a layer outside has left', async () => {
    const gate = new AbortController();
    const outer = layer('outer', async (call, next) => {
      const result = await next(call);
      gate.abort();
      await settle();
      return result;
    });
    const stack = composeToolCallers([
      layer('inner', async (call, next) => annotate(await next(call), { late: true })),
    ]);
    const result = await composeToolCallers([outer, leaving, joining(stack)])(
      makeCall(),
      async (call) => {
        await whenAborted(gate.signal).aborted;
        return raise(refuse(call, 'policy_blocked', 'Too late.'));
      },
    );

    expect(linesOf(result)).toEqual(['leaving: left', 'outer: timeout']);
    expect(result.audit).not.toHaveProperty('late');
  });

  it('may leave early before the layers below were entered, which then never are', async () => {
    const gate = new AbortController();
    const slow = layer('slow', async (call, next) => {
      await whenAborted(gate.signal).aborted;
      return next(withCall(call, { signal: new AbortController().signal }));
    });
    const entered: string[] = [];
    const below = layer('below', (call, next) => {
      entered.push('below');
      return next(call);
    });
    const stack = composeToolCallers([leaving, slow]);
    const outer = layer('outer', async (call, next) => {
      const result = await next(call);
      gate.abort();
      await settle();
      return result;
    });
    const result = await composeToolCallers([outer, joining(stack), below])(
      makeCall(),
      echoExecutor(),
    );

    expect(result).toMatchObject({ status: 'timeout', executed: 'no' });
    expect(entered).toEqual([]);
  });

  it('does no harm when the layer forgets to wait for it', async () => {
    const executor = echoExecutor();
    const slow = composeToolCallers([
      async (call, next) => {
        await settle();
        return next(call);
      },
    ]);
    const hasty = joining(inner, (call, next) => {
      void slow(call, next);
      return ok(call, 'not waited');
    });
    const unhandled = await unhandledDuring(async () => {
      const result = await composeToolCallers([hasty])(makeCall(), executor);
      expect(linesOf(result)).toEqual(['joining: exception']);
      await settle();
      await settle();
    });

    expect(unhandled).toEqual([]);
    expect(executor.calls).toEqual([]);
  });

  it('raises at the outer edge only', async () => {
    const seen: string[] = [];
    const raising = composeToolCallers([(call) => raise(refuse(call, 'scope_violation', 'Out.'))]);
    const watching = layer('watching', async (call, next) => {
      const result = await raising(call, next);
      seen.push(result.status);
      return ok(call, 'covered up');
    });

    await expect(composeToolCallers([watching])(makeCall(), echoExecutor())).rejects.toMatchObject({
      code: 'ERR_CALL_REFUSED',
    });
    expect(seen).toEqual(['scope_violation']);
  });

  it('cannot be used to turn a cancelled call into a success', async () => {
    const cheerful = joining(inner, async (call, next) =>
      (await inner(call, next)).ok ? ok(call) : ok(call, 'all is well'),
    );
    const result = await composeToolCallers([cheerful])(
      makeCall({ signal: AbortSignal.abort() }),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: false, status: 'cancelled', executed: 'no' });
  });

  it('takes a copy of a call for what withCall would have made of it', async () => {
    const seen: ToolCall[] = [];
    const seeing = composeToolCallers([
      (call, next) => {
        seen.push(call);
        return next(call);
      },
    ]);
    const forging = joining(seeing, (call, next) =>
      seeing({ ...call, callId: 'forged', toolArgs: { a: [1] } }, next),
    );
    const executor = echoExecutor();
    await composeToolCallers([forging])(makeCall(), executor);

    for (const call of [seen[0], executor.calls[0]]) {
      expect(call).toMatchObject({ callId: 'call-1', toolArgs: { a: [1] } });
      expect(Object.isFrozen(call?.toolArgs['a'])).toBe(true);
    }
  });
});

describe('a stack that is the executor of another', () => {
  it('is refused, and its executor is not entered', async () => {
    const executor = echoExecutor();
    const stack = composeToolCallers([layer('inner')]);
    const result = await composeToolCallers([layer('outer')])(makeCall(), (call) =>
      stack(call, executor),
    );

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'no' });
    expect(executor.calls).toEqual([]);
  });
});
