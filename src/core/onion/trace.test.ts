import { describe, expect, it } from 'vitest';
import { stateOf } from './own-call.ts';
import type { EarlierDecision } from '../contract/approval.ts';
import { makeCall } from '../../../conformance/test-kit.ts';
import { approvalWaitOf, traceWith } from './account.ts';

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

describe('traceWith', () => {
  it('keeps the span of the pass, the last one that is given', () => {
    const call = makeCall();
    traceWith(call, PARENT.replace('01', '00'));
    traceWith(call, PARENT);

    expect(stateOf(call).trace).toBe(PARENT);
  });

  it.each(['', 'x', `${PARENT}-more`, PARENT.toUpperCase(), `${PARENT}\n`, 'x'.repeat(1_000_000)])(
    'ignores what is no traceparent (%#)',
    (text) => {
      const call = makeCall();
      traceWith(call, text);

      expect(stateOf(call).trace).toBeNull();
    },
  );
});

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
