import { describe, expect, it } from 'vitest';
import {
  type CallServices,
  consultationOf,
  type EarlierDecision,
  type StandingDecision,
} from './consultation.ts';
import type { ApprovalAnswer, ApprovalPrompt, ApprovalQuestion } from './question.ts';
import { makeCall, testClock } from '../../conformance/index.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { isoTime } from '../core/time/clock.ts';
import { type ApprovalAsk, askApproval, NOT_UNDERSTOOD } from './ask-approval.ts';
import { definitionHashOf, fingerprintOf } from './fingerprint.ts';

const clock = testClock();
const AT = isoTime(clock.now());
const call = (seed: Parameters<typeof makeCall>[1] = {}) =>
  makeCall({ toolArgs: { to: 'bob' } }, { clock, ...seed });
const ask = (about: ToolCall, changes: Partial<ApprovalAsk> = {}) =>
  askApproval(about, {
    gate: 'consent',
    id: 'approval_1',
    shown: { args: about.toolArgs },
    signal: about.signal,
    ...changes,
  });

const answers = (answer: unknown): ApprovalPrompt =>
  function window() {
    return answer as ApprovalAnswer; // Also what is none.
  };

const never: ApprovalPrompt = () => {
  throw new Error('nobody may be asked');
};

/**
 * Something that keeps answers for always, and what was kept; and a queue that notes who left it.
 */
function host(found: StandingDecision | null | Error = null) {
  const kept: unknown[] = [];
  const steps: string[] = [];
  const services: CallServices = {
    admit: (given) => given,
    proposalsOf: async () => [],
    standing: {
      use: async () => {
        if (found instanceof Error) throw found;
        return found;
      },
      holds: 'in this session, for a day',
      keep: async (_call, _definition, answer) => void kept.push(answer),
    },
    stepAside: () => void steps.push('left'),
    comeBack: async () => void steps.push('back'),
  };
  return { services, kept, steps };
}

const earlierFor = (about: ToolCall, changes: Partial<EarlierDecision> = {}): EarlierDecision => ({
  ...{
    id: 'approval_0',
    gate: 'consent',
    fingerprint: fingerprintOf(about),
    definition: definitionHashOf(about),
    policy: '',
  },
  ...{ decision: 'allow_once', decidedBy: 'ada', decidedAt: AT, requestedAt: AT },
  ...changes,
});

