import { createHash } from 'node:crypto';
import { APPROVAL_ANSWERS, type ApprovalDecision } from '../../approvals/question.ts';
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composePolicies, evaluateCheckers, pathPolicy, rulesPolicy } from '../../policy/index.ts';
import { officialProblems, PAY, WAITING } from './acp.fixture.ts';
import { fromAcpResponse, toAcpPermission } from './ask-client.ts';
import {
  type AcpAsked,
  fromAcpPermission,
  permissionRequestsOf,
  toAcpResponse,
} from './asked-by-agent.ts';
import type { AcpPermissionOption } from './protocol.ts';

const option = (kind: ApprovalDecision, optionId: string = kind): AcpPermissionOption => ({
  optionId,
  name: kind,
  kind,
});
const OPTIONS = APPROVAL_ANSWERS.map((kind) => option(kind));
const PARAMS = {
  sessionId: 's-1',
  toolCall: {
    toolCallId: 'c-1',
    title: 'Edit a.ts',
    kind: 'edit',
    rawInput: { path: '/work/a.ts' },
    locations: [{ path: '/work/a.ts', line: 3 }],
  },
  options: OPTIONS,
};

/** What the fingerprint is the hash of: sorted, without blanks. */
const CANONICAL =
  '{"sessionId":"s-1","shown":{"args":{"path":"/work/a.ts"},"kind":"edit","locations":["/work/a.ts"],"title":"Edit a.ts","toolName":"acp_edit"},"toolCallId":"c-1"}';

function ask(params: unknown): AcpAsked {
  const { asked, problem } = fromAcpPermission(params, { createId: () => 'id-1' });
  if (asked === null) throw new Error(problem);
  return asked;
}

