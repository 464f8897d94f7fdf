import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { isoTime } from '../../core/time/clock.ts';
import { ownerHere } from '../../system/process-owner.ts';
import type { Approval } from './approval.ts';
import { approvalState, decisionOf, endedWith, takenUp, withReply } from './approval-rules.ts';
import { approvalOf, MINUTE_MS, REPLY } from '../approvals.fixture.ts';
import { isApproval } from './approval-schema.ts';

const NOW = testClock().now();
const expiring = (changes: Partial<Approval> = {}) =>
  approvalOf({ expiresAt: isoTime(NOW + MINUTE_MS), ...changes });
const earlier = {
  ...REPLY,
  id: 'a',
  gate: 'g',
  fingerprint: 'f',
  definition: 'd',
  policy: '',
  requestedAt: REPLY.decidedAt,
};

describe('approvalState', () => {
  it('is pending until it expires, to the millisecond, and for ever without an end', () => {
    expect(approvalState(expiring(), NOW + MINUTE_MS - 1)).toBe('pending');
    expect(approvalState(expiring(), NOW + MINUTE_MS)).toBe('expired');
    expect(approvalState(approvalOf(), Number.MAX_SAFE_INTEGER)).toBe('pending');
  });

  it('is answered until it expires: a yes that nobody took up in time is none', () => {
    const answered = withReply(expiring(), REPLY);

    expect(approvalState(answered, NOW)).toBe('answered');
    expect(approvalState(answered, NOW + MINUTE_MS)).toBe('expired');
  });

  it('is taken while the process lives, whatever the time, and lost when it has died', () => {
    const taken = takenUp(expiring(), REPLY, NOW);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const died = { ...taken, taken: { at: REPLY.decidedAt, owner: { ...ownerHere(), pid } } };

    expect(approvalState(taken, NOW + MINUTE_MS)).toBe('taken');
    expect(approvalState(died, NOW)).toBe('lost');
  });

  it.each([
    ['another start of the same number', { start: 'other' }, 'lost'],
    ['before the machine was started again', { boot: 'other' }, 'lost'],
    ['on another machine', { host: 'other' }, 'taken'],
    ['in another container', { space: 'other' }, 'taken'],
  ])('judges an owner %s', (_name, changes, state) => {
    const taken = {
      ...takenUp(approvalOf(), REPLY, NOW),
      taken: { at: REPLY.decidedAt, owner: { ...ownerHere(), ...changes } },
    };

    expect(approvalState(taken, NOW)).toBe(state);
  });

  it('is ended once it has, whoever lives', () => {
    expect(
      approvalState(
        endedWith(takenUp(approvalOf(), REPLY, NOW), { status: 'ok', executed: 'yes' }, NOW),
        NOW,
      ),
    ).toBe('ended');
  });
});

describe('the steps of an approval', () => {
  it('count up, freeze, and give what a store takes', () => {
    const answered = withReply(approvalOf(), REPLY);
    const taken = takenUp(answered, answered.reply, NOW);
    const ended = endedWith(taken, { status: 'ok', executed: 'yes' }, NOW);

    expect([answered, taken, ended].map(({ revision }) => revision)).toEqual([1, 2, 3]);
    expect(
      [answered, taken, ended].every((each) => isApproval(each) && Object.isFrozen(each)),
    ).toBe(true);
  });

  it('drop what was asked and answered when the call is taken up, and keep who decided', () => {
    const reply = { ...REPLY, reason: 'rent', args: { to: 'canary' } };
    const approval = approvalOf({
      arguments: { to: 'canary' },
      earlier: [{ ...earlier, supplied: { value: 'canary' } }],
    });
    const taken = takenUp(withReply(approval, reply), reply, NOW);

    expect(JSON.stringify(taken)).not.toContain('canary');
    expect(taken).toMatchObject({
      arguments: null,
      shown: null,
      reply: { decidedBy: 'ada', reason: 'rent' },
      earlier: [{ id: 'a' }],
    });
    expect(taken.taken?.owner.pid).toBe(process.pid);
  });
});

describe('decisionOf', () => {
  it('says who decided what about which call', () => {
    const approval = approvalOf({ receiptUri: 'file:///r#seq=1' });
    const { id, gate, fingerprint, definition, policy, requestedAt, receiptUri } = approval;

    expect(decisionOf(approval, REPLY, NOW)).toEqual({
      id,
      gate,
      fingerprint,
      definition,
      policy,
      requestedAt,
      receiptUri,
      ...REPLY,
    });
  });

  it.each(['allow_once', 'allow_always'] as const)('makes nothing of a late %s', (decision) => {
    expect(decisionOf(expiring(), { ...REPLY, decision }, NOW + MINUTE_MS)).toMatchObject({
      decision: 'expired',
      decidedBy: 'approvals',
    });
  });

  it.each(['reject_once', 'reject_always'] as const)('lets a late %s be a no', (decision) => {
    expect(decisionOf(expiring(), { ...REPLY, decision }, NOW + MINUTE_MS)).toMatchObject({
      decision,
      decidedBy: 'ada',
    });
  });

  it('is expired where nobody decided, and brings no arguments along', () => {
    expect(decisionOf(expiring(), null, NOW + MINUTE_MS)).toMatchObject({ decision: 'expired' });
    expect(
      decisionOf(expiring(), { ...REPLY, args: { to: 'eve' } }, NOW + MINUTE_MS),
    ).not.toHaveProperty('args');
  });
});
