import { mkdtempSync, rmSync } from 'node:fs';
import type { ApprovalQuestion } from '../../approvals/question.ts';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { settle, testClock } from '../../../conformance/index.ts';
import { answerApproval } from '../../approvals/store/answer-approval.ts';
import type { ApprovalStore } from '../../approvals/store/approval.ts';
import { fileApprovals, memoryApprovals } from '../../approvals/store/approval-stores.ts';
import { queueIdOf, queuePrompt } from './queue-prompt.ts';

const POLL_MS = 250;

/** A question, and the queue that it is put to. */
function queueBench(store: ApprovalStore, args: object | null = { to: 'a' }) {
  const clock = testClock();
  const stop = new AbortController();
  const question: ApprovalQuestion = {
    ...{
      id: 'q1',
      toolName: 'note',
      callId: 'call-1',
      turn: { iteration: 1, sessionId: 's' },
      fingerprint: 'sha256:0',
      shown: { to: 'a' },
    },
    ...{ annotations: {}, options: ['allow_once', 'reject_once'], signal: stop.signal },
  };
  const prompt = queuePrompt({ store, clock, pollMs: POLL_MS, maxMs: 10_000 }, () => args as null);
  return { clock, stop, question, ask: () => prompt(question) };
}

function folderStore(): ApprovalStore {
  const dir = mkdtempSync(join(tmpdir(), 'allium-queue-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return fileApprovals({ dir });
}

describe.each([
  ['memory', memoryApprovals],
  ['a folder', folderStore],
])('queue prompt in %s', (_name, makeStore) => {
  const waiting = (store: ApprovalStore) =>
    vi.waitFor(async () => expect(await store.get(queueIdOf('q1'))).not.toBeNull());

  it.each(['allow_once', 'reject_once'] as const)(
    'hears "%s" from the store, and closes the copy',
    async (decision) => {
      const store = makeStore();
      const { ask, clock } = queueBench(store);
      const answer = ask();
      await waiting(store);

      await answerApproval(
        store,
        queueIdOf('q1'),
        { decision, decidedBy: 'somebody', reason: 'because' },
        { clock },
      );
      await vi.waitFor(() => expect(clock.pending).toBe(1));
      await clock.advance(POLL_MS);

      expect(await answer).toEqual({ decision, decidedBy: 'somebody', reason: 'because' });
      expect(await store.list()).toEqual([]);
      expect(clock.pending).toBe(0);
    },
  );

  it('takes the copy away when the question was answered elsewhere, without its arguments', async () => {
    const store = makeStore();
    const { ask, clock, stop } = queueBench(store);
    const answer = Promise.resolve(ask()).catch(() => 'ended');
    await waiting(store);
    await vi.waitFor(() => expect(clock.pending).toBe(1));

    stop.abort();

    expect(await answer).toBe('ended');
    expect(await store.list()).toEqual([]);
    expect(await store.get(queueIdOf('q1'))).toMatchObject({
      arguments: null,
      shown: null,
      ended: { executed: 'unknown' },
    });
    expect(clock.pending).toBe(0);
  });

  it('gives no answer when nobody has one in time', async () => {
    const store = makeStore();
    const { ask, clock } = queueBench(store);
    const answer = ask();
    await waiting(store);
    await vi.waitFor(() => expect(clock.pending).toBe(1));

    for (let ms = 0; ms <= 10_000; ms += POLL_MS) {
      await clock.advance(POLL_MS);
      if (ms < 9_000) await vi.waitFor(() => expect(clock.pending).toBe(1));
    }

    expect(await answer).toBeNull();
  });
});

describe('queue prompt', () => {
  it('puts nothing in the store for a call that it does not know', async () => {
    const store = memoryApprovals();

    expect(await queueBench(store, null).ask()).toBeNull();
    expect(await store.list({ ended: true })).toEqual([]);
  });

  it('gives no answer where the copy has gone', async () => {
    const store = memoryApprovals();
    const { ask, clock } = queueBench({ ...store, get: () => null });

    expect(await ask()).toBeNull();
    await settle();
    expect(clock.pending).toBe(0);
  });

  it('lets a store that fails be heard, so that nobody takes it for a yes', async () => {
    const failing = { ...memoryApprovals(), add: () => Promise.reject(new Error('full')) };

    await expect(queueBench(failing).ask()).rejects.toThrow('full');
  });
});
