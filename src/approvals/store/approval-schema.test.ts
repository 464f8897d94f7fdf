import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownerHere } from '../../system/process-owner.ts';
import { brokenCopies, strictCheck, undescribed } from '../../core/wire/schema-check.fixture.ts';
import { testFolder } from '../../receipts/receipts.fixture.ts';
import type { Approval } from './approval.ts';
import { APPROVAL_SCHEMA, isApproval } from './approval-schema.ts';
import { approvalOf, REPLY } from '../approvals.fixture.ts';
import { fileApprovals } from './approval-stores.ts';

const problems = strictCheck(APPROVAL_SCHEMA);
const AT = REPLY.decidedAt;
const TAKEN = { at: AT, owner: ownerHere() };
const ENDED = { at: AT, status: 'ok', executed: 'yes' };
const { decidedBy, decidedAt } = REPLY;
const ASKED = {
  gate: 'permissions',
  fingerprint: 'sha256:f',
  definition: 'sha256:d',
  policy: 'sha256:p',
  requestedAt: AT,
};
const EARLIER = { id: 'approval_0', ...ASKED, decision: 'expired', decidedBy, decidedAt } as const;

/** Every state an approval can be in, and every member it may have. */
const STATES: readonly (readonly [state: string, approval: Approval])[] = [
  ['pending', approvalOf()],
  [
    'one that expires',
    approvalOf({
      expiresAt: AT,
      kind: 'auth_required',
      trace: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    }),
  ],
  [
    'answered',
    approvalOf({
      revision: 1,
      reply: { ...REPLY, reason: '', args: { to: 'eve' } },
      receiptUri: 'file:///r.jsonl#seq=1',
    }),
  ],
  ['one with a result of its own', approvalOf({ reply: { ...REPLY, supplied: { value: null } } })],
  [
    'one with an earlier answer',
    approvalOf({
      earlier: [EARLIER, { ...EARLIER, reason: 'late', receiptUri: 'file:///r.jsonl#seq=2' }],
    }),
  ],
  ['taken', approvalOf({ reply: REPLY, taken: TAKEN, arguments: null, shown: null })],
  ['ended', approvalOf({ reply: REPLY, taken: TAKEN, ended: ENDED, arguments: null, shown: null })],
];
const kept = (approval: object) => ({ version: 1, ...approval });

describe('APPROVAL_SCHEMA', () => {
  it('describes every property', () => {
    expect(
      undescribed(APPROVAL_SCHEMA).filter(
        (path) => !/\/(?:if|then|else|dependentSchemas)\//.test(path),
      ),
    ).toEqual([]);
  });

  it.each(STATES)('takes the file of an approval that is %s', async (_state, approval) => {
    const dir = testFolder();
    await fileApprovals({ dir }).add(approval);
    const [file = ''] = readdirSync(dir).filter((name) => name.endsWith('.approval'));

    expect(problems(JSON.parse(readFileSync(join(dir, file), 'utf8')))).toEqual([]);
  });

  it.each(STATES)(
    'refuses what the store refuses, and nothing else, of one that is %s',
    (_state, approval) => {
      const { taken, reply } = approval;
      const [earlier] = approval.earlier;
      const broken = [
        ...brokenCopies({ ...approval }),
        ...(taken === null
          ? []
          : brokenCopies(taken).map(
              ([what, copy]) => [what, { ...approval, taken: copy }] as const,
            )),
        ...(reply === null
          ? []
          : brokenCopies({ ...reply }).map(
              ([what, copy]) => [what, { ...approval, reply: copy }] as const,
            )),
        ...(earlier === undefined
          ? []
          : brokenCopies({ ...earlier }).map(
              ([what, copy]) => [what, { ...approval, earlier: [copy] }] as const,
            )),
        [
          'arguments that are gone too early',
          { ...approval, arguments: taken === null ? null : {} },
        ] as const,
        ['a call that ended before it began', { ...approval, ended: ENDED, taken: null }] as const,
        [
          'an answer nobody may give',
          { ...approval, reply: { ...REPLY, decision: 'expired' } },
        ] as const,
        [
          'a result beside arguments',
          { ...approval, reply: { ...REPLY, args: {}, supplied: { value: 1 } } },
        ] as const,
        [
          'a result of a no',
          { ...approval, earlier: [{ ...EARLIER, supplied: { value: 1 } }] },
        ] as const,
        ['an option nobody knows', { ...approval, options: ['maybe'] }] as const,
        ['a turn of nobody', { ...approval, turn: { iteration: 1 } }] as const,
        ['no name', { ...approval, toolName: '' }] as const,
        ['half a revision', { ...approval, revision: 0.5 }] as const,
        ['a day only', { ...approval, requestedAt: AT.slice(0, 10) }] as const,
      ];

      const refused = broken.filter(([, copy]) => !isApproval(copy));
      expect(refused.length).toBeGreaterThan(40);
      expect(refused).toEqual(broken.filter(([, copy]) => problems(kept(copy)).length > 0));
    },
  );

  it('leaves days that no calendar has to the store', () => {
    const never = '2026-02-31T00:00:00.000Z';

    expect(isApproval(approvalOf({ expiresAt: never }))).toBe(false);
    expect(isApproval(approvalOf({ reply: { ...REPLY, decidedAt: never } }))).toBe(false);
    expect(isApproval(approvalOf({ earlier: [{ ...EARLIER, requestedAt: never }] }))).toBe(false);
  });

  it('refuses another version', () => {
    expect(problems({ ...approvalOf(), version: 2 })).not.toEqual([]);
    expect(problems(approvalOf())).not.toEqual([]);
  });
});
