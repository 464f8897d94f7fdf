import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { isoTime } from '../../core/time/clock.ts';
import { answerApproval, changeApproval, readReply } from './answer-approval.ts';
import type { Approval, ApprovalStore } from './approval.ts';
import { endedWith, takenUp, withReply } from './approval-rules.ts';
import { approvalOf, codeOf, MINUTE_MS, REPLY } from '../approvals.fixture.ts';
import { memoryApprovals } from './approval-stores.ts';

const ALLOW = { decision: 'allow_once', decidedBy: 'ada' };

async function started(changes: Partial<Approval> = {}) {
  const [clock, store, approval] = [testClock(), memoryApprovals(), approvalOf(changes)];
  await store.add(approval);
  const answer = (decision: unknown) =>
    answerApproval(store, approval.id, decision as object, { clock });
  return { clock, store, approval, answer };
}

describe('answerApproval', () => {
  it('writes the answer down, stamped, and takes nothing up', async () => {
    const { store, approval, answer, clock } = await started();
    const args = { to: 'carol' };
    const answered = await answer({ ...ALLOW, reason: 'rent\nis due', args });

    expect(answered).toMatchObject({ revision: 1, taken: null, arguments: approval.arguments });
    expect(answered.reply).toEqual({
      ...ALLOW,
      reason: 'rent is due',
      args,
      decidedAt: isoTime(clock.now()),
    });
    expect(await store.get(approval.id)).toEqual(answered);
  });

  it('names the host where nobody says who decided', async () => {
    expect((await (await started()).answer({ decision: 'reject_once' })).reply).toMatchObject({
      decidedBy: 'host',
    });
  });

  it('takes one answer, whatever the second one says', async () => {
    const { answer } = await started();
    await answer({ decision: 'reject_once' });

    expect(await codeOf(answer(ALLOW))).toBe('ERR_APPROVAL_RESOLVED');
    expect(await codeOf(answer({ decision: 'reject_once' }))).toBe('ERR_APPROVAL_RESOLVED');
  });

  it.each<readonly [string, (approval: Approval) => Approval]>([
    ['was taken up', (approval) => takenUp(approval, REPLY, 0)],
    [
      'has ended',
      (approval) => ({
        ...endedWith(takenUp(approval, null, 0), { status: 'ok', executed: 'yes' }, 0),
        revision: 1,
      }),
    ],
  ])('answers nothing that %s', async (_name, change) => {
    const { store, approval, answer } = await started();
    await store.replace(change(approval));

    expect(await codeOf(answer(ALLOW))).toBe('ERR_APPROVAL_RESOLVED');
  });

  it('takes a late no, and no late yes', async () => {
    const { clock, store, approval, answer } = await started({
      expiresAt: isoTime(testClock().now() + MINUTE_MS),
    });
    await clock.advance(MINUTE_MS);

    expect(await codeOf(answer(ALLOW))).toBe('ERR_APPROVAL_EXPIRED');
    expect(await codeOf(answer({ decision: 'allow_always' }))).toBe('ERR_APPROVAL_EXPIRED');
    expect(await store.get(approval.id)).toEqual(approval);
    expect(await answer({ decision: 'reject_once' })).toMatchObject({
      reply: { decision: 'reject_once' },
    });
  });

  it('leaves an answer alone that nobody took up in time', async () => {
    const { clock, store, approval, answer } = await started({
      expiresAt: isoTime(testClock().now() + MINUTE_MS),
    });
    await answer(ALLOW);
    await clock.advance(MINUTE_MS);

    expect(await codeOf(answer({ decision: 'reject_once', decidedBy: 'eve' }))).toBe(
      'ERR_APPROVAL_RESOLVED',
    );
    expect(await store.get(approval.id)).toMatchObject({ reply: { decidedBy: 'ada' } });
  });

  it('throws for what is no decision before it looks at anything, and the call still waits', async () => {
    const { store, approval, answer } = await started();

    for (const wrong of [null, 5, {}, { decision: 'yes' }, { ...ALLOW, agrs: {} }]) {
      expect(await codeOf(answer(wrong))).toBe('ERR_INVALID_DECISION');
    }
    expect(await store.get(approval.id)).toEqual(approval);
  });

  it('throws for an approval nobody knows, and never quotes lines of its id', async () => {
    const failed = await answerApproval(memoryApprovals(), 'un\nheard', ALLOW).catch(
      (thrown: unknown) => thrown,
    );

    expect(failed).toMatchObject({
      code: 'ERR_UNKNOWN_APPROVAL',
      message: expect.not.stringContaining('\n') as string,
    });
  });
});

describe('changeApproval', () => {
  it('looks again where somebody was faster, and decides anew', async () => {
    const { clock, store, approval } = await started();
    const seen: number[] = [];
    const faster: ApprovalStore = {
      ...store,
      async replace(after) {
        if (after.revision === 1) await store.replace(withReply(approval, REPLY));
        return store.replace(after);
      },
    };
    const { before, after } = await changeApproval(faster, approval.id, clock, (found) => {
      seen.push(found.revision);
      return takenUp(found, found.reply, 0);
    });

    expect(seen).toEqual([0, 1]);
    expect([before.reply?.decidedBy, after.revision]).toEqual(['ada', 2]);
  });

  it('takes no word but true for done, and gives up in the end', async () => {
    const { clock, store, approval } = await started();
    let tries = 0;
    const vague: ApprovalStore = { ...store, replace: () => ((tries += 1), 1 as never) };
    const changing = changeApproval(vague, approval.id, clock, (found) => withReply(found, REPLY));

    expect(await codeOf(changing)).toBe('ERR_APPROVALS_UNAVAILABLE');
    expect(tries).toBe(100);
  });
});

describe('readReply', () => {
  it('is frozen, and throws for a value that fails while it is read', () => {
    const hostile = Object.defineProperty({}, 'decision', {
      enumerable: true,
      get: () => assertNever(),
    });

    expect(Object.isFrozen(readReply(ALLOW, 0))).toBe(true);
    expect(() => readReply(hostile, 0)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_DECISION' }) as Error,
    );
  });
});

function assertNever(): never {
  throw new Error('canary');
}
