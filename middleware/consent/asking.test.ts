import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { makeCall, settle } from '../../conformance/index.ts';
import type { ApprovalPrompt } from '../../src/index.ts';
import { askPeople } from '../../src/approvals/ask-people.ts';
import { allow, channel, start } from './asking.fixture.ts';
import type { ConsentOptions } from './consent.ts';

describe('consent asks and', () => {
  it('shows exactly the call, with its fingerprint', async () => {
    const person = channel();
    const { ask } = start(
      { prompts: [person.prompt] },
      { toolName: 'pay', toolArgs: { amount: 5 }, callId: 'call-9' },
    );
    const calling = ask();
    await settle();
    person.answer({ decision: 'allow_once' });
    const result = await calling;
    const [question] = person.asked;

    expect(question).toMatchObject({
      id: 'approval_id-1',
      toolName: 'pay',
      callId: 'call-9',
      shown: { toolName: 'pay', args: { amount: 5 } },
    });
    expect(question?.options).toEqual(['allow_once', 'reject_once']);
    expect(Object.isFrozen(question) && Object.isFrozen(question?.shown.args)).toBe(true);
    expect(result.approval).toMatchObject({
      id: 'approval_id-1',
      fingerprint: question?.fingerprint,
      decision: 'approved',
    });
  });

  it('ends as approval_required where nobody can be asked', async () => {
    const { ask, executor } = start({ expiresMs: 60_000 }, { toolArgs: { amount: 5 } }, [
      () => null,
      async () => null,
    ]);
    const result = await ask();

    expect(result).toMatchObject({
      status: 'approval_required',
      errorCategory: 'approval_required',
      executed: 'no',
      approval: null,
    });
    expect(result.interruption).toMatchObject({
      ...{
        kind: 'approval_required',
        id: 'approval_id-1',
        shown: { toolName: 'echo', args: { amount: 5 } },
      },
      ...{ options: ['allow_once', 'reject_once'], expiresAt: '2026-01-01T00:01:00.000Z' },
    });
    expect(result.audit?.consent).toBeUndefined();
    expect(executor.calls).toHaveLength(0);
  });

  it.each([
    ['allow_once', 'ok', 'approved'],
    ['allow_always', 'ok', 'approved'],
    ['reject_once', 'consent_denied', 'denied'],
    ['reject_always', 'consent_denied', 'denied'],
  ] as const)('takes %s for %s', async (decision, status, recorded) => {
    const { ask, executor } = start({
      prompts: [() => ({ decision, decidedBy: 'ada', reason: 'because' })],
    });
    const result = await ask();

    expect(result.status).toBe(status);
    expect(result.audit?.consent).toMatchObject({
      decision: recorded,
      decidedBy: 'ada',
      reason: 'because',
    });
    expect(executor.calls).toHaveLength(status === 'ok' ? 1 : 0);
    if (status === 'consent_denied') expect(result.error).toContain('because');
  });

  it.each([
    [undefined],
    [true],
    ['allow_once'],
    [{}],
    [{ decision: 'approved' }],
    [{ decision: 'auto' }],
    [{ decision: 'ALLOW_ONCE' }],
    [{ decision: true }],
    [{ decision: 'allow_once', arguments: {} }],
    [{ decision: 'allow_once', args: 'x' }],
    [{ decision: 'allow_once', decidedBy: {} }],
    [[{ decision: 'allow_once' }]],
  ])('does not take %j for an approval', async (answer) => {
    const { ask, executor } = start({ prompts: [() => answer as never] });

    expect((await ask()).status).toBe('consent_denied');
    expect(executor.calls).toHaveLength(0);
  });

  it('prompts: asks its own and those of the host at once, the first answer wins, and the others are told', async () => {
    const [own, other, third] = [channel(), channel(), channel()];
    const { ask } = start({ prompts: [own.prompt, other.prompt] }, {}, [third.prompt, own.prompt]);
    const calling = ask();
    await settle();
    expect([own, other, third].map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
    third.answer({ decision: 'allow_once', decidedBy: 'third' });
    const result = await calling;
    own.answer({ decision: 'reject_once' });
    await settle();

    expect(result.audit?.consent).toMatchObject({ decision: 'approved', decidedBy: 'third' });
    expect(own.asked[0]?.signal.aborted).toBe(true);
  });

  it('prompts: waits for the others where one reaches nobody or fails', async () => {
    const person = channel();
    const { ask } = start({
      prompts: [() => null, () => Promise.reject(new Error('no')), person.prompt],
    });
    const calling = ask();
    await settle();
    person.answer({ decision: 'allow_once' });

    expect((await calling).audit?.consent).toMatchObject({ decidedBy: 'prompt' });
  });

  it('prompts: denies where nobody answered and one failed', async () => {
    const failing: ApprovalPrompt = () => {
      throw new Error('no');
    };
    const { ask, executor } = start({ prompts: [failing, () => null] });

    expect((await ask()).status).toBe('consent_denied');
    expect(executor.calls).toHaveLength(0);
  });

  it('prompts: names the channel where the answer names nobody', async () => {
    expect((await start({ prompts: [allow] }).ask()).audit?.consent).toMatchObject({
      decidedBy: 'allow',
    });
  });

  it('tells the person why they are asked', async () => {
    const person = channel();
    const { ask } = start({
      decide: () => ({ decision: 'ask', reason: 'over the limit' }),
      prompts: [person.prompt],
    });
    const calling = ask();
    await settle();
    person.answer({ decision: 'reject_once' });
    await calling;

    expect(person.asked[0]?.shown).toMatchObject({ reason: 'over the limit' });
  });
});

describe('consent, answered with other arguments,', () => {
  const edited =
    (args: object): ApprovalPrompt =>
    () => ({ decision: 'allow_once', decidedBy: 'ada', args: args as never });

  it('runs with them, without asking a second time', async () => {
    const { ask, executor } = start(
      { prompts: [edited({ amount: 5 })] },
      { toolArgs: { amount: 500 } },
    );
    const result = await ask();

    expect(executor.calls[0]?.toolArgs).toEqual({ amount: 5 });
    expect(result.audit?.consent).toMatchObject({
      decision: 'approved',
      decidedBy: 'ada',
      edited: true,
      paths: ['amount'],
    });
  });

  it.each<[string, ConsentOptions]>([
    [
      'a rule denies them',
      { rules: [{ tool: '*', when: ({ amount }) => amount === 5, decision: 'deny' }] },
    ],
    [
      'the decider denies them',
      { decide: ({ toolArgs }) => (toolArgs.amount === 5 ? false : 'ask') },
    ],
    [
      'the decider would edit them',
      {
        decide: ({ toolArgs }) =>
          toolArgs.amount === 5 ? { decision: 'approved', args: {} } : 'ask',
      },
    ],
  ])('does not run where %s', async (_name, options) => {
    const { ask, executor } = start(
      { ...options, prompts: [edited({ amount: 5 })] },
      { toolArgs: { amount: 500 } },
    );

    expect((await ask()).status).toBe('consent_denied');
    expect(executor.calls).toHaveLength(0);
  });
});

describe('askPeople', () => {
  it('lets go of the signal it was given, whatever happened', async () => {
    const { signal } = new AbortController();
    const { turn, annotations } = makeCall();
    const question = {
      ...{ id: 'a', toolName: 't', callId: 'c', turn, annotations },
      fingerprint: 'f',
      shown: {},
      options: [],
    };
    await askPeople(question, [allow], signal);
    await askPeople(question, [() => null], signal);
    await expect(
      askPeople(question, [() => Promise.reject(new Error('no'))], signal),
    ).rejects.toThrow('a prompt failed');

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
