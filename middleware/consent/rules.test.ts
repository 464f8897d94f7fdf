import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, type PartialCall, testClock } from '../../conformance/index.ts';
import { composeToolCallers, type ToolCaller, type ToolLayer } from '../../src/index.ts';
import {
  autoApprove,
  consent,
  type ConsentDecide,
  type ConsentOptions,
  ruleList,
} from './consent.ts';

async function run(
  given: ConsentDecide | ConsentOptions,
  call: PartialCall = {},
  inside: readonly (ToolLayer | ToolCaller)[] = [],
) {
  const executor = echoExecutor();
  const clock = testClock();
  const result = await composeToolCallers([consent(given), ...inside], { clock })(
    makeCall(call),
    executor,
  );
  return { result, ran: executor.calls.length, executor };
}

describe('consent by', () => {
  it.each<[string, ConsentOptions, PartialCall, string]>([
    [
      'rules counts a deny before an allow',
      {
        rules: [
          { tool: '*', decision: 'allow' },
          { tool: 'echo', decision: 'deny' },
        ],
      },
      {},
      'consent_denied',
    ],
    [
      'rules counts a deny before an ask',
      {
        rules: [
          { tool: '*', decision: 'ask' },
          { tool: 'e*', decision: 'deny' },
        ],
      },
      {},
      'consent_denied',
    ],
    [
      'rules counts an ask before an allow',
      {
        rules: [
          { tool: '*', decision: 'allow' },
          { tool: '*', decision: 'require_approval' },
        ],
      },
      {},
      'approval_required',
    ],
    ['rules allows what matches', { rules: [{ tool: 'e*o', decision: 'allow' }] }, {}, 'ok'],
    [
      'rules asks about what matches none',
      { rules: [{ tool: 'other', decision: 'allow' }] },
      {},
      'approval_required',
    ],
    [
      'rules asks about a name every object has',
      { rules: [{ tool: 'echo', decision: 'allow' }] },
      { toolName: 'constructor' },
      'approval_required',
    ],
    [
      'rules looks at the arguments',
      { rules: [{ tool: '*', when: ({ n }) => n === 1, decision: 'allow' }] },
      { toolArgs: { n: 1 } },
      'ok',
    ],
    [
      'rules looks at the arguments',
      { rules: [{ tool: '*', when: ({ n }) => n === 1, decision: 'allow' }] },
      { toolArgs: { n: 2 } },
      'approval_required',
    ],
    [
      'rules allows nothing for a when that is only truthy',
      { rules: [{ tool: '*', when: () => 1 as never, decision: 'allow' }] },
      {},
      'approval_required',
    ],
    [
      'rules denies for a when that is not exactly false',
      { rules: [{ tool: '*', when: () => undefined as never, decision: 'deny' }] },
      {},
      'consent_denied',
    ],
    [
      'rules denies for a when that fails',
      {
        rules: [
          { tool: '*', when: ({ a }) => (a as never as string[])[0] === 'b', decision: 'allow' },
        ],
      },
      {},
      'consent_denied',
    ],
    [
      'rules decides before decide',
      { rules: [{ tool: '*', decision: 'deny' }], decide: () => true },
      {},
      'consent_denied',
    ],
    [
      'decide decides where no rule matches',
      { rules: [{ tool: 'other', decision: 'deny' }], decide: () => true },
      {},
      'ok',
    ],
    ['default allows', { default: 'allow' }, {}, 'ok'],
    ['default denies', { default: 'deny', rules: [] }, {}, 'consent_denied'],
    [
      'default asks',
      { default: 'require_approval' },
      { annotations: { readOnly: true } },
      'approval_required',
    ],
    [
      'an empty list of rules asks',
      { rules: [] },
      { annotations: { readOnly: true } },
      'approval_required',
    ],
    ['annotations asks about a tool that says nothing', {}, {}, 'approval_required'],
    [
      'annotations asks about a destructive tool',
      {},
      { annotations: { readOnly: true, destructive: true } },
      'approval_required',
    ],
    [
      'annotations asks where the tool needs it',
      {},
      { annotations: { readOnly: true, needsApproval: true } },
      'approval_required',
    ],
    [
      'annotations asks where the tool wants it',
      {},
      { annotations: { readOnly: true, safety: { requiresConfirmation: true } } },
      'approval_required',
    ],
    ['annotations lets a reading tool run', {}, { annotations: { readOnly: true } }, 'ok'],
    [
      'autoApprove lets a reading tool run',
      { decide: autoApprove({ readOnly: true }) },
      { annotations: { readOnly: true } },
      'ok',
    ],
    [
      'autoApprove asks about all others',
      { decide: autoApprove({ readOnly: true }) },
      { annotations: { destructive: false } },
      'approval_required',
    ],
    [
      'autoApprove asks about a destructive reader',
      { decide: autoApprove({ readOnly: true }) },
      { annotations: { readOnly: true, destructive: true } },
      'approval_required',
    ],
    [
      'autoApprove asks where the tool needs it',
      { decide: autoApprove({ readOnly: true }) },
      { annotations: { readOnly: true, needsApproval: true } },
      'approval_required',
    ],
    [
      'autoApprove asks where the tool wants it',
      { decide: autoApprove({ readOnly: true }) },
      { annotations: { readOnly: true, safety: { requiresConfirmation: true } } },
      'approval_required',
    ],
    ['ruleList allows', { decide: ruleList([{ tool: 'echo', decision: 'allow' }]) }, {}, 'ok'],
    [
      'ruleList denies',
      {
        decide: ruleList([
          { tool: '*', decision: 'allow' },
          { tool: 'echo', decision: 'deny' },
        ]),
      },
      {},
      'consent_denied',
    ],
    ['ruleList asks about what matches none', { decide: ruleList([]) }, {}, 'approval_required'],
  ])('%s', async (_name, options, call, status) => {
    const { result, ran } = await run(options, call);

    expect(result.status).toBe(status);
    expect(ran).toBe(status === 'ok' ? 1 : 0);
  });

  it.each<[string, ConsentDecide | ConsentOptions]>([
    ['rule', { rules: [{ tool: '*', decision: 'allow' }] }],
    ['decide', () => true],
    ['default', { default: 'allow' }],
    ['annotations', {}],
    ['rule', ruleList([{ tool: '*', decision: 'allow' }])],
  ])('names %s where nobody else is named', async (decidedBy, given) => {
    expect(
      (await run(given, { annotations: { readOnly: true } })).result.audit?.consent,
    ).toMatchObject({ decidedBy });
  });

  it('does not follow a list of rules that is changed later', async () => {
    const rules = [{ tool: 'echo', decision: 'deny' as 'allow' | 'deny' }];
    const layer = consent({ rules });
    Object.assign(rules[0] ?? {}, { decision: 'allow' });
    rules.push({ tool: '*', decision: 'allow' });

    expect((await composeToolCallers([layer])(makeCall(), echoExecutor())).status).toBe(
      'consent_denied',
    );
  });
});

