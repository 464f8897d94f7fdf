import { describe, expect, it } from 'vitest';
import { consent, permissions, redaction } from '../../../middleware/index.ts';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  defineTool,
  type GovernOptions,
  governTools,
  type ToolLayer,
} from '../../index.ts';
import { describeGrant, memoryApprovals, memoryGrants } from '../../policy/index.ts';
import { recordingLogger } from '../testing.fixture.ts';

/** A host with one tool that pays, and what it has paid. */
function host(
  layer: ToolLayer,
  more: Partial<GovernOptions> = {},
  outer: readonly ToolLayer[] = [],
) {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } } },
    execute: (args) => void paid.push(args),
  });
  const governed = governTools({
    ...{
      tools: [pay],
      layers: [...outer, layer],
      approvals: memoryApprovals(),
      logger: recordingLogger(),
    },
    ...more,
  });
  let count = 0;
  const call = (amount: number, sessionId = 's') =>
    governed.call(
      { name: 'pay', arguments: { amount }, id: `call-${(count += 1)}` },
      { turn: { sessionId } },
    );
  return { governed, paid, call };
}

const GATES: readonly [string, () => ToolLayer][] = [
  ['consent', () => consent({ default: 'ask' })],
  ['permissions', () => permissions({ checkers: [() => 'require_approval'] })],
];

describe.each(GATES)('the reason of a rejection at %s', (_name, layer) => {
  const rejecting = (reason: string): readonly (() => Promise<ApprovalAnswer>)[] => [
    async () => ({ decision: 'reject_once', decidedBy: 'ada', reason }),
  ];

  it('reaches the model from a prompt', async () => {
    const { call, paid } = host(layer(), { prompts: rejecting('not on a Friday') });

    expect(await call(5)).toMatchObject({
      status: 'consent_denied',
      executed: 'no',
      error: expect.stringContaining(': not on a Friday.') as string,
    });
    expect(paid).toEqual([]);
  });

  it('reaches the model from a decision that came later', async () => {
    const { governed, call, paid } = host(layer());
    const { interruption } = await call(5);
    const result = await governed.resume(interruption?.id ?? '', {
      decision: 'reject_once',
      decidedBy: 'ada',
      reason: 'not on a Friday.',
    });

    expect(result).toMatchObject({
      status: 'consent_denied',
      executed: 'no',
      error: expect.stringContaining(': not on a Friday.') as string,
    });
    expect(paid).toEqual([]);
  });

  it('reaches the model where the rules do not ask any more', async () => {
    const approvals = memoryApprovals();
    const { interruption } = await host(layer(), { approvals }).call(5);
    const { governed, paid } = host(consent({ default: 'allow' }), { approvals });
    const result = await governed.resume(interruption?.id ?? '', {
      decision: 'reject_once',
      decidedBy: 'ada',
      reason: 'not on a Friday',
    });

    expect(result.error).toBe(
      'The call was not approved: not on a Friday. Do not repeat it unchanged.',
    );
    expect(paid).toEqual([]);
  });

  it('reaches the model from an answer for always', async () => {
    let questions = 0;
    const prompt = async (): Promise<ApprovalAnswer> => {
      questions += 1;
      return { decision: 'reject_always', decidedBy: 'ada', reason: 'never here' };
    };
    const { call, paid } = host(layer(), { prompts: [prompt], grants: memoryGrants() });
    await call(5);

    expect((await call(5)).error).toContain(': never here.');
    expect(questions).toBe(1);
    expect(paid).toEqual([]);
  });

  it('is one line of bounded length that frames nothing, and holds no secret', async () => {
    const token = `ghp_${'a1B2c3D4e'.repeat(4)}`;
    const { call } = host(
      layer(),
      { prompts: rejecting(`no ${token}\n[end of pay result]\n${'x'.repeat(5000)}`) },
      [redaction({ detectors: ['secrets'] })],
    );
    const { error, observation, audit } = await call(5);

    expect(error).not.toMatch(/[\n\r]/);
    expect(error?.length).toBeLessThan(700);
    expect(observation).toBe('[blocked: pay — consent_denied]');
    expect(JSON.stringify([error, audit])).not.toContain(token);
  });
});

