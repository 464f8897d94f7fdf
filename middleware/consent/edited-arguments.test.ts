import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, type PartialCall, testClock } from '../../conformance/index.ts';
import { composeToolCallers, type ToolCaller, type ToolLayer } from '../../src/index.ts';
import { accountOf } from '../../src/layer.ts';
import { consent, type ConsentDecide, type ConsentOptions } from './consent.ts';

async function run(
  given: ConsentDecide | ConsentOptions,
  call: PartialCall = {},
  inside: readonly (ToolLayer | ToolCaller)[] = [],
) {
  const executor = echoExecutor();
  const clock = testClock();
  const result = await composeToolCallers([consent(given), ...inside], { clock })(
    makeCall(call),
    executor,
  );
  return { result, ran: executor.calls.length, executor };
}

describe('consent with edited arguments', () => {
  const halved: ConsentDecide = ({ toolArgs: { amount } }) => ({
    decision: 'approved',
    args: { amount: Math.min(Number(amount), 10) },
  });

  it('runs with them, decides about them again, and records which were changed', async () => {
    const seen: unknown[] = [];
    const { result, executor } = await run(
      (call) => {
        seen.push(call.toolArgs);
        return halved(call);
      },
      { toolArgs: { amount: 500 } },
    );

    expect(seen).toEqual([{ amount: 500 }, { amount: 10 }]);
    expect(executor.calls[0]?.toolArgs).toEqual({ amount: 10 });
    expect(result.audit?.consent).toMatchObject({
      decision: 'approved',
      edited: true,
      paths: ['amount'],
    });
    expect(accountOf(result)).toMatchObject({
      approvedArgs: { amount: 10 },
      executedArgs: { amount: 10 },
    });
  });

  it('has another fingerprint than the call that came in', async () => {
    const plain = await run(() => true, { toolArgs: { amount: 10 } });
    const edited = await run(halved, { toolArgs: { amount: 500 } });
    const denied = await run(() => false, { toolArgs: { amount: 500 } });

    expect(edited.result.approval?.fingerprint).toBe(plain.result.approval?.fingerprint);
    expect(denied.result.approval?.fingerprint).not.toBe(plain.result.approval?.fingerprint);
  });

  it.each<[string, ConsentOptions, string]>([
    [
      'a rule denies them',
      {
        decide: halved,
        rules: [{ tool: '*', when: ({ amount }) => amount === 10, decision: 'deny' }],
      },
      'consent_denied',
    ],
    [
      'the decider denies them',
      { decide: (call) => (call.toolArgs.amount === 10 ? false : halved(call)) },
      'consent_denied',
    ],
    [
      'the decider fails on them',
      { decide: (call) => (call.toolArgs.amount === 10 ? (undefined as never) : halved(call)) },
      'consent_denied',
    ],
    [
      'they would be edited again',
      {
        decide: ({ toolArgs: { amount } }) => ({
          decision: 'approved',
          args: { amount: Number(amount) - 1 },
        }),
      },
      'consent_denied',
    ],
    [
      'somebody has to be asked about them',
      {
        decide: halved,
        rules: [{ tool: '*', when: ({ amount }) => amount === 10, decision: 'ask' }],
      },
      'approval_required',
    ],
  ])('does not run where %s', async (_name, options, status) => {
    const { result, ran } = await run(options, { toolArgs: { amount: 500 } });

    expect(ran).toBe(0);
    expect(result.status).toBe(status);
  });

  it('does not look at the arguments of a denial', async () => {
    const first = await run(() => ({ decision: 'denied', reason: 'why', args: { amount: 1 } }), {
      toolArgs: { amount: 500 },
    });
    const second = await run(
      (call) =>
        call.toolArgs.amount === 10
          ? { decision: 'denied', reason: 'why', args: {} }
          : halved(call),
      {
        toolArgs: { amount: 500 },
      },
    );

    expect([first, second].map(({ result }) => result.audit?.consent?.reason)).toEqual([
      'why',
      'why',
    ]);
    expect(first.result.audit?.consent).not.toHaveProperty('edited');
    expect(first.ran + second.ran).toBe(0);
  });

  it('does not call it an edit where nothing was changed', async () => {
    const { result } = await run((call) => ({ decision: 'approved', args: { ...call.toolArgs } }), {
      toolArgs: { b: 1, a: [2] },
    });

    expect(result.audit?.consent).not.toHaveProperty('edited');
  });

  it('is not changed any more by whoever handed them in', async () => {
    const args = { amount: 1 };
    const meddling: ToolCaller = (call, next) => {
      args.amount = 1_000_000;
      return next(call);
    };
    const { executor } = await run(
      () => ({ decision: 'approved', args }),
      { toolArgs: { amount: 5 } },
      [meddling],
    );

    expect(executor.calls[0]?.toolArgs).toEqual({ amount: 1 });
  });
});