describe('askApproval', () => {
  it('leaves a question where nobody can be asked, and notes who asked over which definition', async () => {
    const about = call();
    const outcome = await ask(about, { policy: 'sha256:rules', expiresAt: AT });

    expect(outcome).toEqual({
      interruption: {
        ...{
          kind: 'approval_required',
          id: 'approval_1',
          fingerprint: fingerprintOf(about),
          expiresAt: AT,
        },
        shown: { args: { to: 'bob' } },
        options: ['allow_once', 'reject_once'],
      },
    });
    expect(consultationOf(about).question).toEqual({
      gate: 'consent',
      definition: definitionHashOf(about),
      policy: 'sha256:rules',
    });
  });

  it('says who answered and when, and leaves no question', async () => {
    const about = call({
      prompts: [answers({ decision: 'allow_once', decidedBy: 'ada', reason: 'rent' })],
    });
    const outcome = await ask(about);

    expect(outcome).toEqual({
      said: {
        id: 'approval_1',
        at: AT,
        by: 'ada',
        decision: 'approved',
        always: false,
        reason: 'rent',
      },
    });
    expect(consultationOf(about).question).toBeNull();
  });

  it('takes the first answer of any channel, once each, and tells the others', async () => {
    const signals: AbortSignal[] = [];
    const slow = ({ signal }: ApprovalQuestion) => (
      signals.push(signal), new Promise<null>(() => {})
    );
    const outcome = await ask(call({ prompts: [slow, slow, () => null] }), {
      prompts: [slow, answers({ decision: 'reject_once' })],
    });

    expect(outcome).toMatchObject({ said: { decision: 'denied', by: 'window' } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it.each([
    [{ decision: 'yes' }],
    ['allow_once'],
    [undefined],
    [{ decision: 'allow_once', args: { n: 1n } }],
  ])('takes what it does not understand for a no (%#)', async (answer) => {
    expect(await ask(call({ prompts: [answers(answer)] }))).toMatchObject({
      said: { decision: 'denied', reason: NOT_UNDERSTOOD },
    });
  });

  it('rejects where a channel failed and nobody answered, and takes no answer for a caller that has left', async () => {
    const left = new AbortController();
    const leaving = () => (left.abort(), { decision: 'allow_once' }) as ApprovalAnswer;

    await expect(ask(call({ prompts: [never] }))).rejects.toThrow('a prompt failed');
    await expect(ask(call({ prompts: [leaving] }), { signal: left.signal })).rejects.toThrow();
  });

  it('makes way while somebody thinks, also where asking fails, and not where nobody is asked', async () => {
    const [asked, failed, standing] = [
      host(),
      host(),
      host({ id: 'g', decision: 'allow', decidedBy: 'ada', decidedAt: AT }),
    ];
    await ask(call({ services: asked.services, prompts: [answers({ decision: 'allow_once' })] }));
    await ask(call({ services: failed.services, prompts: [never] })).catch(() => {});
    await ask(call({ services: standing.services, prompts: [never] }));

    expect([asked.steps, failed.steps, standing.steps]).toEqual([['left'], ['left'], []]);
  });
});

describe('askApproval, in a further pass over a call', () => {
  it('finds what was decided, asks nobody, and uses it up', async () => {
    const first = earlierFor(call());
    const about = call({ decisions: [first], prompts: [never] });

    expect(await ask(about)).toMatchObject({
      said: { id: 'approval_0', decision: 'approved', by: 'ada', earlier: first },
    });
    expect(consultationOf(about).decisions).toEqual([]);
    await expect(ask(about)).rejects.toThrow('a prompt failed');
  });

  it('uses decisions in the order of their questions, each for its own gate', async () => {
    const decisions = (['allow_once', 'reject_once'] as const).map((decision) =>
      earlierFor(call(), { decision }),
    );
    const about = call({
      decisions: [
        earlierFor(call(), { gate: 'permissions', decision: 'reject_once' }),
        ...decisions,
      ],
    });
    const said = [await ask(about), await ask(about), await ask(about, { gate: 'permissions' })];

    expect(said).toMatchObject([
      { said: { decision: 'approved' } },
      { said: { decision: 'denied' } },
      { said: { decision: 'denied' } },
    ]);
  });

  it.each<readonly [string, Partial<EarlierDecision>, string]>([
    ['another definition', { definition: 'sha256:other' }, 'definition_changed'],
    ['other rules', { policy: 'sha256:other' }, 'consent_denied'],
    ['another call', { fingerprint: 'sha256:other' }, 'consent_denied'],
  ])('refuses a yes to %s, and hears a no', async (_name, changes, status) => {
    const no = { ...changes, decision: 'reject_once' } as const;

    expect(await ask(call({ decisions: [earlierFor(call(), changes)] }))).toMatchObject({
      refusal: { status, blockedBy: 'consent' },
    });
    expect(await ask(call({ decisions: [earlierFor(call(), no)] }))).toMatchObject({
      said: { decision: 'denied' },
    });
  });

  it('hands on what a person wrote, and that nobody decided', async () => {
    const [args, supplied] = [{ to: 'carol' }, { value: null }];

    expect(await ask(call({ decisions: [earlierFor(call(), { args })] }))).toMatchObject({
      said: { args },
    });
    expect(await ask(call({ decisions: [earlierFor(call(), { supplied })] }))).toMatchObject({
      said: { supplied },
    });
    expect(
      await ask(call({ decisions: [earlierFor(call(), { decision: 'expired' })] })),
    ).toMatchObject({ said: { decision: 'expired' } });
  });
});

describe('askApproval, with answers that stand', () => {
  it.each([
    ['allow', 'approved'],
    ['reject', 'denied'],
  ] as const)('asks nobody where one stands: %s', async (decision, said) => {
    const { services } = host({ id: 'grant_1', decision, decidedBy: 'ada', decidedAt: AT });

    expect(await ask(call({ services, prompts: [never] }))).toMatchObject({
      said: { id: 'grant_1', decision: said, standing: true },
    });
  });

  it('asks where the store fails, and offers always only where it is kept', async () => {
    const questions: ApprovalQuestion[] = [];
    const watch = (question: ApprovalQuestion) => (questions.push(question), null);
    await ask(call({ services: host(new Error('disk')).services, prompts: [watch] }));
    await ask(call({ prompts: [watch] }));
    await ask(call({ prompts: [watch] }), { keepsAnswers: true });

    expect(questions.map(({ options }) => options.length)).toEqual([4, 2, 4]);
  });

  it.each<readonly [string, ApprovalAnswer, number]>([
    ['an answer for always', { decision: 'reject_always' }, 1],
    ['no answer for once', { decision: 'allow_once' }, 0],
    ['none that was edited', { decision: 'allow_always', args: {} }, 0],
    ['none with a result', { decision: 'allow_always', result: 1 }, 0],
  ])('keeps %s, given now or earlier', async (_name, answer, count) => {
    const [now, later, own] = [host(), host(), host()];
    const { result, ...rest } = answer;
    const about = call({ services: later.services });
    const decision = earlierFor(about, {
      ...rest,
      ...(result === undefined ? {} : { supplied: { value: result } }),
    });
    await ask(call({ services: now.services, prompts: [answers(answer)] }));
    await ask(call({ services: later.services, decisions: [decision] }));
    await ask(call({ services: own.services, prompts: [answers(answer)] }), { keepsAnswers: true });

    expect([now.kept.length, later.kept.length, own.kept.length]).toEqual([count, count, 0]);
  });
});
