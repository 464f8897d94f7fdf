import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { composeToolCallers } from './compose.ts';
import { defineLayer, type ToolLayer } from './layer.ts';
import { ok, refuse } from './result.ts';
import { type Gate, gateCall, guardCall, limitAsking, objectionToAsking } from './terms.ts';

const gated = (...gates: readonly Gate[]): ToolLayer =>
  defineLayer({ name: 'gated', caller: (call, next) => next(gates.reduce((passed, gate) => gateCall(passed, gate), call)) });

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

    expect(await through([gated(gate)])).toEqual({ status: 'approval_required', executed: 'no', ran: 0 });
  });

  it('is asked after every guard, and in the order they were laid down', async () => {
    const order: string[] = [];
    const say =
      (name: string): Gate =>
      async () => (order.push(name), null);
    const guarded = defineLayer({ name: 'guarded', caller: (call, next) => next(guardCall(call, () => (order.push('guard'), null))) });

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
    expect(await through([gated(gate)])).toEqual({ status: 'permission_denied', executed: 'no', ran: 0 });
  });

  it('lets nobody in who has gone while it was asked', async () => {
    const abort = new AbortController();
    const executor = echoExecutor();
    const gate: Gate = async () => (abort.abort(), null);

    const result = await composeToolCallers([gated(gate)])(makeCall({ signal: abort.signal }), executor);

    expect([result.status, executor.calls.length]).toEqual(['cancelled', 0]);
  });

  it('cannot be shaken off by handing on a call that was put aside before', async () => {
    let aside: Parameters<typeof gateCall>[0] | undefined;
    const keep = defineLayer({ name: 'keep', caller: (call, next) => ((aside = call), next(call)) });
    const swap = defineLayer({ name: 'swap', caller: (call, next) => next(aside ?? call) });
    const gate: Gate = async (call) => refuse(call, 'permission_denied', 'no');

    expect(await through([keep, gated(gate), swap])).toMatchObject({ status: 'permission_denied', ran: 0 });
  });

  it('holds for the calls a tool makes itself', async () => {
    const gate: Gate = async (call) => (call.toolName === 'inner' ? refuse(call, 'permission_denied', 'no') : null);
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

describe('limitAsking', () => {
  it('objects to a question below it and to nothing else', async () => {
    const objections: unknown[] = [];
    const refusal = { status: 'limit_exceeded', message: 'enough', blockedBy: 'callLimit' } as const;
    const limits = defineLayer({ name: 'limits', caller: (call, next) => next(limitAsking(call, () => refusal)) });
    const asks = defineLayer({ name: 'asks', caller: (call, next) => (objections.push(objectionToAsking(call)), next(call)) });

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
