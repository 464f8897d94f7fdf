import { describe, expect, it } from 'vitest';
import { ok } from './results.ts';
import { echoExecutor, makeCall } from '../../../conformance/test-kit.ts';
import { composeToolCallers } from './compose.ts';
import type { ToolCall } from '../contract/call.ts';
import type { Next, ToolCaller, ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';

const pass: ToolCaller = (call, next) => next(call);
const layer = (name: string): ToolLayer => ({ name, caller: pass });
const linesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name, status }) => `${name}: ${status}`);

describe('composeToolCallers', () => {
  it('names functions after themselves, or after their place', () => {
    function named(call: ToolCall, next: Next) {
      return next(call);
    }

    expect(
      composeToolCallers([named, (call, next) => next(call)]).layers.map(({ name }) => name),
    ).toEqual(['named', 'caller 2']);
  });

  it('serves several executors, each with its own answers', async () => {
    const stack = composeToolCallers([pass]);
    const executors = [1, 2, 3].map(
      (n): Next =>
        async (call) =>
          ok(call, n),
    );
    const results = await Promise.all(
      [0, 1, 2, 1, 0].map((at) => stack(makeCall(), executors[at] ?? echoExecutor())),
    );

    expect(results.map(({ result }) => result)).toEqual([1, 2, 3, 2, 1]);
  });

  it('may be a layer of a stack that is composed later', async () => {
    const inner = composeToolCallers([layer('b')]);

    expect(
      linesOf(await composeToolCallers([layer('a'), inner])(makeCall(), echoExecutor())),
    ).toEqual(['b: ok', 'a: ok']);
    expect(linesOf(await inner(makeCall(), echoExecutor()))).toEqual(['b: ok']);
  });
});