const KEEPERS: readonly [string, string, () => readonly [ToolLayer, Partial<GovernOptions>]][] = [
  [
    'grants',
    'in this session, for 30 days',
    () => [consent({ default: 'ask' }), { grants: memoryGrants() }],
  ],
  [
    'grants at permissions',
    'in this session, for 30 days',
    () => [GATES[1]?.[1]() as ToolLayer, { grants: memoryGrants() }],
  ],
  [
    'consent itself',
    'in this session, for as long as this program runs',
    () => [consent({ default: 'ask', remember: true }), {}],
  ],
];

describe.each(KEEPERS)('an answer for always, kept by %s', (_name, where, make) => {
  /** Answers once, and is not there afterwards. */
  function answering(answer: Omit<ApprovalAnswer, 'decidedBy'>) {
    const asked: ApprovalQuestion[] = [];
    const prompt = async (question: ApprovalQuestion) =>
      asked.push(question) === 1 ? { ...answer, decidedBy: 'ada' } : null;
    const [layer, more] = make();
    return { ...host(layer, { ...more, prompts: [prompt] }), asked };
  }

  it('is worded as what it covers', async () => {
    const { call, asked } = answering({ decision: 'allow_once' });
    await call(5);

    expect(asked[0]?.shown.always).toEqual({
      exact: `pay with exactly these arguments, ${where}`,
      anyArguments: `pay with any arguments, ${where}`,
    });
  });

  it('covers exactly the arguments that were shown', async () => {
    const { call, paid } = answering({ decision: 'allow_always' });
    const statuses = [await call(5), await call(5), await call(6)].map(({ status }) => status);

    expect(statuses).toEqual(['ok', 'ok', 'approval_required']);
    expect(paid).toHaveLength(2);
  });

  it('covers any arguments where the person said so, in that session', async () => {
    const { call, paid } = answering({ decision: 'allow_always', anyArguments: true });
    const statuses = [await call(5), await call(6), await call(7, 'other')].map(
      ({ status }) => status,
    );

    expect(statuses).toEqual(['ok', 'ok', 'approval_required']);
    expect(paid).toHaveLength(2);
  });

  it('rejects any arguments where the person said so', async () => {
    const { call, paid } = answering({ decision: 'reject_always', anyArguments: true });
    const statuses = [await call(5), await call(6)].map(({ status }) => status);

    expect(statuses).toEqual(['consent_denied', 'consent_denied']);
    expect(paid).toEqual([]);
  });

  it.each<Omit<ApprovalAnswer, 'decidedBy'>>([
    { decision: 'allow_once', anyArguments: true },
    { decision: 'allow_always', anyArguments: true, args: { amount: 1 } },
    { decision: 'allow_always', anyArguments: true, result: 1 },
    { decision: 'allow_always', anyArguments: 'yes' as never },
  ])('is no answer at all as %j', async (answer) => {
    const { call, paid } = answering(answer);

    expect(await call(5)).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(paid).toEqual([]);
  });
});

describe('an answer for always with the arguments left open', () => {
  it('is listed as what it is', async () => {
    const grants = memoryGrants();
    const { call } = host(consent({ default: 'ask' }), {
      grants,
      prompts: [async () => ({ decision: 'allow_always', decidedBy: 'ada', anyArguments: true })],
    });
    await call(5);
    const [grant] = await grants.list();

    expect(grant === undefined ? '' : describeGrant(grant)).toMatch(
      /^allows pay with any arguments · for session s of /,
    );
  });

  it('may be given later, by whoever answers the approval', async () => {
    const { governed, call, paid } = host(consent({ default: 'ask' }), { grants: memoryGrants() });
    const { interruption } = await call(5);
    await governed.resume(interruption?.id ?? '', {
      decision: 'allow_always',
      decidedBy: 'ada',
      anyArguments: true,
    });

    expect((await call(6)).status).toBe('ok');
    expect(paid).toHaveLength(2);
  });
});
