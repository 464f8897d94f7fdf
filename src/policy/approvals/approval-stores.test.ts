import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { isoTime } from '../../core/clock.ts';
import { answerApproval } from './answer-approval.ts';
import type { Approval } from './approval.ts';
import { endedWith, takenUp, withReply } from './approval-rules.ts';
import type { ApprovalStore } from './approval-store.ts';
import { approvalOf, codeOf, naiveApprovals, REPLY } from './approvals.fixture.ts';
import { fileApprovals } from './file-approvals.ts';
import { memoryApprovals } from './memory-approvals.ts';

const inFiles = (): ApprovalStore => {
  const dir = mkdtempSync(join(tmpdir(), 'allium-approvals-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return fileApprovals({ dir: join(dir, 'approvals') });
};

const withApprovals = async (store: ApprovalStore, ...approvals: readonly Approval[]): Promise<ApprovalStore> => {
  for (const approval of approvals) await store.add(approval);
  return store;
};

const WRITERS = 100;

/** How many of a hundred that have seen the same revision are told that they changed it. */
async function winners(store: ApprovalStore): Promise<number> {
  const approval = approvalOf();
  await store.add(approval);
  const replace = async (_: unknown, nth: number) => store.replace(withReply(approval, { ...REPLY, decidedBy: `nth ${nth}` }));
  return (await Promise.all(Array.from({ length: WRITERS }, replace))).filter(Boolean).length;
}

describe.each([
  ['memoryApprovals', () => memoryApprovals()],
  ['fileApprovals', inFiles],
] as const)('%s', (_name, start) => {
  it('gives back what was added, frozen, and nothing for an id nobody knows', async () => {
    const approval = approvalOf();
    const store = await withApprovals(start(), approval);
    const kept = await store.get(approval.id);

    expect(kept).toEqual(approval);
    expect([kept, kept?.arguments, kept?.turn].every(Object.isFrozen)).toBe(true);
    expect(await store.get('unheard')).toBeNull();
  });

  it('lists what has not ended, oldest first, and with `ended` the rest too', async () => {
    const [old, young] = [approvalOf(), approvalOf({ requestedAt: isoTime(testClock().now() + 1) })];
    const store = await withApprovals(start(), old, young);
    const taken = takenUp(old, REPLY, 0);
    await store.replace(taken);
    expect((await store.list()).map(({ id }) => id)).toEqual([old.id, young.id]);
    await store.replace(endedWith(taken, { status: 'ok', executed: 'yes' }, 0));

    expect((await store.list()).map(({ id }) => id)).toEqual([young.id]);
    expect((await store.list({ ended: true })).map(({ id }) => id)).toEqual([old.id, young.id]);
  });

  it('lists by the time of the question, and not by id', async () => {
    const first = testClock().now();
    const all = Array.from({ length: 8 }, (_, nth) => approvalOf({ id: `approval_${9 - nth}`, requestedAt: isoTime(first + nth) }));
    const store = await withApprovals(start(), ...all);

    expect(await store.list()).toEqual(all);
  });

  it('replaces the revision before it, and no other', async () => {
    const approval = approvalOf();
    const store = await withApprovals(start(), approval);
    const answered = withReply(approval, REPLY);

    expect(await store.replace(approval)).toBe(false);
    expect(await store.replace({ ...answered, revision: 2 })).toBe(false);
    expect(await store.replace(answered)).toBe(true);
    expect(await store.replace(answered)).toBe(false);
    expect(await store.replace(withReply(approvalOf(), REPLY))).toBe(false);
    expect(await store.get(approval.id)).toEqual(answered);
  });

  it(`takes one of ${WRITERS} changes of the same revision that come at once`, async () => {
    expect(await winners(start())).toBe(1);
  });

  it(`takes one of ${WRITERS} answers that come at once, and tells the others`, async () => {
    const approval = approvalOf();
    const store = await withApprovals(start(), approval);
    const answer = async (_: unknown, nth: number) =>
      codeOf(answerApproval(store, approval.id, { decision: nth % 2 === 0 ? 'allow_once' : 'reject_once' }));
    const codes = await Promise.all(Array.from({ length: WRITERS }, answer));

    expect(codes.filter((code) => code === 'done')).toHaveLength(1);
    expect(codes.filter((code) => code === 'ERR_APPROVAL_RESOLVED')).toHaveLength(WRITERS - 1);
    expect(await store.get(approval.id)).toMatchObject({ revision: 1 });
  });

  it.each(['constructor', '__proto__', '../../etc/passwd', 'a\u0000b', 'long'])('takes any id: %j', async (name) => {
    const id = name === 'long' ? 'x'.repeat(5000) : name;
    const approval = approvalOf({ id });
    const store = await withApprovals(start(), approval);

    expect(await store.get(id)).toEqual(approval);
    expect(await store.replace(withReply(approval, REPLY))).toBe(true);
  });

  it('does not take an id twice, and keeps the first', async () => {
    const approval = approvalOf();
    const store = await withApprovals(start(), approval);

    expect(await codeOf((async () => store.add({ ...approval, toolName: 'other' }))())).toBe('ERR_INVALID_OPTION');
    expect(await store.get(approval.id)).toEqual(approval);
  });

  it('takes nothing that is no approval, neither to add nor to replace with', async () => {
    const approval = approvalOf();
    const store = await withApprovals(start(), approval);

    for (const changes of WRONG) {
      const wrong = { ...approval, revision: 1, ...changes } as never;
      expect([changes, await codeOf((async () => store.add(wrong))())]).toEqual([changes, 'ERR_INVALID_OPTION']);
      expect([changes, await codeOf((async () => store.replace(wrong))())]).toEqual([changes, 'ERR_INVALID_OPTION']);
    }
    for (const none of [null, 5, [], {}]) expect(await codeOf((async () => store.add(none as never))())).not.toBe('done');
    expect(await store.list({ ended: true })).toEqual([approval]);
  });

  it('keeps a copy: what is changed after it was added stays what it was', async () => {
    const args = { to: 'bob' };
    const approval = approvalOf({ arguments: args });
    const store = await withApprovals(start(), approval);
    args.to = 'mallory';

    expect(await store.get(approval.id)).toMatchObject({ arguments: { to: 'bob' } });
  });
});

const TAKEN = { taken: { at: REPLY.decidedAt, owner: {} }, arguments: null, shown: null };
const EARLIER = { ...REPLY, id: 'a', gate: 'consent', fingerprint: 'f', definition: 'd', policy: '', requestedAt: REPLY.decidedAt };

/** Each is one step away from an approval. */
const WRONG: readonly object[] = [
  { more: 1 },
  { id: '' },
  { revision: -1 },
  { revision: 0.5 },
  { kind: 'other' },
  { turn: {} },
  { turn: { sessionId: 's' } },
  { arguments: null },
  { arguments: [] },
  { shown: null },
  { options: ['perhaps'] },
  { policy: null },
  { requestedAt: 'yesterday' },
  { requestedAt: '2026-01-01' },
  { expiresAt: 'never' },
  { trace: '' },
  { reply: {} },
  { reply: { ...REPLY, decision: 'expired' } },
  { reply: { ...REPLY, decidedBy: '' } },
  { reply: { ...REPLY, decidedAt: 'now' } },
  { reply: { ...REPLY, args: 5 } },
  { reply: { ...REPLY, reason: 5 } },
  { reply: { ...REPLY, supplied: {} } },
  { reply: { ...REPLY, args: {}, supplied: { value: 1 } } },
  { reply: { ...REPLY, decision: 'reject_once', supplied: { value: 1 } } },
  { reply: { ...REPLY, agrs: {} } },
  { earlier: {} },
  { earlier: [{ ...EARLIER, decision: 'yes' }] },
  { earlier: [{ ...EARLIER, gate: '' }] },
  { earlier: [{ ...EARLIER, args: 5 }] },
  { earlier: [{ ...EARLIER, policy: undefined }] },
  { ...TAKEN, arguments: {} },
  { ...TAKEN, shown: {} },
  { ...TAKEN, taken: { at: 'now', owner: {} } },
  { ...TAKEN, taken: { at: REPLY.decidedAt } },
  { ended: { at: REPLY.decidedAt, status: 'ok', executed: 'yes' } },
  { ...TAKEN, ended: { at: REPLY.decidedAt, status: '', executed: 'yes' } },
];

describe('a store that writes without comparing', () => {
  it('lets more than one win, and the same question finds it', async () => {
    expect(await winners(naiveApprovals(memoryApprovals()))).toBeGreaterThan(1);
  });
});

describe('memoryApprovals', () => {
  it('makes room by what has ended, then by what waits longest, and never by what is under way', async () => {
    const store = memoryApprovals({ maxApprovals: 2 });
    const [first, second, third, fourth] = [approvalOf(), approvalOf(), approvalOf(), approvalOf()];
    await withApprovals(store, first, second);
    const taken = takenUp(first, REPLY, 0);
    await store.replace(taken);
    await store.add(third);

    expect([await store.get(first.id), await store.get(second.id)]).toEqual([taken, null]);
    await store.replace(endedWith(taken, { status: 'ok', executed: 'yes' }, 0));
    await store.add(fourth);
    expect((await store.list({ ended: true })).map(({ id }) => id)).toEqual([third.id, fourth.id]);
    for (const approval of [third, fourth]) await store.replace(takenUp(approval, REPLY, 0));
    expect(() => store.add(approvalOf())).toThrow('too many calls are under way');
  });

  it.each([[{ maxApprovals: 0 }], [{ maxApprovals: '5' }], [{ maxApproval: 1 }]])('refuses %j', (options) => {
    expect(() => memoryApprovals(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error);
  });
});
