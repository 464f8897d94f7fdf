import { describe, expect, it } from 'vitest';
import { alwaysCovers, type ApprovalQuestion } from '../../approvals/question.ts';
import { makeCall } from '../../../conformance/index.ts';
import { consentForm } from './elicitation.ts';

const { turn, annotations } = makeCall();
const question = (changes: Partial<ApprovalQuestion>): ApprovalQuestion => ({
  ...{ id: 'a', toolName: 'pay', callId: 'c', turn, annotations },
  ...{ fingerprint: 'f', shown: {}, options: [], signal: new AbortController().signal },
  ...changes,
});

describe('a form of the proxy', () => {
  const always = { ...alwaysCovers('pay', 'in this session') };

  it('says what an answer for always covers on its choices, and not among the arguments', () => {
    const shown = { toolName: 'pay', args: { always: 5 }, always };
    const options = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
    const form = consentForm(question({ shown, options }));

    expect(form.message).toBe(
      'The agent wants to call pay: {"toolName":"pay","args":{"always":5}}',
    );
    expect(JSON.stringify(form.requestedSchema)).toContain(
      `"Allow always: pay with exactly these arguments, in this session"`,
    );
  });

  it('offers no answer with the arguments left open, and speaks of none', () => {
    const options = ['allow_once', 'reject_once'] as const;
    const form = consentForm(question({ shown: { args: {}, always }, options }));

    expect(JSON.stringify(form)).not.toMatch(/always|any arguments/i);
  });
});
