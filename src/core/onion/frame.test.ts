import { describe, expect, it } from 'vitest';
import { annotate, causeOf, fail, ok, refuse } from './results.ts';
import { withCall } from './own-call.ts';
import { defineLayer } from '../contract/layer.ts';
import { echoExecutor, makeCall, settle } from '../../../conformance/test-kit.ts';
import { composeToolCallers } from './compose.ts';
import { cancelled } from './frame.ts';
import type { Next, ToolCaller, ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';

const pass: ToolCaller = (call, next) => next(call);
const layer = (name: string, caller: ToolCaller = pass): ToolLayer => ({ name, caller });
const linesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name, status }) => `${name}: ${status}`);

describe('a layer', () => {
  it('may answer at once, without a promise', async () => {
    const result = await composeToolCallers([layer('outer'), (call) => ok(call, 'at once')])(
      makeCall(),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: true, result: 'at once', executed: 'no' });
  });

  it('may answer with a thenable', async () => {
    const thenable = (result: ToolResult) =>
      ({ then: (resolve: (value: ToolResult) => void) => resolve(result) }) as Promise<ToolResult>; // Enough of one.
    const result = await composeToolCallers([(call) => thenable(ok(call, 'from afar'))])(
      makeCall(),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: true, result: 'from afar' });
  });

  it('may be asked again while an earlier call waits', async () => {
    const stack = composeToolCallers([
      async (call, next) => {
        await settle();
        return next(call);
      },
    ]);
    const results = await Promise.all(
      ['a', 'b'].map((callId) => stack(makeCall({ callId }), echoExecutor())),
    );

    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(['a', 'b']);
  });

  it('is told in its result what it did, and the host gets the error itself', async () => {
    const error = new Error('internal detail');
    const result = await composeToolCallers([layer('bad', () => Promise.reject(error))])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.error).not.toContain('internal detail');
    expect(result.renderedResult).not.toContain('internal detail');
    expect(causeOf(result)).toBe(error);
  });

  it('keeps its own line when it leaves early and annotates', async () => {
    const timing = layer('timing', async (call, next) => {
      const own = new AbortController();
      const pending = next(withCall(call, { signal: own.signal }));
      await settle();
      own.abort();
      void pending;
      return annotate(
        refuse(call, 'timeout', 'Too slow.'),
        { summary: 'timing' },
        { status: 'limit', limitMs: 5 },
      );
    });
    const stuck = layer('stuck', () => new Promise(() => {}));
    const result = await composeToolCallers([layer('outer'), timing, stuck])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.audit?.layers).toMatchObject([
      { name: 'timing', status: 'limit', limitMs: 5 },
      { name: 'outer', status: 'timeout' },
    ]);
  });

  it('keeps its own line when it annotates a result of its own after next', async () => {
    const judging = layer('judging', async (call, next) => {
      await next(call);
      return annotate(refuse(call, 'policy_blocked', 'No.'), {}, { status: 'judged' });
    });
    const result = await composeToolCallers([layer('outer'), judging, layer('inner')])(
      makeCall(),
      echoExecutor(),
    );

    expect(linesOf(result)).toEqual(['inner: ok', 'judging: judged', 'outer: policy_blocked']);
  });
});

describe('a result of another call', () => {
  const foreign = ok(makeCall({ callId: 'another' }), 'somebody else’s');

  it.each<[string, readonly ToolCaller[], string]>([
    ['outermost', [() => foreign, pass], 'caller 1'],
    [
      'innermost',
      [
        pass,
        async (call, next) => {
          await next(call);
          return foreign;
        },
      ],
      'caller 2',
    ],
  ])('is refused from the %s layer, which is named', async (_, members, name) => {
    const stack = members.map((caller, index) => layer(`caller ${index + 1}`, caller));
    const result = await composeToolCallers(stack)(makeCall(), echoExecutor());

    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      toolCallId: 'call-1',
      result: null,
    });
    expect(result.audit?.layers.find((line) => line.name === name)).toMatchObject({
      status: 'exception',
    });
    expect(JSON.stringify(result)).not.toContain('somebody else');
  });

  it('is refused from the executor', async () => {
    const result = await composeToolCallers([pass])(makeCall(), async () => foreign);

    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      toolCallId: 'call-1',
      executed: 'yes',
    });
    expect(result.error).toMatch(
      /^executor answered with something that is not a result of this call/,
    );
  });

  it('may be an earlier pass of the same call, and is refused as well', async () => {
    const call = makeCall();
    const stack = composeToolCallers([pass]);
    const earlier = await stack(call, echoExecutor());
    const result = await composeToolCallers([() => earlier])(call, echoExecutor());

    expect(result.status).toBe('tool_middleware_exception');
  });
});

describe('executed', () => {
  it.each<[string, Next, string]>([
    ['answered', async (call) => ok(call), 'yes'],
    [
      'reported an error',
      async (call) => fail(call, 'executor_error', null, 'No such file.'),
      'yes',
    ],
    ['refused by itself', async (call) => refuse(call, 'permission_denied', 'Not yours.'), 'yes'],
    [
      'knows that nothing was reached',
      async (call) => fail(call, 'executor_error', null, 'Down.', { executed: 'no' }),
      'no',
    ],
    [
      'does not know',
      async (call) => fail(call, 'executor_error', null, 'Gone.', { executed: 'unknown' }),
      'unknown',
    ],
    ['threw', () => Promise.reject(new Error('x')), 'unknown'],
  ])('is stamped by the bottom: the executor %s', async (_, executor, executed) => {
    for (const members of [[], [pass]])
      expect((await composeToolCallers(members)(makeCall(), executor)).executed).toBe(executed);
  });

  it('cannot be talked down by a layer', async () => {
    const lying = layer('lying', async (call, next) => {
      await next(call);
      return fail(call, 'executor_error', null, 'It never ran.', { executed: 'no' });
    });

    expect((await composeToolCallers([lying])(makeCall(), echoExecutor())).executed).toBe('yes');
  });
});

describe('cancelled', () => {
  it('is what a caller gets that took its call back', () => {
    expect(cancelled(makeCall())).toMatchObject({
      ok: false,
      status: 'cancelled',
      errorClass: 'fatal',
      executed: 'no',
    });
  });
});

describe('what an executor answers', () => {
  it('is handed to the innermost layer as it was built, without a copy', async () => {
    let built: unknown = null;
    let seen: unknown = null;
    const looking = defineLayer({
      name: 'looking',
      caller: async (call, next) => (seen = await next(call)),
    });
    await composeToolCallers([looking])(makeCall(), async (call) => (built = ok(call, 1)));

    expect(built).toMatchObject({ executed: 'yes' });
    expect(seen).toBe(built);
  });

  it('is over when a layer builds a result of its own: that one says what is known to have run', async () => {
    const executed: string[] = [];
    const building = defineLayer({
      name: 'building',
      async caller(call, next) {
        executed.push(ok(call).executed);
        await next(call);
        executed.push(ok(call).executed);
        return refuse(call, 'policy_blocked', 'No.');
      },
    });
    await composeToolCallers([building])(makeCall(), () => Promise.reject(new Error('broke off')));

    expect(executed).toEqual(['no', 'unknown']);
  });
});
