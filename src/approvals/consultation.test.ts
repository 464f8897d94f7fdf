import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/test-kit.ts';
import { composeToolCallers } from '../core/onion/compose.ts';
import { createPass } from '../core/onion/pass.ts';
import { createCall } from '../core/onion/own-call.ts';
import type { OpenQuestion } from './consultation.ts';
import { approvalWaitOf, consultationOf, type EarlierDecision } from './consultation.ts';

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

describe('what approvals keep with a call', () => {
  const question: OpenQuestion = { gate: 'consent', definition: 'd', policy: '' };

  it('is kept in a stack without a dispatcher, too', () => {
    const bare = createCall(makeCall(), createPass());
    consultationOf(bare).question = question;

    expect(consultationOf(bare)).toEqual({
      ...{ prompts: [], services: null, decisions: [] },
      question,
    });
  });

  it('begins anew when a host hands in the same call again', async () => {
    const seen: unknown[] = [];
    const stack = composeToolCallers([
      (call, next) => {
        const consultation = consultationOf(call);
        seen.push({ ...consultation });
        consultation.question = question;
        return next(call);
      },
    ]);
    const call = makeCall();

    await stack(call, echoExecutor());
    await stack(call, echoExecutor());

    expect(seen).toEqual([consultationOf(call), consultationOf(call)]);
    expect(consultationOf(call).question).toBeNull();
  });
});
