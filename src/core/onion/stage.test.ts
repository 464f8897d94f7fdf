import { describe, expect, it } from 'vitest';
import { accountOf } from './account.ts';
import { annotate, ok, refuse } from './results.ts';
import { withCall } from './own-call.ts';
import { unhandledDuring } from '../../../conformance/benches/fuzz/watch-process.ts';
import { echoExecutor, makeCall, testClock } from '../../../conformance/test-kit.ts';
import { runnerOf } from './compose.ts';
import type { ToolCall } from '../contract/call.ts';
import type { ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import type { Stage } from './stage.ts';

const outer: ToolLayer = { name: 'outer', caller: (call, next) => next(call) };
const linesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name, status }) => `${name}: ${status}`);
const run = (members: readonly (ToolLayer | Stage)[], executor = echoExecutor()) =>
  runnerOf(members)(makeCall(), executor);

describe('a stage', () => {
  it('that hands a call on writes no line', async () => {
    const result = await run([outer, { name: 'stage', enter: (call) => call }]);

    expect(linesOf(result)).toEqual(['outer: ok']);
    expect(result).toMatchObject({ ok: true, executed: 'yes' });
  });

  it('changes the call for what is below', async () => {
    const executor = echoExecutor();
    const changing: Stage = {
      name: 'stage',
      enter: async (call) => withCall(call, { toolArgs: { n: 2 } }),
    };
    await run([outer, changing], executor);

    expect(executor.calls[0]?.toolArgs).toEqual({ n: 2 });
  });

  it.each<[string, Stage['enter']]>([
    ['at once', (call) => refuse(call, 'tool_not_found', 'No.')],
    ['later', async (call) => refuse(call, 'tool_not_found', 'No.')],
  ])('that turns a call away %s is named, has a line, and nothing runs', async (_, enter) => {
    const executor = echoExecutor();
    const result = await run([outer, { name: 'stage', ...(enter && { enter }) }], executor);

    expect(linesOf(result)).toEqual(['stage: tool_not_found', 'outer: tool_not_found']);
    expect(accountOf(result).blockedBy).toBe('stage');
    expect(executor.calls).toEqual([]);
  });

  it.each<[string, (call: ToolCall) => ToolCall | ToolResult, readonly string[]]>([
    ['refuses', (call) => refuse(call, 'limit_exceeded', 'No.'), []],
    ['lets in', (call) => call, ['left']],
    ['fails', () => expect.fail('broken'), []],
  ])('that %s when the call has ended starts and writes nothing', async (_, say, expected) => {
    const executor = echoExecutor();
    const entered: string[] = [];
    let open = () => {};
    const opened = new Promise<void>((resolve) => void (open = resolve));
    const leaving: ToolLayer = {
      name: 'leaving',
      caller(call, next) {
        void next(call);
        return refuse(call, 'policy_blocked', 'Not waited for.');
      },
    };
    const late: Stage = {
      name: 'late',
      enter: (call) => opened.then(() => say(call)),
      leave(_call, result) {
        entered.push('left');
        return result;
      },
    };
    const below: ToolLayer = {
      name: 'below',
      caller(call, next) {
        entered.push('below');
        return next(call);
      },
    };

    const result = await run([leaving, late, below], executor);
    const lines = linesOf(result);
    const unhandled = await unhandledDuring(open);

    expect(unhandled).toEqual([]);
    expect(entered).toEqual(expected);
    expect(executor.calls).toEqual([]);
    expect(linesOf(result)).toEqual(lines);
  });

  it.each<[string, Stage['leave']]>([
    ['at once', (call) => refuse(call, 'policy_blocked', 'No.')],
    ['later', async (call) => refuse(call, 'policy_blocked', 'No.')],
  ])('that refuses %s what has run is named, and it stays said that it ran', async (_, leave) => {
    const result = await run([outer, { name: 'stage', ...(leave && { leave }) }]);

    expect(linesOf(result)).toEqual(['stage: policy_blocked', 'outer: policy_blocked']);
    expect(result.executed).toBe('yes');
  });

  it('is not named for what was turned away inside it', async () => {
    const inside: ToolLayer = { name: 'inside', caller: (call) => refuse(call, 'x', 'No.') };
    const rewording: Stage = { name: 'stage', leave: (call) => refuse(call, 'y', 'No!') };
    const result = await run([outer, rewording, inside]);

    expect(accountOf(result).blockedBy).toBe('inside');
    expect(linesOf(result)).toEqual(['inside: x', 'stage: y', 'outer: y']);
  });

  it.each<[string, Partial<Stage>, string]>([
    ['enter', { enter: () => raiseError() }, 'no'],
    ['enter, later', { enter: async () => raiseError() }, 'no'],
    ['leave', { leave: () => raiseError() }, 'yes'],
    ['leave, later', { leave: async () => raiseError() }, 'yes'],
  ])('that throws in %s is blamed for it', async (_, parts, executed) => {
    const result = await run([outer, { name: 'stage', ...parts }]);

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed });
    expect(linesOf(result)[0]).toBe('stage: tool_middleware_exception');
  });

  it('leaves no record behind when it is alone and has nothing to say', async () => {
    expect((await run([{ name: 'stage', enter: (call) => call }])).audit).toBeUndefined();
    expect(
      linesOf(await run([{ name: 'stage', enter: (call) => refuse(call, 'x', 'No.') }])),
    ).toEqual(['stage: x']);
  });

  it('may add to the record without a line', async () => {
    const noting: Stage = {
      name: 'stage',
      leave: (_call, result) => annotate(result, { metadata: { noted: 1 } }),
    };
    const result = await run([outer, noting]);

    expect(result.audit).toMatchObject({ metadata: { noted: 1 } });
    expect(linesOf(result)).toEqual(['outer: ok']);
  });

  it('says since when it made a call wait that it turned away', async () => {
    const clock = testClock();
    const waiting: Stage = {
      name: 'stage',
      async enter(call) {
        await clock.advance(20);
        return refuse(call, 'cancelled', 'Gone.');
      },
    };
    const result = await runnerOf([waiting])(makeCall({}, { clock }), async (call) => ok(call));

    expect(result.audit?.layers).toMatchObject([
      { startedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:00.020Z' },
    ]);
  });
});

function raiseError(): never {
  throw new Error('broke');
}
