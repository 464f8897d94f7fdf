import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { answerApproval } from './answer-approval.ts';
import type { ApprovalCode, ApprovalStore } from './approval.ts';
import { codeFor, createCode, demandCode, MAX_CODE_TRIES } from './approval-code.ts';
import { approvalOf, codeOf, MINUTE_MS, naiveApprovals } from '../approvals.fixture.ts';
import { memoryApprovals } from './approval-stores.ts';

const key = randomBytes(32);
const WRONG = '22222-22222';

/** A store with one approval that has a code. */
async function coded(store: ApprovalStore = memoryApprovals()) {
  const code = createCode();
  const approval = approvalOf({ expiresAt: new Date(testClock().now() + MINUTE_MS).toISOString() });
  await store.add({ ...approval, code: await codeFor(key, approval.id, code) });
  const clock = testClock();
  const tried = (given: string, with_ = key) =>
    codeOf(demandCode(store, approval.id, given, () => with_, { clock }));
  return { store, id: approval.id, code, clock, tried };
}

/** How many of so many wrong codes at once were compared. */
async function compared(store: ApprovalStore, count: number): Promise<number> {
  const { id, clock } = await coded(store);
  const said = await Promise.all(
    Array.from({ length: count }, () =>
      demandCode(store, id, WRONG, () => key, { clock }).catch((thrown: unknown) =>
        thrown instanceof Error ? thrown.message : '',
      ),
    ),
  );
  return said.filter((text) => String(text).includes('another code')).length;
}

/** Whether what is kept leads to the code by reading it. */
const shows = ({ hash }: ApprovalCode, code: string): boolean =>
  [code, code.replace('-', '')].some((form) =>
    [form, Buffer.from(form).toString('hex'), Buffer.from(form).toString('base64')].includes(
      hash.replace(/^\w+:/, ''),
    ),
  );

describe('the code of an approval', () => {
  it('is taken as people type it, and counts the try', async () => {
    const { store, id, code, tried } = await coded();

    expect(await tried(` ${code.toLowerCase().replace('-', ' ')} `)).toBe('done');
    expect((await store.get(id))?.code?.tries).toBe(1);
  });

  it('is another one every time, and belongs to its approval and key', async () => {
    const { code, tried } = await coded();
    const other = await coded();

    expect(new Set(Array.from({ length: 1000 }, createCode)).size).toBe(1000);
    expect(await other.tried(code)).toBe('ERR_APPROVAL_CODE');
    expect(await tried(code, randomBytes(32))).toBe('ERR_APPROVAL_CODE');
    expect(await codeFor(key, 'a', code)).not.toEqual(await codeFor(key, 'b', code));
  });

  it('cannot be read from what is kept, unlike one that is kept as it is', async () => {
    const code = createCode();

    expect(shows(await codeFor(key, 'a', code), code)).toBe(false);
    expect(shows({ hash: `scrypt:${code}`, tries: 0 }, code)).toBe(true);
  });

  it.each([[''], [WRONG], ['x'.repeat(10_000)], ['\u0000'], ['null']])(
    'is not %j',
    async (given) => {
      expect(await (await coded()).tried(given)).toBe('ERR_APPROVAL_CODE');
    },
  );

  it('is over after five tries, however many come at once', async () => {
    expect(await compared(memoryApprovals(), 40)).toBe(MAX_CODE_TRIES);
  });

  it('would be tried more often in a store that reads and then writes', async () => {
    expect(await compared(naiveApprovals(memoryApprovals()), 40)).toBeGreaterThan(MAX_CODE_TRIES);
  });

  it('goes with the answer, and is of no use for a call that was answered or has expired', async () => {
    const { store, id, code, tried, clock } = await coded();
    const late = await coded();
    await answerApproval(store, id, { decision: 'reject_once' }, { clock });
    await late.clock.advance(2 * MINUTE_MS);

    expect(await store.get(id)).not.toHaveProperty('code');
    expect(await tried(code)).toBe('ERR_APPROVAL_RESOLVED');
    expect(await late.tried(late.code)).toBe('ERR_APPROVAL_EXPIRED');
    expect((await late.store.get(late.id))?.code?.tries).toBe(0);
  });
});
