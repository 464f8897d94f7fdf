import { describe, expect, it } from 'vitest';
import { makeCall } from '../../conformance/test-kit.ts';
import { approvalWaitOf, type EarlierDecision } from './consultation.ts';

describe('approvalWaitOf', () => {
  const decision = (id: string): EarlierDecision => ({
    ...{
      id,
      gate: 'consent',
      fingerprint: 'f',
      definition: 'd',
      policy: '',
      decision: 'allow_once',
      decidedBy: 'ada',
    },
    ...{
      decidedAt: '2026-01-01T01:00:00.000Z',
      requestedAt: '2026-01-01T00:00:00.000Z',
      args: { secret: 1 },
    },
  });

  it('is the wait for the last answer, without what a person wrote', () => {
    expect(approvalWaitOf(makeCall({}, { decisions: [decision('a'), decision('b')] }))).toEqual({
      ...{ id: 'b', gate: 'consent', decision: 'allow_once' },
      ...{ requestedAt: '2026-01-01T00:00:00.000Z', decidedAt: '2026-01-01T01:00:00.000Z' },
    });
  });

  it('is nothing for a first pass', () => {
    expect(approvalWaitOf(makeCall())).toBeNull();
  });
});
