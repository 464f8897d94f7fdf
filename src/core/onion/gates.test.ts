import { describe, expect, it } from 'vitest';
import type { Gate } from './pass.ts';
import { withCall } from './own-call.ts';
import { ok, refuse } from './results.ts';
import { echoExecutor, makeCall } from '../../../conformance/index.ts';
import { composeToolCallers } from './compose.ts';
import { defineLayer, type ToolLayer } from '../contract/layer.ts';
import type { ToolCall } from '../contract/call.ts';
import {
  approveCall,
  gateCall,
  guardCall,
  limitAsking,
  objectionToAsking,
  supplyResult,
  conditionsOf,
} from './conditions.ts';

const gated = (...gates: readonly Gate[]): ToolLayer =>
  defineLayer({
    name: 'gated',
    caller: (call, next) => next(gates.reduce((passed, gate) => gateCall(passed, gate), call)),
  });

async function through(layers: readonly ToolLayer[]) {
  const executor = echoExecutor();
  const result = await composeToolCallers(layers)(makeCall(), executor);
  return { status: result.status, executed: result.executed, ran: executor.calls.length };
}

describe('a gate', () => {
  it('lets a call in that it answers null for, after it has been waited for', async () => {
    const order: string[] = [];
    const gate: Gate = async () => (await Promise.resolve(), order.push('gate'), null);

    expect(await through([gated(gate)])).toEqual({ status: 'ok', executed: 'yes', ran: 1 });
    expect(order).toEqual(['gate']);
  });

  it('answers in place of the tool', async () => {
    const gate: Gate = async (call) => refuse(call, 'approval_required', 'wait');

    expect(await through([gated(gate)])).toEqual({
      status: 'approval_required',
      executed: 'no',
      ran: 0,
    });
  });

  it('is asked after every guard, and in the order they were laid down', async () => {
    const order: string[] = [];
    const say =
      (name: string): Gate =>
      async () => (order.push(name), null);
    const guarded = defineLayer({
      name: 'guarded',
      caller: (call, next) => next(guardCall(call, () => (order.push('guard'), null))),
    });

    await through([gated(say('first'), say('second')), guarded]);

    expect(order).toEqual(['guard', 'first', 'second']);
  });

  it('is asked once, however often the same one was laid down', async () => {
    let asked = 0;
    const gate: Gate = async () => ((asked += 1), null);

    expect(await through([gated(gate, gate), gated(gate)])).toMatchObject({ status: 'ok', ran: 1 });
    expect(asked).toBe(1);
  });

  it.each<[string, Gate]>([
    ['rejects', () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['answers undefined', (async () => undefined) as unknown as Gate],
    ['answers true', (async () => true) as unknown as Gate],
    ['answers with success', async (call) => ok(call, 'fine')],
    ['answers for another call', async () => refuse(makeCall(), 'permission_denied', 'no')],
  ])('that %s lets nothing in', async (_name, gate) => {
    expect(await through([gated(gate)])).toEqual({
      status: 'permission_denied',
      executed: 'no',
      ran: 0,
    });
  });

  it('lets nobody in who has gone while it was asked', async () => {
    const abort = new AbortController();
    const executor = echoExecutor();
    const gate: Gate = async () => (abort.abort(), null);

    const result = await composeToolCallers([gated(gate)])(
      makeCall({ signal: abort.signal }),
      executor,
    );

    expect([result.status, executor.calls.length]).toEqual(['cancelled', 0]);
  });

  it('cannot be shaken off by handing on a call that was put aside before', async () => {
    let aside: Parameters<typeof gateCall>[0] | undefined;
    const keep = defineLayer({
      name: 'keep',
      caller: (call, next) => ((aside = call), next(call)),
    });
    const swap = defineLayer({ name: 'swap', caller: (call, next) => next(aside ?? call) });
    const gate: Gate = async (call) => refuse(call, 'permission_denied', 'no');

    expect(await through([keep, gated(gate), swap])).toMatchObject({
      status: 'permission_denied',
      ran: 0,
    });
  });

  it('holds for the calls a tool makes itself', async () => {
    const gate: Gate = async (call) =>
      call.toolName === 'inner' ? refuse(call, 'permission_denied', 'no') : null;
    const inner = echoExecutor();
    const nested = composeToolCallers([]);
    const outer = composeToolCallers([gated(gate)]);

    const result = await outer(makeCall(), async (call) => {
      const answer = await nested(makeCall({ toolName: 'inner' }), inner);
      return ok(call, answer.status);
    });

    expect([result.result, inner.calls.length]).toEqual(['permission_denied', 0]);
  });
});

/** What the executor was entered with, if it was. */
async function entered(layers: readonly ToolLayer[]) {
  const executor = echoExecutor();
  const result = await composeToolCallers(layers)(makeCall({ toolArgs: { n: 1 } }), executor);
  return {
    status: result.status,
    executed: result.executed,
    args: executor.calls.map(({ toolArgs }) => toolArgs),
  };
}

const first = (call: ToolCall) => call.toolArgs.n === 1;
const NOT_RUN = { status: 'permission_denied', executed: 'no', args: [] };

describe('a gate that puts another call in the place of one', () => {
  it('is asked about that one too, and so is everybody else', async () => {
    const seen: unknown[] = [];
    const watching =
      (name: string): Gate =>
      async (call) => (seen.push([name, call.toolArgs.n]), null);
    const guard = (call: ToolCall) => (seen.push(['guard', call.toolArgs.n]), null);
    const replacing: Gate = async (call) =>
      first(call) ? withCall(call, { toolArgs: { n: 2 } }) : null;
    const guarded = defineLayer({
      name: 'guarded',
      caller: (call, next) => next(guardCall(call, guard)),
    });
    const result = await entered([
      guarded,
      gated(watching('before'), replacing, watching('after')),
    ]);

    expect(result).toEqual({ status: 'ok', executed: 'yes', args: [{ n: 2 }] });
    expect(seen).toEqual([
      ['guard', 1],
      ['before', 1],
      ['guard', 2],
      ['before', 2],
      ['after', 2],
    ]);
  });

  it('may do so by a spread copy, which is under the same conditions', async () => {
    const replacing: Gate = async (call) => (first(call) ? { ...call, toolArgs: { n: 2 } } : null);
    const refusing: Gate = async (call) =>
      first(call) ? null : refuse(call, 'permission_denied', 'no');

    const renaming: Gate = async (call) =>
      first(call) ? { ...call, callId: 'other', toolArgs: { n: 2 } } : null;
    const executor = echoExecutor();
    await composeToolCallers([gated(renaming)])(makeCall({ toolArgs: { n: 1 } }), executor);

    expect(executor.calls).toMatchObject([{ callId: 'call-1', toolArgs: { n: 2 } }]);
    expect((await entered([gated(replacing)])).args).toEqual([{ n: 2 }]);
    expect(await entered([gated(replacing, refusing)])).toEqual(NOT_RUN);
    expect(await entered([gated(refusing, replacing)])).toEqual(NOT_RUN);
  });

  let aside: ToolCall | undefined;
  const keep = defineLayer({ name: 'keep', caller: (call, next) => ((aside = call), next(call)) });
  const guarded = defineLayer({
    name: 'guarded',
    caller: (call, next) => next(guardCall(call, () => null)),
  });
  it.each<[string, Gate]>([
    ['twice', async (call) => withCall(call, { toolArgs: { n: Number(call.toolArgs.n) + 1 } })],
    ['with a call of another pass', async () => makeCall({ toolArgs: { n: 2 } })],
    [
      'with a call of another pass that has its id',
      async ({ callId }) => makeCall({ callId, toolArgs: { n: 2 } }),
    ],
    [
      'with a call that lost its guards',
      async (call) =>
        first(call) && aside !== undefined ? withCall(aside, { toolArgs: { n: 2 } }) : null,
    ],
    [
      'with a call to another tool',
      async (call) =>
        first(call) ? withCall(call, { toolName: 'other', toolArgs: { n: 2 } }) : null,
    ],
    [
      'with a hand-made one',
      async ({ toolName, callId }) =>
        ({ toolName, callId, toolArgs: { n: 2 } }) as unknown as ToolCall,
    ],
    [
      'with a copy through JSON',
      async (call) => JSON.parse(JSON.stringify({ ...call, signal: null })) as ToolCall,
    ],
    [
      'with arguments that are not JSON',
      async (call) =>
        first(call) ? ({ ...call, toolArgs: { n: 2n } } as unknown as ToolCall) : null,
    ],
  ])('%s lets nothing in', async (_title, gate) => {
    expect(await entered([keep, guarded, gated(gate)])).toEqual(NOT_RUN);
  });

  it('with a call of another pass lets nothing in, also where that is under the same conditions', async () => {
    const gate: Gate = async (call) =>
      first(call) ? gateCall(makeCall({ callId: call.callId, toolArgs: { n: 2 } }), gate) : null;

    expect(await entered([gated(gate)])).toEqual(NOT_RUN);
  });

  it('is held to the approval that was given before', async () => {
    const approving = defineLayer({
      name: 'approving',
      caller: (call, next) => next(approveCall(call)),
    });
    const replacing: Gate = async (call) =>
      first(call) ? withCall(call, { toolArgs: { n: 2 } }) : null;

    expect(await entered([approving, gated(replacing)])).toEqual({
      ...NOT_RUN,
      status: 'consent_denied',
    });
  });

  it('is refused where a guard objects to the other call', async () => {
    const guard = (call: ToolCall) =>
      first(call) ? null : { status: 'scope_violation', message: 'no', blockedBy: 'scope' };
    const guarding = defineLayer({
      name: 'guarding',
      caller: (call, next) => next(guardCall(call, guard)),
    });
    const replacing: Gate = async (call) =>
      first(call) ? withCall(call, { toolArgs: { n: 2 } }) : null;

    expect(await entered([guarding, gated(replacing)])).toEqual({
      ...NOT_RUN,
      status: 'scope_violation',
    });
  });
});

describe('a result that a gate supplies', () => {
  const supplying: Gate = async (call) =>
    conditionsOf(call).supplied === null ? supplyResult(call, { value: 'by hand' }) : null;

  it.each([['by hand'], [null], [false], [0]])(
    'answers in place of the tool: %j',
    async (value) => {
      const executor = echoExecutor();
      const gate: Gate = async (call) =>
        conditionsOf(call).supplied === null ? supplyResult(call, { value }) : null;
      const result = await composeToolCallers([gated(gate)])(makeCall(), executor);

      expect(result).toMatchObject({ status: 'ok', executed: 'no', result: value });
      expect(executor.calls).toEqual([]);
    },
  );

  it('is held against every other gate', async () => {
    const refusing: Gate = async (call) =>
      conditionsOf(call).supplied === null ? null : refuse(call, 'permission_denied', 'no');

    expect(await entered([gated(supplying, refusing)])).toEqual(NOT_RUN);
    expect(await entered([gated(refusing, supplying)])).toEqual(NOT_RUN);
  });

  it('is held against every guard', async () => {
    const guard = (call: ToolCall) =>
      conditionsOf(call).supplied === null
        ? null
        : { status: 'permission_denied', message: 'no', blockedBy: 'guard' };
    const guarding = defineLayer({
      name: 'guarding',
      caller: (call, next) => next(guardCall(call, guard)),
    });

    expect(await entered([guarding, gated(supplying)])).toEqual(NOT_RUN);
  });

  it('is for nobody who has gone meanwhile', async () => {
    const abort = new AbortController();
    const gate: Gate = async (call) => (
      abort.abort(), conditionsOf(call).supplied === null ? supplyResult(call, { value: 1 }) : null
    );
    const result = await composeToolCallers([gated(gate)])(
      makeCall({ signal: abort.signal }),
      echoExecutor(),
    );

    expect(result).toMatchObject({ status: 'cancelled', executed: 'no' });
  });
});

describe('limitAsking', () => {
  it('objects to a question below it and to nothing else', async () => {
    const objections: unknown[] = [];
    const refusal = {
      status: 'limit_exceeded',
      message: 'enough',
      blockedBy: 'callLimit',
    } as const;
    const limits = defineLayer({
      name: 'limits',
      caller: (call, next) => next(limitAsking(call, () => refusal)),
    });
    const asks = defineLayer({
      name: 'asks',
      caller: (call, next) => (objections.push(objectionToAsking(call)), next(call)),
    });

    expect(await through([asks, limits, asks])).toMatchObject({ status: 'ok', ran: 1 });
    expect(objections).toEqual([null, refusal]);
  });

  it('objects when its guard fails', () => {
    const call = limitAsking(makeCall(), () => {
      throw new Error('broken');
    });

    expect(objectionToAsking(call)).toMatchObject({ status: 'permission_denied' });
  });
});
