import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causeOf, ok, raise, refuse } from './results.ts';
import { unhandledDuring } from '../../../conformance/benches/fuzz/watch-process.ts';
import { echoExecutor, makeCall } from '../../../conformance/test-kit.ts';
import { type ComposedCaller, composeToolCallers } from './compose.ts';
import { isAlliumError } from '../contract/errors.ts';
import {
  type Next,
  type ToolCaller,
  type ToolLayer,
  type ToolSpec,
  when,
} from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** A layer that writes down when it is entered and left. */
const tracing = (name: string, trace: string[]): ToolLayer => ({
  name,
  async caller(call, next) {
    trace.push(`${name} in`);
    const result = await next(call);
    trace.push(`${name} out`);
    return result;
  },
});

const tracingExecutor =
  (trace: string[]): Next =>
  async (call) => {
    trace.push('executor');
    return ok(call, call.toolArgs);
  };

const linesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name, status }) => `${name}: ${status}`);

/** What a caller throws. */
async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

describe('law 1: first is outermost', () => {
  it('on the way in and on the way out', async () => {
    const trace: string[] = [];
    const caller = composeToolCallers(['a', 'b', 'c'].map((name) => tracing(name, trace)));
    await caller(makeCall(), tracingExecutor(trace));

    expect(trace).toEqual(['a in', 'b in', 'c in', 'executor', 'c out', 'b out', 'a out']);
  });

  it('however the list is nested', async () => {
    type Nested = string | Nested[];
    const { tree } = fc.letrec<{ tree: Nested[] }>((tie) => ({
      tree: fc.array(fc.oneof({ maxDepth: 4 }, fc.constantFrom('a', 'b', 'c'), tie('tree')), {
        maxLength: 4,
      }),
    }));
    await fc.assert(
      fc.asyncProperty(tree, async (nested) => {
        const [flat, deep]: [string[], string[]] = [[], []];
        const flatResult = await composeToolCallers(
          namesIn(nested).map((name) => tracing(name, flat)),
        )(makeCall(), tracingExecutor(flat));
        const deepResult = await nest(nested, deep)(makeCall(), tracingExecutor(deep));

        expect(deep).toEqual(flat);
        expect(linesOf(deepResult)).toEqual(linesOf(flatResult));
      }),
      { numRuns: howMany(100, 200) },
    );

    function namesIn(members: readonly Nested[]): readonly string[] {
      return members.flatMap((member) => (typeof member === 'string' ? [member] : namesIn(member)));
    }
    function nest(members: readonly Nested[], trace: string[]): ComposedCaller {
      return composeToolCallers(
        members.map((member) =>
          typeof member === 'string' ? tracing(member, trace) : nest(member, trace),
        ),
      );
    }
  });

  it('and an empty list passes through', async () => {
    const executor = echoExecutor();
    const result = await composeToolCallers([])(makeCall({ toolArgs: { n: 1 } }), executor);

    expect(result).toMatchObject({ ok: true, status: 'ok', executed: 'yes', result: { n: 1 } });
    expect(result.audit).toBeUndefined();
    expect(executor.calls).toHaveLength(1);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a function', () => {}],
    ['a layer', { name: 'a', caller: () => {} }],
    ['a list like object', { length: 1, 0: () => {} }],
    ['a set', new Set([() => {}])],
    ['text', 'abc'],
    ['a list with null', [null]],
    ['a list with nothing', [undefined]],
    ['a list with a hole', new Array(2)],
    ['a list with text', ['auditLog']],
    ['a list with a list', [[(call: unknown) => call]]],
    ['a list with an empty object', [{}]],
    ['a layer without a name', [{ caller: () => {} }]],
    ['a layer without a caller', [{ name: 'a' }]],
    ['a layer with a misspelt member', [{ name: 'a', caller: () => {}, observe: true }]],
  ])('and %s is refused when composed', (_, members) => {
    const compose = () => composeToolCallers(members as unknown as ToolLayer[]); // Not a list of layers: that is the case.

    expect(compose).toThrow(expect.objectContaining({ code: 'ERR_INVALID_LAYER' }));
  });

  it('also where a layer calls a composed stack inside itself', async () => {
    const trace: string[] = [];
    const inner = composeToolCallers([tracing('b', trace), tracing('c', trace)]);
    const outer = composeToolCallers([
      { name: 'a', caller: (call, next) => inner(call, next) },
      tracing('d', trace),
    ]);
    const result = await outer(makeCall(), tracingExecutor(trace));

    expect(trace).toEqual(['b in', 'c in', 'd in', 'executor', 'd out', 'c out', 'b out']);
    expect(linesOf(result)).toEqual(['d: ok', 'c: ok', 'b: ok', 'a: ok']);
    expect(result.executed).toBe('yes');
  });
});

describe('law 2: one list drives both seams', () => {
  const spec: ToolSpec = { name: 'echo', description: 'd', inputSchema: {}, annotations: {} };

  it('so that a composed stack lists its transforms in the order of its callers', () => {
    const shown = (name: string): ToolLayer => ({
      name,
      caller: (call, next) => next(call),
      schemaTransform: (tool) => ({ ...tool, description: `${name}(${tool.description})` }),
    });
    const { layers } = composeToolCallers([
      shown('a'),
      composeToolCallers([shown('b'), shown('c')]),
    ]);
    const last = layers.reduceRight<ToolSpec>(
      (tool, layer) => layer.schemaTransform?.(tool) ?? tool,
      spec,
    );

    expect(layers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(last.description).toBe('a(b(c(d)))');
    expect(Object.isFrozen(layers)).toBe(true);
  });

  it.each(['echo', 'other'])('and `when` gates both for %s', async (toolName) => {
    const trace: string[] = [];
    const layer = when((tool) => tool.toolName === 'echo', {
      ...tracing('gated', trace),
      schemaTransform: () => null,
    });
    await composeToolCallers([layer])(makeCall({ toolName }), echoExecutor());

    const applies = toolName === 'echo';
    expect(trace.length > 0).toBe(applies);
    expect(layer.schemaTransform?.({ ...spec, name: toolName }) === null).toBe(applies);
  });
});

describe('law 3: nothing throws through the onion', () => {
  const oops = new Error('oops');
  const pass: ToolCaller = (call, next) => next(call);

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