describe('fromAcpPermission', () => {
  it('puts what an agent asks for into the form of an approval', () => {
    expect(officialProblems('RequestPermissionRequest', PARAMS)).toEqual([]);
    expect(ask(PARAMS)).toEqual({
      ...{
        sessionId: 's-1',
        toolCallId: 'c-1',
        toolName: 'acp_edit',
        kind: 'edit',
        args: { path: '/work/a.ts' },
        locations: ['/work/a.ts'],
        options: OPTIONS,
      },
      interruption: {
        ...{ kind: 'approval_required', id: 'approval_id-1', options: APPROVAL_ANSWERS },
        shown: {
          toolName: 'acp_edit',
          kind: 'edit',
          args: { path: '/work/a.ts' },
          locations: ['/work/a.ts'],
          title: 'Edit a.ts',
        },
        fingerprint: `sha256:${createHash('sha256').update(CANONICAL).digest('hex')}`,
      },
    });
  });

  it('keeps input that is no object, and takes null for absent', () => {
    const input = (rawInput: unknown) =>
      ask({
        ...PARAMS,
        toolCall: {
          toolCallId: 'c',
          name: null,
          title: null,
          kind: null,
          content: null,
          locations: null,
          rawInput,
        },
      });

    expect(input('rm -rf /').args).toEqual({ rawInput: 'rm -rf /' });
    expect(input(['a']).args).toEqual({ rawInput: ['a'] });
    expect(input(false).args).toEqual({ rawInput: false });
    expect(input(null)).toMatchObject({
      args: {},
      toolName: 'acp_other',
      kind: 'other',
      locations: [],
    });
  });

  it('takes a kind nobody knows for other, and a name for the name', () => {
    const toolCall = { toolCallId: 'c', kind: '__proto__', name: 'bash' };

    expect(ask({ ...PARAMS, toolCall })).toMatchObject({ kind: 'other', toolName: 'bash' });
  });

  it('has another fingerprint for everything that makes it another call', () => {
    const call = (changes: object) => ({ ...PARAMS, toolCall: { ...PARAMS.toolCall, ...changes } });
    const content = [{ type: 'diff', path: '/work/a.ts', newText: 'x' }];
    const others = [
      PARAMS,
      { ...PARAMS, sessionId: 's-2' },
      call({ toolCallId: 'c-2' }),
      call({ rawInput: {} }),
      call({ kind: 'read' }),
      call({ name: 'x' }),
    ];
    const shown = [call({ title: 'Read' }), call({ locations: [] }), call({ content })];

    expect(
      new Set([...others, ...shown].map((each) => ask(each).interruption.fingerprint)).size,
    ).toBe(9);
    expect(ask({ ...PARAMS, _meta: { x: 1 } }).interruption.fingerprint).toBe(
      ask(PARAMS).interruption.fingerprint,
    );
  });

  it('offers only answers that can be given back', () => {
    const offered = (...options: readonly AcpPermissionOption[]) =>
      ask({ ...PARAMS, options }).interruption.options;

    expect(offered(option('allow_once'), option('reject_once'))).toEqual([
      'allow_once',
      'allow_always',
      'reject_once',
      'reject_always',
    ]);
    expect(offered(option('allow_always'))).toEqual(['allow_always']);
    expect(offered(option('reject_always'))).toEqual(['reject_always']);
  });

  it.each([
    ['no object', 7],
    ['nothing', undefined],
    ['no session', { ...PARAMS, sessionId: undefined }],
    ['an empty session', { ...PARAMS, sessionId: '' }],
    ['no call', { ...PARAMS, toolCall: undefined }],
    ['a call without an id', { ...PARAMS, toolCall: { title: 'x' } }],
    ['no options', { ...PARAMS, options: [] }],
    [
      'an option of no known kind',
      { ...PARAMS, options: [{ optionId: 'a', name: 'a', kind: 'allow' }] },
    ],
    ['an option without a name', { ...PARAMS, options: [{ optionId: 'a', kind: 'allow_once' }] }],
    [
      'one id for two options',
      { ...PARAMS, options: [option('reject_once', 'a'), option('allow_always', 'a')] },
    ],
    [
      'too many options',
      { ...PARAMS, options: Array.from({ length: 65 }, (_, at) => option('allow_once', `${at}`)) },
    ],
    ['a name that is none', { ...PARAMS, toolCall: { toolCallId: 'c', name: 'rm -rf\n' } }],
    [
      'locations that are none',
      { ...PARAMS, toolCall: { toolCallId: 'c', locations: ['/etc/passwd'] } },
    ],
    ['members of the prototype only', Object.create(PARAMS) as unknown],
    ['something huge', { ...PARAMS, _meta: { x: 'x'.repeat(2_000_000) } }],
    ['what is no JSON', { ...PARAMS, _meta: { x: 1n } }],
  ])('refuses %s, in words', (_name, params) => {
    const { asked, problem } = fromAcpPermission(params);

    expect(asked).toBeNull();
    expect(problem).toMatch(/\w/);
  });

  it('never throws, and repeats nothing that was sent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({ sessionId: fc.anything(), toolCall: fc.anything(), options: fc.anything() }),
        ),
        (params) => {
          expect(fromAcpPermission(params).asked).toBeNull();
        },
      ),
    );
    const { problem } = fromAcpPermission({
      sessionId: ['sk-secret'],
      toolCall: { toolCallId: 7, name: 'sk-secret\n' },
      options: 'sk-secret',
    });
    expect(problem).not.toContain('sk-secret');
  });
});

describe('permissionRequestsOf', () => {
  it.each([
    ['read', 'filesystem.read'],
    ['search', 'filesystem.list'],
    ['edit', 'filesystem.edit'],
    ['delete', 'filesystem.delete'],
    ['move', 'filesystem.delete'],
    ['execute', 'filesystem.edit'],
    [undefined, 'filesystem.edit'],
  ])('asks for the files of a tool of kind %s as %s', (kind, wanted) => {
    const toolCall = { toolCallId: 'c-1', kind, locations: [{ path: '/a' }, { path: '/b' }] };
    const [first, ...files] = permissionRequestsOf(ask({ ...PARAMS, toolCall }));

    expect(first).toMatchObject({
      kind: 'tool.call',
      callId: 'c-1',
      call: { toolArgs: {}, turn: { sessionId: 's-1' } },
    });
    expect(files).toMatchObject([
      { kind: wanted, path: '/a' },
      { kind: wanted, path: '/b' },
    ]);
  });

  it('can be judged by any policy', async () => {
    const rules = [
      { id: 'no_env', decision: 'deny', tool: 'acp_edit', when: 'args.path.endsWith(".env")' },
    ] as const;
    const policy = composePolicies(pathPolicy({ roots: ['/work'] }), rulesPolicy({ rules }));
    const judge = async (path: string) => {
      const requests = permissionRequestsOf(
        ask({
          ...PARAMS,
          toolCall: { ...PARAMS.toolCall, rawInput: { path }, locations: [{ path }] },
        }),
      );
      return Promise.all(
        requests.map(async (request) => (await evaluateCheckers([policy], request)).decision),
      );
    };

    expect(await judge('/work/a.ts')).toEqual(['no_opinion', 'allow']);
    expect(await judge('/etc/passwd')).toEqual(['no_opinion', 'deny']);
    expect(await judge('/work/.env')).toEqual(['deny', 'deny']);
  });
});

