import { describe, expect, it } from 'vitest';
import { fail, ok, refuse } from './results.ts';
import { withCall } from './own-call.ts';
import { echoExecutor, makeCall, type PartialCall } from '../../../conformance/test-kit.ts';
import { accountOf, attachReceipt, receiptOf } from './account.ts';
import { composeToolCallers } from './compose.ts';
import { defineLayer, type Next, type ToolCaller, type ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { approveCall } from './conditions.ts';

const layer = (name: string, caller: ToolCaller) => defineLayer({ name, caller });
const through = (name: string) => layer(name, (call, next) => next(call));
const no = (name: string) => layer(name, (call) => refuse(call, 'policy_blocked', 'No.'));

const run = (
  layers: readonly ToolLayer[],
  next: Next = echoExecutor(),
  partial: PartialCall = { toolArgs: { text: 'a' } },
) => composeToolCallers(layers)(makeCall(partial), next);

describe('accountOf', () => {
  it('names the layer that refuses after an answer that ran nothing', async () => {
    const after = layer('after', async (call, next) =>
      (await next(call)).ok ? refuse(call, 'redacted', 'Withheld.') : ok(call),
    );
    const preview = layer('preview', (call) => ok(call, 1, { status: 'dry_run' }));

    expect(accountOf(await run([after, preview])).blockedBy).toBe('after');
  });

  it('names nobody for a caller that left after a try was turned away', async () => {
    const controller = new AbortController();
    let tries = 0;
    const limit = layer('limit', (call, next) =>
      (tries += 1) === 1 ? refuse(call, 'rate_limited', 'Wait.') : next(call),
    );
    const again = layer('again', async (call, next) => {
      await next(call);
      controller.abort();
      return next(call);
    });
    const result = await run([again, limit], echoExecutor(), { signal: controller.signal });

    expect([result.status, accountOf(result).blockedBy]).toEqual(['cancelled', null]);
  });

  it.each([
    [0, 'first'],
    [1, 'second'],
    [2, 'third'],
  ])('names the layer at place %i that turned the call away', async (place, name) => {
    const names = ['first', 'second', 'third'];
    const result = await run(names.map((own, index) => (index === place ? no(own) : through(own))));

    expect(accountOf(result)).toEqual({ approvedArgs: null, executedArgs: null, blockedBy: name });
  });

  it('names nobody once the tool ran, however it ended', async () => {
    const afterwards = layer('afterwards', async (call, next) =>
      (await next(call)).ok ? refuse(call, 'redacted', 'Withheld.') : ok(call),
    );

    for (const next of [echoExecutor(), () => Promise.reject(new Error('no'))]) {
      expect(accountOf(await run([through('a')], next))).toMatchObject({
        blockedBy: null,
        executedArgs: { text: 'a' },
      });
    }
    expect(accountOf(await run([afterwards]))).toMatchObject({
      blockedBy: null,
      executedArgs: { text: 'a' },
    });
  });

  it('names nobody where a layer answered well in place of the tool', async () => {
    const preview = layer('preview', (call) => ok(call, 'as if', { status: 'dry_run' }));
    const rescue = layer('rescue', async (call, next) =>
      (await next(call)).ok ? ok(call) : ok(call, 'instead'),
    );

    expect(accountOf(await run([preview]))).toEqual({
      approvedArgs: null,
      executedArgs: null,
      blockedBy: null,
    });
    expect(accountOf(await run([rescue, no('inner')])).blockedBy).toBeNull();
  });

  it('names the inner layer where an outer one only words the refusal anew', async () => {
    const words = layer('words', async (call, next) => {
      await next(call);
      return refuse(call, 'policy_blocked', 'Please do not.');
    });

    expect(accountOf(await run([words, no('inner')])).blockedBy).toBe('inner');
  });

  it('names nobody for a caller that had gone', async () => {
    expect(
      accountOf(await run([through('a')], echoExecutor(), { signal: AbortSignal.abort() }))
        .blockedBy,
    ).toBeNull();
  });

  it('names a layer that failed before the tool', async () => {
    const broken = layer('broken', () => Promise.reject(new Error('no')));

    expect(accountOf(await run([through('a'), broken])).blockedBy).toBe('broken');
  });

  it('forgets a refusal when another try ran', async () => {
    let tries = 0;
    const first = layer('first', (call, next) =>
      (tries += 1) === 1 ? refuse(call, 'rate_limited', 'Later.') : next(call),
    );
    const retry = layer('retry', async (call, next) =>
      (await next(call)).ok ? ok(call) : next(call),
    );

    expect(accountOf(await run([retry, first]))).toEqual({
      approvedArgs: null,
      executedArgs: { text: 'a' },
      blockedBy: null,
    });
  });

  it('knows the arguments of the last try', async () => {
    const retry = layer('retry', async (call, next) => {
      await next(call);
      return next(withCall(call, { toolArgs: { text: 'b' } }));
    });

    expect(accountOf(await run([retry])).executedArgs).toEqual({ text: 'b' });
  });

  it('names who turned a call away in a stack that a layer called by itself', async () => {
    const calls = layer('calls', (call, next) =>
      composeToolCallers([through('x'), no('inside')])(call, next),
    );
    const approves = layer('consent', (call, next) => next(approveCall(call)));
    const asks = layer('asks', (call, next) => composeToolCallers([approves])(call, next));

    expect(accountOf(await run([calls])).blockedBy).toBe('inside');
    expect(accountOf(await run([asks]))).toEqual({
      approvedArgs: { text: 'a' },
      executedArgs: { text: 'a' },
      blockedBy: null,
    });
  });

  it('knows what a stack changed that a layer calls', async () => {
    const own = layer('own', (call, next) =>
      composeToolCallers([through('x')])(withCall(call, { toolArgs: { text: 'b' } }), next),
    );

    expect(accountOf(await run([own]))).toEqual({
      approvedArgs: null,
      executedArgs: { text: 'b' },
      blockedBy: null,
    });
  });

  it('takes the word of an executor that never reached the tool', async () => {
    const unreached: Next = async (call) =>
      fail(call, 'executor_error', null, 'Away.', { executed: 'no' });

    expect(await run([through('a')], unreached)).toMatchObject({ executed: 'no' });
    expect(accountOf(await run([through('a')], unreached)).blockedBy).toBeNull();
  });
});

describe('attachReceipt', () => {
  it('keeps a copy for whoever dispatched the call, on every later result of it', async () => {
    const receipt = { status: 'ok' };
    const attach = layer('attach', async (call, next) => attachReceipt(await next(call), receipt));
    const later = layer('later', async (call, next) =>
      (await next(call)).ok ? ok(call, 'later') : ok(call),
    );
    const result: ToolResult = await run([later, attach]);
    receipt.status = 'changed';

    expect(receiptOf(result)).toEqual({ status: 'ok' });
    expect(Object.isFrozen(receiptOf(result))).toBe(true);
    expect(JSON.stringify(result)).not.toContain('"receipt"');
  });

  it('belongs to one call alone', async () => {
    const attach = layer('attach', async (call, next) => {
      const result = await next(call);
      return call.callId === 'a' ? attachReceipt(result, { of: 'a' }) : result;
    });
    const caller = composeToolCallers([attach]);
    const [a, b] = await Promise.all(
      ['a', 'b'].map((callId) => caller(makeCall({ callId }), echoExecutor())),
    );

    expect(a && receiptOf(a)).toEqual({ of: 'a' });
    expect(b && receiptOf(b)).toBeNull();
  });

  it('comes out of a stack that a layer called by itself', async () => {
    const attach = layer('attach', async (call, next) =>
      attachReceipt(await next(call), { of: 'inside' }),
    );
    const calls = layer('calls', (call, next) => composeToolCallers([attach])(call, next));

    expect(receiptOf(await run([calls]))).toEqual({ of: 'inside' });
  });
});
