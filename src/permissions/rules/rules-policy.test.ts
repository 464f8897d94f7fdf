import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartialCall } from '../../../conformance/test-kit.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { evaluateCheckers } from '../evaluate.ts';
import { makeRequest } from '../make-request.fixture.ts';
import type { PermissionAnswer, ProposedRequest } from '../permission.ts';
import type { PermissionRule, RuleDecision } from './read-rules.ts';
import { rulesPolicy, type RulesPolicyOptions } from './rules-policy.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const ask = (
  options: RulesPolicyOptions,
  partial: PartialCall = {},
  proposed?: ProposedRequest,
): PermissionAnswer =>
  rulesPolicy(options).evaluate(makeRequest(partial, proposed)) as PermissionAnswer; // It answers at once, in the object form.
const decide = (rules: readonly PermissionRule[], toolArgs: object = {}): string =>
  ask({ rules }, { toolArgs }).decision;

describe('rulesPolicy', () => {
  it('lets through what a rule allows, and names the rule', () => {
    const rules: PermissionRule[] = [
      { id: 'workspace', decision: 'allow', tool: 'fs_*', when: 'args.path.startsWith("/work/")' },
    ];

    expect(ask({ rules }, { toolName: 'fs_read', toolArgs: { path: '/work/a' } })).toEqual({
      decision: 'allow',
      reason: 'rule "workspace" allows this: it looks at args.path',
      code: 'workspace',
    });
  });

  it('has no opinion where no rule applies, and says which rule would have', () => {
    const rules: PermissionRule[] = [
      {
        id: 'workspace',
        decision: 'allow',
        when: 'args.path.startsWith("/work/")',
        reason: 'paths under /work/ are fine',
      },
      { id: 'small', decision: 'ask', when: 'size(args.path) < 3' },
    ];

    expect(ask({ rules }, { toolArgs: { path: '/etc/passwd' } })).toEqual({
      decision: 'no_opinion',
      reason:
        'no rule applies to this; rule "workspace" would allow it: paths under /work/ are fine; rule "small" would ask a person: it looks at args.path',
    });
    expect(decide([])).toBe('no_opinion');
  });

  it('puts deny before ask, and ask before allow, in whatever order they stand', () => {
    const strength: readonly RuleDecision[] = ['allow', 'ask', 'deny'];
    const says = { allow: 'allow', ask: 'require_approval', deny: 'deny' } as const;
    const rule = fc.record({ decision: fc.constantFrom(...strength), applies: fc.boolean() });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), (list) => {
        const rules = list.map(
          ({ decision, applies }): PermissionRule => ({
            decision,
            when: applies ? 'args.n == 1' : 'args.n == 2',
          }),
        );
        const strongest = strength.findLast((decision) =>
          list.some((each) => each.applies && each.decision === decision),
        );

        expect(decide(rules, { n: 1 })).toBe(
          strongest === undefined ? 'no_opinion' : says[strongest],
        );
      }),
      { numRuns: howMany(125, 500) },
    );
  });

  it('names the first of the rules that say the same', () => {
    const rules: PermissionRule[] = [
      { decision: 'allow' },
      { id: 'no', decision: 'deny' },
      { decision: 'deny', reason: 'never' },
    ];

    expect(ask({ rules })).toMatchObject({ decision: 'deny', code: 'no' });
    expect(rulesPolicy({ rules }).ruleIds).toEqual(['rule_1', 'no', 'rule_3']);
  });

  it('asks a rule about the tools and the kinds it names', () => {
    const rules: PermissionRule[] = [
      { id: 'files', decision: 'allow', kind: 'filesystem.*', tool: ['read_file', 'write_*'] },
      { id: 'net', decision: 'deny', kind: ['network.connect', 'mcp.connect'] },
      { id: 'pets', decision: 'ask', kind: 'custom.feed' },
    ];
    const path = { kind: 'filesystem.read', path: '/a' } as const;

    expect(ask({ rules }, { toolName: 'read_file' }, path).code).toBe('files');
    expect(ask({ rules }, { toolName: 'write_file' }, path).code).toBe('files');
    expect(ask({ rules }, { toolName: 'other' }, path).decision).toBe('no_opinion');
    expect(ask({ rules }, { toolName: 'read_file' }).decision).toBe('no_opinion');
    expect(ask({ rules }, {}, { kind: 'network.connect', host: 'a' }).code).toBe('net');
    expect(ask({ rules }, {}, { kind: 'custom.feed', cat: 'Tom' }).code).toBe('pets');
  });

  it('shows the reason that a rule gives', () => {
    const rules: PermissionRule[] = [
      { decision: 'deny', when: 'args.amount > 100', reason: 'amount must be 100 or less' },
    ];

    expect(ask({ rules }, { toolArgs: { amount: 500 } })).toEqual({
      decision: 'deny',
      reason: 'amount must be 100 or less',
      code: 'rule_1',
    });
  });

  it.each<[RuleDecision, string]>([
    ['allow', 'allow'],
    ['deny', 'deny'],
    ['ask', 'require_approval'],
  ])('falls back to %s where it is told to', (fallback, decision) => {
    expect(ask({ rules: [], fallback })).toEqual({
      decision,
      reason: 'no rule applies to this',
      code: 'no_rule',
    });
    expect(
      ask({ rules: [{ decision: 'deny', when: 'args.n == 1' }], fallback }, { toolArgs: { n: 2 } })
        .code,
    ).toBe('no_rule');
  });

  it('denies where a rule cannot be decided, whatever the rule and the others say', () => {
    for (const decision of ['allow', 'ask', 'deny'] as const) {
      const broken: PermissionRule = {
        id: 'broken',
        decision,
        when: 'args.path.startsWith("/work/")',
      };
      for (const others of [[], [{ decision: 'allow' as const }], [{ decision: 'ask' as const }]]) {
        const answer = ask(
          { rules: [...others, broken], fallback: 'allow' },
          { toolArgs: { path: ['s3cret'] } },
        );

        expect(answer).toMatchObject({ decision: 'deny', code: 'rule_error' });
        expect(answer.reason).toContain('it looks at args.path');
        expect(answer.reason).not.toContain('s3cret');
      }
    }
  });

  it('gives the reason of a rule that denies rather than that another is broken', () => {
    const rules: PermissionRule[] = [
      { decision: 'deny', when: 'args.gone' },
      { id: 'no', decision: 'deny', when: 'args.n == 1' },
    ];

    expect(ask({ rules }, { toolArgs: { n: 1 } }).code).toBe('no');
  });

  it('asks no rule that is about another tool, broken or not', () => {
    expect(
      decide([{ decision: 'deny', tool: 'other', when: 'args.gone' }, { decision: 'allow' }]),
    ).toBe('allow');
  });

  it('never shows a value of an argument', () => {
    const secret = 'hunter2-s3cret';
    const conditions = [
      'args.a == args.b',
      'int(args.a) > 3',
      'bool(args.a)',
      'args.a < 3',
      'args.a.x == 1',
      'args[args.a]',
      'args.a in args.b',
    ];
    for (const when of conditions) {
      for (const decision of ['allow', 'deny', 'ask'] as const) {
        expect(
          JSON.stringify(
            ask({ rules: [{ decision, when }] }, { toolArgs: { a: secret, b: secret } }),
          ),
        ).not.toContain(secret);
      }
    }
  });

  it('denies for a request whose fields are not JSON', async () => {
    const rules: PermissionRule[] = [{ decision: 'allow', when: 'request.x == 1' }];
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const hostile = {
      kind: 'custom.x',
      get x(): number {
        throw new Error('s3cret');
      },
    };
    for (const fields of [
      { x: () => 1 },
      { x: 10n },
      { x: Number.NaN },
      { x: cyclic },
      { x: new Map() },
      { x: Symbol('x') },
    ]) {
      const request = { ...makeRequest(), kind: 'custom.x', ...fields } as never; // What a careless tool proposes.
      expect((await evaluateCheckers([rulesPolicy({ rules })], request)).decision).toBe('deny');
    }
    const request = Object.create(
      makeRequest(),
      Object.getOwnPropertyDescriptors(hostile),
    ) as never; // As above.
    expect((await evaluateCheckers([rulesPolicy({ rules })], request)).decision).toBe('deny');
  });

  it('takes tools with the names that every object has for tools like any other', () => {
    for (const toolName of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(ask({ rules: [{ decision: 'allow', tool: 'echo' }] }, { toolName }).decision).toBe(
        'no_opinion',
      );
      expect(ask({ rules: [{ decision: 'deny', tool: toolName }] }, { toolName }).decision).toBe(
        'deny',
      );
    }
  });

  it('decides over 10 000 rules', () => {
    const rules = Array.from(
      { length: 10_000 },
      (_, n): PermissionRule => ({ decision: 'deny', tool: 'e*', when: `args.n == ${n}` }),
    );
    const policy = rulesPolicy({ rules });

    expect(policy.evaluate(makeRequest({ toolArgs: { n: 9_999 } }))).toMatchObject({
      decision: 'deny',
      code: 'rule_10000',
    });
    expect(policy.evaluate(makeRequest({ toolArgs: { n: -1 } }))).toMatchObject({
      decision: 'no_opinion',
    });
  });

  it('has a digest that changes with every part of a rule', () => {
    const rule: PermissionRule = {
      id: 'a',
      decision: 'allow',
      tool: 'x',
      kind: 'tool.call',
      when: 'args.a == 1',
      reason: 'r',
    };
    const changes: Partial<PermissionRule>[] = [
      { id: 'b' },
      { decision: 'ask' },
      { tool: 'y' },
      { kind: '*' },
      { when: 'true' },
      { reason: 's' },
    ];
    const digests = [{}, ...changes].map(
      (change) => rulesPolicy({ rules: [{ ...rule, ...change }] }).digest,
    );

    expect(
      new Set([...digests, rulesPolicy({ rules: [rule], fallback: 'deny' }).digest]).size,
    ).toBe(8);
    expect(rulesPolicy({ rules: [{ ...rule }] }).digest).toBe(digests[0]);
  });

  it('keeps the rules it was made of', () => {
    const rule: { decision: RuleDecision; tool: string[] } = { decision: 'deny', tool: ['echo'] };
    const rules: PermissionRule[] = [rule];
    const policy = rulesPolicy({ rules });
    rule.decision = 'allow';
    rule.tool.pop();
    rules.pop();

    expect(policy.evaluate(makeRequest())).toMatchObject({ decision: 'deny' });
  });

  it.each<[string, unknown]>([
    ['rules', {}],
    ['rules', { rules: 'allow' }],
    ['rules', { rules: [7] }],
    ['fallback', { rules: [], fallback: 'require_approval' }],
    ['fallbak', { rules: [], fallbak: 'deny' }],
    ['decision', { rules: [{}] }],
    ['decision', { rules: [{ decision: 'no_opinion' }] }],
    ['wen', { rules: [{ decision: 'deny', wen: 'true' }] }],
    ['tool', { rules: [{ decision: 'deny', tool: [] }] }],
    ['tool', { rules: [{ decision: 'deny', tool: [''] }] }],
    ['kind', { rules: [{ decision: 'deny', kind: 'filesytem.read' }] }],
    ['kind', { rules: [{ decision: 'deny', kind: 'custom.' }] }],
    ['when', { rules: [{ decision: 'deny', when: '' }] }],
    ['when', { rules: [{ decision: 'deny', when: true }] }],
    ['when', { rules: [{ id: 'mine', decision: 'deny', when: 'arg.path == 1' }] }],
    ['id', { rules: [{ id: 'Not Snake', decision: 'deny' }] }],
    ['id', { rules: [{ id: 'rule_error', decision: 'deny' }] }],
    [
      'id',
      {
        rules: [
          { id: 'a', decision: 'deny' },
          { id: 'a', decision: 'allow' },
        ],
      },
    ],
    ['id', { rules: [{ id: 'rule_2', decision: 'deny' }, { decision: 'allow' }] }],
  ])('refuses a wrong %s: %j', (option, options) => {
    const build = () => rulesPolicy(options as RulesPolicyOptions);

    expect(build).toThrow(`"${option}"`);
    try {
      build();
    } catch (error) {
      expect(isAlliumError(error, 'ERR_INVALID_OPTION')).toBe(true);
    }
  });

  it('names the rule whose condition it refuses, and what was meant', () => {
    expect(() =>
      rulesPolicy({ rules: [{ id: 'mine', decision: 'deny', when: 'arg.path == 1' }] }),
    ).toThrow(
      'rulesPolicy rule "mine": "when" must be a condition, got one that names "arg", which is not there; did you mean "args"?',
    );
    expect(() => rulesPolicy({ rules: [{ decision: 'deny', kind: 'filesytem.read' }] })).toThrow(
      /did you mean "filesystem.read"\?/,
    );
  });
});
