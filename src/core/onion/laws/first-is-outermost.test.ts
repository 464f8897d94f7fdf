import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ok } from '../results.ts';
import { echoExecutor, makeCall } from '../../../../conformance/test-kit.ts';
import { type ComposedCaller, composeToolCallers } from '../compose.ts';
import { type Next, type ToolLayer } from '../../contract/layer.ts';
import type { ToolResult } from '../../contract/result.ts';
import { howMany } from '../../../../conformance/how-many.fixture.ts';
import { tracing } from './layers.fixture.ts';

const tracingExecutor =
  (trace: string[]): Next =>
  async (call) => {
    trace.push('executor');
    return ok(call, call.toolArgs);
  };

const linesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name, status }) => `${name}: ${status}`);

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
