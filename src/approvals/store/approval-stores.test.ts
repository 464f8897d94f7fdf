import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { isoTime } from '../../core/time/clock.ts';
import { answerApproval } from './answer-approval.ts';
import type { Approval, ApprovalStore } from './approval.ts';
import { endedWith, takenUp, withReply } from './approval-rules.ts';
import { approvalOf, codeOf, MINUTE_MS, naiveApprovals, REPLY } from '../approvals.fixture.ts';
import { fileApprovals, type FileApprovalsOptions, memoryApprovals } from './approval-stores.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const inFiles = (options: Partial<FileApprovalsOptions> = {}): ApprovalStore => {
  const dir = mkdtempSync(join(tmpdir(), 'allium-approvals-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return fileApprovals({ dir: join(dir, 'approvals'), ...options });
};

const withApprovals = async (
  store: ApprovalStore,
  ...approvals: readonly Approval[]
): Promise<ApprovalStore> => {
  for (const approval of approvals) await store.add(approval);
  return store;
};

const WRITERS = 100;

/** How many of a hundred that have seen the same revision are told that they changed it. */
async function winners(store: ApprovalStore): Promise<number> {
  const approval = approvalOf();
  await store.add(approval);
  const replace = async (_: unknown, nth: number) =>
    store.replace(withReply(approval, { ...REPLY, decidedBy: `nth ${nth}` }));
  return (await Promise.all(Array.from({ length: WRITERS }, replace))).filter(Boolean).length;
}

describe.each([
  ['memoryApprovals', () => memoryApprovals()],
  ['fileApprovals', () => inFiles()],
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
    const [old, young] = [
      approvalOf(),
      approvalOf({ requestedAt: isoTime(testClock().now() + 1) }),
    ];
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
    const all = Array.from({ length: 8 }, (_, nth) =>
      approvalOf({ id: `approval_${9 - nth}`, requestedAt: isoTime(first + nth) }),
    );
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
      codeOf(
        answerApproval(store, approval.id, {
          decision: nth % 2 === 0 ? 'allow_once' : 'reject_once',
        }),
      );
    const codes = await Promise.all(Array.from({ length: WRITERS }, answer));

    expect(codes.filter((code) => code === 'done')).toHaveLength(1);
    expect(codes.filter((code) => code === 'ERR_APPROVAL_RESOLVED')).toHaveLength(WRITERS - 1);
    expect(await store.get(approval.id)).toMatchObject({ revision: 1 });
  });

  it.each(['constructor', '__proto__', '../../etc/passwd', 'a\u0000b', 'long'])(
    'takes any id: %j',
    async (name) => {
      const id = name === 'long' ? 'x'.repeat(5000) : name;
      const approval = approvalOf({ id });
      const store = await withApprovals(start(), approval);

      expect(await store.get(id)).toEqual(approval);
      expect(await store.replace(withReply(approval, REPLY))).toBe(true);
    },
  );

  it('does not take an id twice, and keeps the first', async () => {
    const approval = approvalOf();
    const store = await withApprovals(start(), approval);

    expect(await codeOf((async () => store.add({ ...approval, toolName: 'other' }))())).toBe(
      'ERR_INVALID_OPTION',
    );
    expect(await store.get(approval.id)).toEqual(approval);
  });

  it('takes nothing that is no approval, neither to add nor to replace with', async () => {
    const approval = approvalOf();
    const store = await withApprovals(start(), approval);

    for (const changes of WRONG) {
      const wrong = { ...approval, revision: 1, ...changes } as never;
      expect([changes, await codeOf((async () => store.add(wrong))())]).toEqual([
        changes,
        'ERR_INVALID_OPTION',
      ]);
      expect([changes, await codeOf((async () => store.replace(wrong))())]).toEqual([
        changes,
        'ERR_INVALID_OPTION',
      ]);
    }
    for (const none of [null, 5, [], {}])
      expect(await codeOf((async () => store.add(none as never))())).not.toBe('done');
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
const EARLIER = {
  ...REPLY,
  id: 'a',
  gate: 'consent',
  fingerprint: 'f',
  definition: 'd',
  policy: '',
  requestedAt: REPLY.decidedAt,
};

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

const ofSession = (sessionId: string, more: Partial<Approval> = {}) =>
  approvalOf({ turn: { iteration: 1, sessionId }, ...more });
const idsIn = async (store: ApprovalStore) =>
  (await store.list({ ended: true })).map(({ id }) => id);
const EXPIRED = { requestedAt: isoTime(0), expiresAt: isoTime(1) };
const added = (store: ApprovalStore, approval: Approval) =>
  codeOf(Promise.resolve().then(() => store.add(approval)));

/** A plain table with a cap, from which the oldest goes. */
function cappedApprovals(maxApprovals: number): ApprovalStore {
  const kept = new Map<string, Approval>();
  return {
    add(approval) {
      const [oldest] = kept.keys();
      if (kept.size >= maxApprovals && oldest !== undefined) kept.delete(oldest);
      kept.set(approval.id, approval);
    },
    get: (id) => kept.get(id) ?? null,
    list: () => [...kept.values()],
    replace: () => false,
  };
}

/** Whether a flood of one session leaves what another one waits for, and lets it ask again. */
async function survivesFlood(store: ApprovalStore, questions: number): Promise<boolean> {
  const [before, after] = [ofSession('another'), ofSession('another')];
  await store.add(before);
  for (let nth = 0; nth < questions; nth += 1) await added(store, ofSession('flooder'));
  return (
    (await added(store, after)) === 'done' &&
    (await store.get(before.id)) !== null &&
    (await store.get(after.id)) !== null
  );
}

describe.each([
  [
    'memoryApprovals',
    (maxApprovals: number) => memoryApprovals({ maxApprovals, clock: testClock() }),
  ],
  ['fileApprovals', (maxApprovals: number) => inFiles({ maxApprovals, clock: testClock() })],
] as const)('the room of %s', (_name, start) => {
  it('is not for one session alone, whose further questions are refused until it has fewer', async () => {
    const store = start(10);
    const mine = ofSession('another');
    await store.add(mine);
    const flood = Array.from({ length: 20 }, () => ofSession('flooder'));
    const codes = [];
    for (const approval of flood) codes.push(await added(store, approval));

    expect(codes.filter((code) => code === 'done')).toHaveLength(5);
    expect(codes.slice(5)).toEqual(Array.from({ length: 15 }, () => 'ERR_STORE_FULL'));
    expect(await idsIn(store)).toEqual([mine, ...flood.slice(0, 5)].map(({ id }) => id).toSorted());
    expect(await added(store, ofSession('another'))).toBe('done');
  });

  it('is made by what has expired or ended before anybody is refused', async () => {
    const store = start(4);
    const [first, second] = [ofSession('s'), ofSession('s', EXPIRED)];
    await withApprovals(store, first, second);
    const taken = takenUp(first, REPLY, 0);
    await store.replace(taken);
    await store.replace(endedWith(taken, { status: 'ok', executed: 'yes' }, 0));
    const later = [ofSession('s'), ofSession('s'), ofSession('s')];

    expect([
      await added(store, later[0] as Approval),
      await added(store, later[1] as Approval),
    ]).toEqual(['done', 'done']);
    expect(await added(store, later[2] as Approval)).toBe('ERR_STORE_FULL');
  });

  it('is made by the oldest question of the session with the most where many sessions have filled it, never by an answered one', async () => {
    const store = start(4);
    const answered = ofSession('a');
    const [first, second, third] = [ofSession('b'), ofSession('b'), ofSession('c')];
    await withApprovals(store, answered, first);
    await store.replace(withReply(answered, REPLY));
    await withApprovals(store, third);
    await added(store, second);
    await withApprovals(store, ofSession('d'), ofSession('e'));

    expect(await idsIn(store)).toContain(answered.id);
    expect(await idsIn(store)).not.toContain(first.id);
    expect(await idsIn(store)).toHaveLength(4);
  });

  it('says when a place is free again, where that is known', async () => {
    const store = start(2);
    const expiresAt = isoTime(testClock().now() + MINUTE_MS);
    await store.add(ofSession('s', { expiresAt }));
    const refused = Promise.resolve().then(() => store.add(ofSession('s')));

    await expect(refused).rejects.toMatchObject({
      code: 'ERR_STORE_FULL',
      details: { retryAfterMs: MINUTE_MS },
    });
  });

  it.each([[{ maxApprovals: 0 }], [{ maxApprovals: '5' }], [{ maxApproval: 1 }], [{ clock: 1 }]])(
    'refuses %j',
    (options) => {
      const build =
        _name === 'memoryApprovals'
          ? () => memoryApprovals(options as never)
          : () => inFiles(options as never);
      expect(build).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error);
    },
  );
});

describe('a flood of questions of one session', () => {
  const questions = (usually: number): number => howMany(usually, 100_000);

  it('neither pushes out what another one waits for nor keeps it from asking, in memory', {
    timeout: 900_000,
  }, async () => {
    const store = memoryApprovals();
    expect(await survivesFlood(store, questions(10_000))).toBe(true);
    expect((await store.list()).length).toBeLessThanOrEqual(502);
  });

  it('does neither in files', { timeout: 900_000 }, async () => {
    const store = inFiles({ maxApprovals: 100 });
    expect(await survivesFlood(store, questions(300))).toBe(true);
    expect((await store.list()).length).toBeLessThanOrEqual(52);
  });

  it('does both in a table with a cap, and the same questions find it', async () => {
    expect(await survivesFlood(cappedApprovals(1000), 2000)).toBe(false);
  });
});

describe('memoryApprovals', () => {
  it('never makes room by what is under way', async () => {
    const store = memoryApprovals({ maxApprovals: 2 });
    const [first, second] = [ofSession('a'), ofSession('b')];
    await withApprovals(store, first, second);
    for (const approval of [first, second]) await store.replace(takenUp(approval, REPLY, 0));

    expect(() => store.add(ofSession('c'))).toThrow('too many approvals wait');
  });
});
