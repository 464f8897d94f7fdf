import { describe, expect, it, vi } from 'vitest';
import type { ApprovalAnswer, ApprovalPrompt, ApprovalQuestion } from '../../approvals/question.ts';
import { settle, testClock } from '../../../conformance/index.ts';
import { consent } from '../../../middleware/index.ts';
import { askEverywhere } from './people.ts';
import { decided, ELICITS, methodsIn, scripted, statusIn } from './scripted.fixture.ts';

const YES: ApprovalAnswer = { decision: 'allow_once', decidedBy: 'somebody' };
const nobody: ApprovalPrompt = () => null;

/** Answers when it is told to, and knows whether it is still wanted. */
function channel() {
  let signal: AbortSignal | null = null;
  let answer: (given: ApprovalAnswer | null) => void = () => {};
  const prompt: ApprovalPrompt = (question) => {
    signal = question.signal;
    return new Promise((resolve) => void (answer = resolve));
  };
  return {
    prompt,
    say: (given: ApprovalAnswer | null) => answer(given),
    wasAsked: () => signal !== null,
    isOver: () => signal?.aborted ?? false,
  };
}

function askBench({
  channels = [nobody],
  queue = nobody,
  waitMs = 0,
  patience = 1000 as number | null,
}) {
  const clock = testClock();
  const beats: number[] = [];
  const prompt = askEverywhere({
    channels,
    queue,
    clock,
    waitMs,
    patienceMs: () => patience,
    onWaiting: (_question, beat) => void beats.push(beat),
  });
  const question = {
    id: 'q1',
    callId: 'c1',
    options: ['allow_once'],
    signal: new AbortController().signal,
  } as unknown as ApprovalQuestion; // Nothing else of it is looked at.
  return { clock, beats, ask: () => Promise.resolve(prompt(question)) };
}

describe('asking everywhere', () => {
  it('ends at once where nobody can be asked, and leaves the queue alone', async () => {
    const queue = channel();
    const { ask, clock } = askBench({ queue: queue.prompt });

    expect(await ask()).toBeNull();
    expect(queue.wasAsked()).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('watches the queue for as long as it is told to where nobody else can be asked', async () => {
    const queue = channel();
    const { ask, clock } = askBench({ queue: queue.prompt, waitMs: 500, patience: 10 });
    const answer = ask();
    await vi.waitFor(() => expect(queue.wasAsked()).toBe(true));

    await clock.advance(499);
    expect(queue.isOver()).toBe(false);
    await clock.advance(1);

    expect(await answer).toBeNull();
    expect(queue.isOver()).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it.each(['client', 'queue'])(
    'takes the first answer, from the %s, and takes the question back everywhere',
    async (first) => {
      const [client, queue] = [channel(), channel()];
      const { ask, clock } = askBench({ channels: [client.prompt], queue: queue.prompt });
      const answer = ask();
      await vi.waitFor(() => expect(queue.wasAsked()).toBe(true));

      (first === 'client' ? client : queue).say(YES);

      expect(await answer).toMatchObject({ decision: 'allow_once' });
      expect([client.isOver(), queue.isOver()]).toEqual([true, true]);
      expect(clock.pending).toBe(0);
    },
  );

  it('goes on with the queue when the client can be asked no more', async () => {
    const [client, queue] = [channel(), channel()];
    const { ask } = askBench({ channels: [client.prompt], queue: queue.prompt });
    const answer = ask();
    await vi.waitFor(() => expect(queue.wasAsked()).toBe(true));

    client.say(null);
    await settle();
    queue.say(YES);

    expect(await answer).toMatchObject({ decision: 'allow_once' });
  });

  it('has no end by itself where the client does not wait', async () => {
    const [client, queue] = [channel(), channel()];
    const { ask, clock } = askBench({
      channels: [client.prompt],
      queue: queue.prompt,
      patience: null,
    });
    const answer = ask();
    await vi.waitFor(() => expect(queue.wasAsked()).toBe(true));

    await clock.advance(3_600_000);
    expect(client.isOver()).toBe(false);
    client.say(YES);

    expect(await answer).toMatchObject({ decision: 'allow_once' });
  });

  it('beats while somebody is asked, and no longer', async () => {
    const [client, queue] = [channel(), channel()];
    const { ask, clock, beats } = askBench({
      channels: [client.prompt],
      queue: queue.prompt,
      patience: 35_000,
    });
    const answer = ask();
    await vi.waitFor(() => expect(queue.wasAsked()).toBe(true));

    await clock.advance(60_000);
    await answer;

    expect(beats).toEqual([1, 2, 3]);
    expect(clock.pending).toBe(0);
  });
});

describe('a client that is asked', () => {
  it('hears that the call lives, and gets it back as one that waits when patience ends', async () => {
    const { client, server, clock } = await scripted({
      stack: [consent({ default: 'ask' })],
      capabilities: ELICITS,
      patienceMs: 25_000,
    });
    const result = client.call('note', {}, { _meta: { progressToken: 't' } });
    const question = await vi.waitFor(
      () =>
        client.got.find(({ method }) => method === 'elicitation/create') ?? expect.fail('asked'),
    );

    await clock.advance(25_000);
    expect(statusIn(await result)).toBe('approval_required');
    client.send({ jsonrpc: '2.0', id: question.id ?? null, result: decided('allow_once') });
    await settle();

    const beats = client.got.filter(({ method }) => method === 'notifications/progress');
    expect(beats.map(({ params }) => params)).toEqual(
      [1, 2].map((beat) => ({
        progressToken: 't',
        progress: beat / 1e9,
        message: 'waiting for somebody to decide',
      })),
    );
    expect(methodsIn(client.got)).toContain('notifications/cancelled');
    expect(server.calls).toHaveLength(0);
  });
});