describe('toAcpResponse', () => {
  const answered = (
    options: readonly AcpPermissionOption[],
    decision: unknown,
    rest: object = {},
  ) => {
    // Hostile decisions are not of the type.
    const response: RequestPermissionResponse = toAcpResponse({ options }, {
      decision,
      ...rest,
    } as never);
    expect(officialProblems('RequestPermissionResponse', response)).toEqual([]);
    return response.outcome.outcome === 'selected'
      ? response.outcome.optionId
      : response.outcome.outcome;
  };

  it.each(APPROVAL_ANSWERS)('says %s with the option for it', (decision) => {
    expect(answered(OPTIONS, decision)).toBe(decision);
    expect(answered([...OPTIONS].reverse(), decision)).toBe(decision);
  });

  it('never says more than was answered', () => {
    expect(answered([option('allow_always'), option('reject_once')], 'allow_once')).toBe(
      'cancelled',
    );
    expect(answered([option('allow_once'), option('reject_once')], 'allow_always')).toBe(
      'allow_once',
    );
    expect(
      answered(
        [
          option('allow_always', 'file'),
          option('allow_always', 'everything'),
          option('allow_once'),
        ],
        'allow_always',
      ),
    ).toBe('allow_once');
    expect(
      answered(
        [option('allow_always', 'file'), option('allow_always', 'everything')],
        'allow_always',
      ),
    ).toBe('cancelled');
    expect(answered([option('allow_once', 'a'), option('allow_once', 'b')], 'allow_once')).toBe(
      'cancelled',
    );
    expect(answered([option('allow_once'), option('reject_once')], 'reject_always')).toBe(
      'reject_once',
    );
    expect(answered([option('allow_once'), option('reject_always')], 'reject_once')).toBe(
      'cancelled',
    );
    expect(answered([option('reject_once', 'a'), option('reject_once', 'b')], 'reject_once')).toBe(
      'a',
    );
  });

  it.each([
    undefined,
    null,
    'approved',
    'allow',
    'ALLOW_ONCE',
    '__proto__',
    true,
    ['allow_once'],
    {},
  ])('says cancelled for the decision %j', (decision) => {
    expect(answered(OPTIONS, decision)).toBe('cancelled');
  });

  it('says cancelled where nobody answered, and where other arguments were approved: the protocol cannot carry them', () => {
    expect(toAcpResponse(ask(PARAMS), null)).toEqual({ outcome: { outcome: 'cancelled' } });
    expect(toAcpResponse(null, { decision: 'allow_once' })).toEqual({
      outcome: { outcome: 'cancelled' },
    });
    expect(answered(OPTIONS, 'allow_once', { args: {} })).toBe('cancelled');
    expect(answered(OPTIONS, 'allow_always', { args: { path: '/b' } })).toBe('cancelled');
    expect(answered(OPTIONS, 'reject_once', { args: {} })).toBe('reject_once');
  });
});

describe('a question that goes out, comes in at another process and is answered there', () => {
  it('comes back as the answer, with what was shown', () => {
    const decisions = fc.subarray([...APPROVAL_ANSWERS], { minLength: 1 });

    fc.assert(
      fc.property(
        decisions,
        fc.constantFrom(...APPROVAL_ANSWERS),
        fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
        (options, decision, args) => {
          const request = toAcpPermission(
            { ...WAITING, options, shown: { args: args as never } },
            PAY,
          );
          const asked = ask(JSON.parse(JSON.stringify(request)));
          const back = fromAcpResponse(
            JSON.parse(JSON.stringify(toAcpResponse(asked, { decision }))),
            request,
          );

          expect(asked).toMatchObject({
            sessionId: 's-1',
            toolCallId: 'c-1',
            toolName: 'pay',
            kind: 'execute',
          });
          expect(asked.args).toEqual(JSON.parse(JSON.stringify(args)));
          if (options.includes(decision)) expect(back).toEqual({ decision });
          else expect([null, decision.replace('always', 'once')]).toContain(back?.decision ?? null);
        },
      ),
    );
  });
});