describe('the line of consent names the rule', () => {
  const lineOf = async (
    given: ConsentDecide | ConsentOptions,
    prompts: ConsentOptions['prompts'] = [],
  ) => {
    const { result } = await run(typeof given === 'function' ? given : { prompts, ...given });
    return result.audit?.layers.find(({ name }) => name === 'consent')?.rule;
  };
  const asks = { rules: [{ tool: 'e*', decision: 'ask' as const }] };

  it('that wanted a person to be asked, whatever the person said', async () => {
    expect(await lineOf(asks)).toBe('consent rule 1 (ask e*)');
    expect(await lineOf(asks, [() => ({ decision: 'allow_once', decidedBy: 'ada' })])).toBe(
      'consent rule 1 (ask e*)',
    );
    expect(await lineOf(asks, [() => ({ decision: 'reject_once', decidedBy: 'ada' })])).toBe(
      'consent rule 1 (ask e*)',
    );
    expect(await lineOf(asks, [() => Promise.reject(new Error('gone'))])).toBe(
      'consent rule 1 (ask e*)',
    );
  });

  it('of the default and of annotations, and nothing where a decider decided', async () => {
    expect(await lineOf({ default: 'deny' })).toBe('consent default (deny)');
    expect(await lineOf({})).toBe('consent annotations (ask)');
    expect(await lineOf(() => true)).toBeUndefined();
  });

  it('that denied what a person had edited', async () => {
    const rules = [
      { tool: '*', decision: 'ask' as const },
      { tool: 'echo', when: ({ n }: { n?: unknown }) => n === 2, decision: 'deny' as const },
    ];

    expect(await lineOf({ rules }, [() => ({ decision: 'allow_once', args: { n: 2 } })])).toBe(
      'consent rule 2 (deny echo)',
    );
  });

  it('on one plain line, whatever its pattern is', async () => {
    expect(
      await lineOf({ rules: [{ tool: 'e*\n\u001b[2J', decision: 'deny' }], default: 'allow' }),
    ).toBe('consent default (allow)');
    expect(await lineOf({ rules: [{ tool: `*${'*'.repeat(500)}`, decision: 'deny' }] })).toMatch(
      /^.{1,200}$/u,
    );
  });
});
