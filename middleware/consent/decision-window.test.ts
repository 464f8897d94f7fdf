import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, settle, testClock } from '../../conformance/index.ts';
import { type ApprovalPrompt, composeToolCallers } from '../../src/index.ts';
import { allow, channel, start } from './asking.fixture.ts';
import { consent } from './consent.ts';

describe('consent, while somebody thinks,', () => {
  it('expiresMs: ends as consent_expired, and a late answer is ignored', async () => {
    const person = channel();
    const { ask, clock, executor } = start({
      prompts: [person.prompt],
      expiresMs: 1_000,
      remember: true,
    });
    const calling = ask();
    await clock.advance(1_000);
    const result = await calling;
    person.answer({ decision: 'allow_always' });
    await settle();
    const again = ask();
    await settle();

    expect(result).toMatchObject({
      status: 'consent_expired',
      executed: 'no',
      approval: { decision: 'expired' },
    });
    expect(result.audit?.consent).toMatchObject({
      decision: 'expired',
      decidedBy: 'consent',
      decidedAt: '2026-01-01T00:00:01.000Z',
    });
    expect(person.asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    person.answer({ decision: 'reject_once' }, 1);
    await again;
    expect(executor.calls).toHaveLength(0);
  });

  it('expiresMs: holds for a decider that never answers, and asks nobody afterwards', async () => {
    const person = channel();
    let answer = (_reply: 'ask') => {};
    let heard: AbortSignal | undefined;
    const { ask, clock, executor } = start({
      expiresMs: 50,
      prompts: [person.prompt],
      decide: ({ signal }) => {
        heard = signal;
        return new Promise((resolve) => void (answer = resolve));
      },
    });
    const calling = ask();
    await clock.advance(50);
    expect((await calling).status).toBe('consent_expired');
    answer('ask');
    await settle();

    expect(heard?.aborted).toBe(true);
    expect(person.asked).toHaveLength(0);
    expect(executor.calls).toHaveLength(0);
  });

  it('expiresMs: holds when the answer comes before the timer of a machine that slept', async () => {
    const clock = testClock();
    let slept = 0;
    const sleeping = { ...clock, monotonic: () => clock.monotonic() + slept };
    const person = channel();
    const executor = echoExecutor();
    const calling = composeToolCallers(
      [consent({ default: 'ask', prompts: [person.prompt], expiresMs: 1_000 })],
      { clock: sleeping },
    )(makeCall(), executor);
    await settle();
    slept = 3_600_000;
    person.answer({ decision: 'allow_once' });

    expect((await calling).status).toBe('consent_expired');
    expect(executor.calls).toHaveLength(0);
  });

  it('expiresMs: does not call it expired when the caller had left, however long the machine slept', async () => {
    const clock = testClock();
    const controller = new AbortController();
    const sleeping = {
      ...clock,
      monotonic: () => clock.monotonic() + (controller.signal.aborted ? 3_600_000 : 0),
    };
    const stack = composeToolCallers(
      [consent({ default: 'ask', prompts: [channel().prompt], expiresMs: 1_000 })],
      { clock: sleeping },
    );
    const calling = stack(makeCall({ signal: controller.signal }), echoExecutor());
    await settle();
    controller.abort();

    expect((await calling).status).toBe('cancelled');
  });

  it('ends as cancelled when the caller leaves, whatever is clicked later', async () => {
    const controller = new AbortController();
    const person = channel();
    const { ask, clock, executor } = start(
      { prompts: [person.prompt], expiresMs: 1_000 },
      { signal: controller.signal },
    );
    const calling = ask();
    await settle();
    controller.abort();

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'no' });
    person.answer({ decision: 'allow_once' });
    await settle();
    expect(person.asked[0]?.signal.aborted).toBe(true);
    expect(executor.calls).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  it('counts no approval that comes together with the end of the call', async () => {
    const controller = new AbortController();
    const person = channel();
    const { ask, executor } = start({ prompts: [person.prompt] }, { signal: controller.signal });
    const calling = ask();
    await settle();
    person.answer({ decision: 'allow_once' });
    controller.abort();
    const result = await calling;

    expect(result).toMatchObject({ status: 'cancelled', approval: null });
    expect(result.audit?.consent).toBeUndefined();
    expect(executor.calls).toHaveLength(0);
  });

  it('asks nobody for a caller that had left before', async () => {
    let asked = 0;
    const decide = () => ((asked += 1), true);

    expect((await start({ decide }, { signal: AbortSignal.abort() }).ask()).status).toBe(
      'cancelled',
    );
    expect(asked).toBe(0);
  });

  it('leaves no timer and no listener behind, whatever happened', async () => {
    const { signal } = new AbortController();
    const never: ApprovalPrompt = () => new Promise(() => {});
    for (const prompt of [
      allow,
      never,
      () => null,
      () => Promise.reject(new Error('no')),
    ] satisfies ApprovalPrompt[]) {
      const { ask, clock } = start({ prompts: [prompt], expiresMs: 10 }, { signal });
      const calling = ask();
      await clock.advance(10);
      await calling;

      expect(clock.pending).toBe(0);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });
});
