import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, settle, testClock } from '../../conformance/index.ts';
import {
  type ApprovalPrompt,
  composeToolCallers,
  defineTool,
  type GovernOptions,
  governTools,
  type JsonObject,
  withCall,
} from '../../src/index.ts';
import { memoryApprovals, type PermissionChecker } from '../../src/policy/index.ts';
import { consent, redaction, requiredReason, scopedExecutor, timeout } from '../index.ts';
import { permissions, type PermissionsOptions } from './permissions.ts';

const schema = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
} as const;

/** A tool that says which file it is about to write, in a stack that decides about it. */
function writer(
  options: Partial<PermissionsOptions>,
  governing: Partial<GovernOptions> = {},
  propose?: () => readonly JsonObject[],
) {
  const written: unknown[] = [];
  const write = defineTool({
    name: 'write',
    description: 'Writes.',
    inputSchema: schema,
    proposedRequests: propose ?? (({ path }) => [{ kind: 'filesystem.write', path }]),
    execute: ({ path }) => void written.push(path),
  });
  const governed = governTools({
    tools: [write],
    layers: [permissions({ checkers: [], ...options })],
    ...governing,
  });
  const call = (path = '/work/a') => governed.call({ name: 'write', arguments: { path } });
  return { governed, call, written };
}

const on =
  (kind: string, decision: 'allow' | 'deny' | 'require_approval'): PermissionChecker =>
  (request) =>
    request.kind === kind ? decision : 'no_opinion';
const asking = on('filesystem.write', 'require_approval');
const ada: ApprovalPrompt = () => ({ decision: 'allow_once', decidedBy: 'ada' });

describe('permissions', () => {
  it('lets through what is allowed, and says who allowed it', async () => {
    const { call, written } = writer({ checkers: [on('filesystem.write', 'allow')] });
    const result = await call();

    expect(result).toMatchObject({
      status: 'ok',
      audit: { permissions: { decision: 'allow', requests: ['tool.call', 'filesystem.write'] } },
    });
    expect(written).toEqual(['/work/a']);
  });

  it('denies with what would pass, and blames itself', async () => {
    const { call, written } = writer({
      checkers: [() => ({ decision: 'deny', reason: 'only /tmp may be written', code: 'not_tmp' })],
    });
    const result = await call();

    expect(result).toMatchObject({
      status: 'permission_denied',
      executed: 'no',
      audit: { permissions: { decision: 'deny', code: 'not_tmp' } },
    });
    expect(result.error).toBe(
      'write is not allowed: only /tmp may be written. Change the call or leave it.',
    );
    expect(written).toEqual([]);
  });

  it('takes no opinion on a call itself for a yes, and on what it proposes for the fallback', async () => {
    const { call, written } = writer({});
    const silent = composeToolCallers([permissions({ checkers: [] })]);
    const result = await call();

    expect(result).toMatchObject({
      status: 'permission_denied',
      audit: { permissions: { code: 'no_opinion' } },
    });
    expect(await silent(makeCall(), echoExecutor())).toMatchObject({ status: 'ok' });
    expect(written).toEqual([]);
  });

  it.each([
    ['allow', 'ok'],
    ['deny', 'permission_denied'],
    ['ask', 'approval_required'],
    ['require_approval', 'approval_required'],
  ] as const)('fallback: %s ends as %s', async (fallback, status) => {
    expect((await writer({ fallback }).call()).status).toBe(status);
  });

  it('checkers: any deny counts before any ask, and any ask before any allow', async () => {
    const [yes, no, ask] = (['allow', 'deny', 'require_approval'] as const).map((decision) =>
      on('filesystem.write', decision),
    );
    const statuses = await Promise.all(
      [[yes, no, ask], [ask, yes], [yes]].map(
        async (checkers) =>
          (await writer({ checkers: checkers as PermissionChecker[] }).call()).status,
      ),
    );

    expect(statuses).toEqual(['permission_denied', 'approval_required', 'ok']);
  });

  it('checkers: asks each once, on the arguments the tool gets', async () => {
    const seen: unknown[] = [];
    const checker: PermissionChecker = ({ kind, call }) => {
      seen.push([kind, call.toolArgs]);
      return 'allow';
    };
    const layers = [permissions({ checkers: [checker] }), requiredReason()];
    const { governed } = writer({}, { layers });
    await governed.call({ name: 'write', arguments: { path: '/work/a', reason: 'asked to' } });

    expect(seen).toEqual([
      ['tool.call', { path: '/work/a' }],
      ['filesystem.write', { path: '/work/a' }],
    ]);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('canary'))],
    ['answers with nothing', () => undefined],
    ['answers with another word', () => 'yes'],
    ['answers with true', () => true],
  ])('denies when a checker %s', async (_title, checker) => {
    const { call, written } = writer({ checkers: [checker as never], fallback: 'allow' });
    const result = await call();

    expect(result).toMatchObject({
      status: 'permission_denied',
      audit: { permissions: { code: 'checker_failed' } },
    });
    expect(JSON.stringify(result)).not.toContain('canary');
    expect(written).toEqual([]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('canary');
      },
    ],
    ['answers with no list', () => 'x' as never],
    ['names a kind nobody knows', () => [{ kind: 'filesystem.format', path: '/' }]],
    ['misspells a field', () => [{ kind: 'filesystem.write', paht: '/' }]],
    ['adds a field nobody knows', () => [{ kind: 'filesystem.write', path: '/', force: true }]],
    ['moves to nowhere', () => [{ kind: 'filesystem.move', path: '/' }]],
    ['names neither a line nor arguments', () => [{ kind: 'process.command' }]],
    ['names both', () => [{ kind: 'process.command', command: 'ls', argv: ['rm'] }]],
  ] as [string, () => readonly JsonObject[]][])(
    'denies when a tool %s instead of saying what it does',
    async (_title, propose) => {
      const { call, written } = writer({ fallback: 'allow' }, {}, propose);
      const result = await call();

      expect(result).toMatchObject({
        ...{ status: 'permission_denied', executed: 'no' },
        audit: { permissions: { decision: 'deny', code: 'unreadable_proposals' } },
      });
      expect(JSON.stringify(result)).not.toContain('canary');
      expect(written).toEqual([]);
    },
  );

  it('goes by the strictest of several, each with its own fallback', async () => {
    const lenient = permissions({ checkers: [on('filesystem.write', 'allow')] });
    const strict = permissions({ checkers: [] });

    for (const layers of [
      [lenient, strict],
      [strict, lenient],
    ])
      expect((await writer({}, { layers }).call()).status).toBe('permission_denied');
  });

  it('sees the arguments that a layer below put in, and not those it took out', async () => {
    const checker: PermissionChecker = ({ call }) =>
      call.toolArgs.path === '/etc/shadow' ? 'deny' : 'allow';
    const { call, written } = writer(
      {},
      {
        layers: [
          permissions({ checkers: [checker] }),
          (made, next) => next(withCall(made, { toolArgs: { path: '/etc/shadow' } })),
        ],
      },
    );

    expect((await call()).status).toBe('permission_denied');
    expect(written).toEqual([]);
  });

  it('holds files to the folders of a scope, also where nobody laid down checkers', async () => {
    const layers = [scopedExecutor({ workspaceRoots: ['/work'] })];
    const { call, written } = writer({}, { layers });
    const results = [
      await call('/work/a'),
      await call('/work/../etc/a'),
      await call('relative'),
      await call('/workshop/a'),
    ];

    expect(results.map(({ status }) => status)).toEqual([
      'ok',
      'permission_denied',
      'permission_denied',
      'permission_denied',
    ]);
    expect(results[1]?.error).toContain('outside of /work');
    expect(written).toEqual(['/work/a']);
  });

  it('asks a person about what the tool is about to do, and records who approved', async () => {
    const shown: JsonObject[] = [];
    const prompt: ApprovalPrompt = (question) => {
      shown.push(question.shown);
      return { decision: 'allow_once', decidedBy: 'ada', reason: 'fine' };
    };
    const { call, written } = writer(
      { checkers: [() => ({ decision: 'no_opinion' }), asking] },
      { prompts: [prompt] },
    );
    const result = await call();

    expect(shown).toMatchObject([
      {
        toolName: 'write',
        args: { path: '/work/a' },
        requests: [{ kind: 'filesystem.write', path: '/work/a' }],
      },
    ]);
    expect(result).toMatchObject({
      status: 'ok',
      approval: { decision: 'approved', decidedBy: 'ada', reason: 'fine' },
    });
    expect(result.audit?.permissions).toMatchObject({
      decision: 'require_approval',
      approval: { decidedBy: 'ada' },
    });
    expect(written).toEqual(['/work/a']);
  });

  it('denies with the reason of the person who was asked', async () => {
    const { call, written } = writer(
      { checkers: [asking] },
      { prompts: [() => ({ decision: 'reject_once', reason: 'not there' })] },
    );
    const result = await call();

    expect(result).toMatchObject({
      status: 'consent_denied',
      executed: 'no',
      approval: { decision: 'denied' },
    });
    expect(result.error).toContain('not there');
    expect(written).toEqual([]);
  });

  it('runs with arguments a person edited, once they passed everything again', async () => {
    const checker: PermissionChecker = (request) =>
      request.kind === 'filesystem.write' && request.path.startsWith('/etc')
        ? 'deny'
        : request.kind === 'filesystem.write'
          ? 'require_approval'
          : 'no_opinion';
    const edits = (path: unknown) =>
      writer(
        { checkers: [checker] },
        { prompts: [() => ({ decision: 'allow_once', args: { path } as JsonObject })] },
      );
    const [fine, denied, misfit] = [edits('/work/b'), edits('/etc/passwd'), edits(7)];

    expect(await fine.call()).toMatchObject({
      status: 'ok',
      arguments: { path: '/work/b' },
      approval: { decision: 'approved' },
      audit: { permissions: { approval: { decision: 'approved' } } },
    });
    expect(fine.written).toEqual(['/work/b']);
    expect((await denied.call()).status).toBe('permission_denied');
    expect((await misfit.call()).status).toBe('schema_violation');
    expect([...denied.written, ...misfit.written]).toEqual([]);
  });

  it('lets an edit stand where consent had approved the call before', async () => {
    const layers = [
      consent(() => true),
      permissions({ checkers: [asking] }),
      redaction({ detectors: ['secrets'] }),
    ];
    const { call, written } = writer(
      {},
      { layers, prompts: [() => ({ decision: 'allow_once', args: { path: '/work/b' } })] },
    );

    expect((await call()).status).toBe('ok');
    expect(written).toEqual(['/work/b']);
  });

  it('answers with the result a person gives', async () => {
    const { call, written } = writer(
      { checkers: [asking] },
      { prompts: [() => ({ decision: 'allow_once', result: 'done by hand' })] },
    );

    expect(await call()).toMatchObject({
      status: 'ok',
      executed: 'no',
      result: 'done by hand',
      approval: { decision: 'approved' },
    });
    expect(written).toEqual([]);
  });

  it('waits where nobody can be asked, and goes on when somebody has decided', async () => {
    const { governed, call, written } = writer({ checkers: [asking] });
    const waiting = await call();
    const result = await governed.resume(waiting.interruption?.id ?? '', {
      decision: 'allow_once',
      decidedBy: 'ada',
    });

    expect(waiting).toMatchObject({
      status: 'approval_required',
      executed: 'no',
      interruption: { shown: { requests: [{ path: '/work/a' }] } },
    });
    expect(result).toMatchObject({ status: 'ok', approval: { decidedBy: 'ada' } });
    expect(written).toEqual(['/work/a']);
  });

  it('waits for somebody to sign in the same way', async () => {
    const auth: PermissionChecker = () => ({
      decision: 'require_approval',
      code: 'auth_required',
      reason: 'sign in at the bank',
    });
    const { governed, call, written } = writer({ checkers: [auth] });
    const waiting = await call();
    const result = await governed.resume(waiting.interruption?.id ?? '', {
      decision: 'allow_once',
      decidedBy: 'ada',
    });

    expect(waiting).toMatchObject({
      status: 'auth_required',
      interruption: { kind: 'auth_required' },
    });
    expect(result.status).toBe('ok');
    expect(written).toHaveLength(1);
  });

  it('does not take an approval that was given under other rules', async () => {
    const approvals = memoryApprovals();
    const policy = (digest: string): PermissionChecker => ({
      name: 'rules',
      digest,
      evaluate: () => 'require_approval',
    });
    const before = writer({ checkers: [policy('v1')] }, { approvals });
    const after = writer({ checkers: [policy('v2')] }, { approvals });
    const waiting = await before.governed.call(
      { name: 'write', arguments: { path: '/a' } },
      { turn: { sessionId: 's' } },
    );
    const result = await after.governed.resume(waiting.interruption?.id ?? '', {
      decision: 'allow_once',
    });

    expect(result).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(result.error).toContain('the rules have changed');
    expect(after.written).toEqual([]);
  });

  it('expiresMs: ends as consent_expired when nobody decides in time', async () => {
    const clock = testClock();
    const { call, written } = writer(
      { checkers: [asking], expiresMs: 1000 },
      { clock, prompts: [() => new Promise(() => {})] },
    );
    const calling = call();
    await clock.advance(1000);

    expect(await calling).toMatchObject({ status: 'consent_expired', executed: 'no' });
    expect(written).toEqual([]);
  });

  it('keeps the time a person takes off a timeout, and the tool’s own time on it', async () => {
    const clock = testClock();
    let answer = (_said: { decision: 'allow_once' }) => {};
    const thinking: ApprovalPrompt = () => new Promise((resolve) => void (answer = resolve));
    const layers = [timeout({ maxMs: 100, graceMs: 0 }), permissions({ checkers: [asking] })];
    const { call, written } = writer({}, { layers, clock, prompts: [thinking] });
    const calling = call();
    await clock.advance(5000);
    answer({ decision: 'allow_once' });

    expect((await calling).status).toBe('ok');
    expect(written).toHaveLength(1);
    const slow = defineTool({
      name: 'slow',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => new Promise(() => {}),
    });
    const governed = governTools({
      tools: [slow],
      layers: [layers[0] as never, permissions({ checkers: [() => 'require_approval'] })],
      clock,
      prompts: [thinking],
    });
    const stuck = governed.call({ name: 'slow', arguments: {} });
    await clock.advance(5000);
    answer({ decision: 'allow_once' });
    await settle();
    await clock.advance(100);
    expect(await stuck).toMatchObject({ status: 'timeout', executed: 'unknown' });
  });

  it('shadow: refuses nothing, and says what it would have refused', async () => {
    const told: unknown[] = [];
    const checkers = [() => ({ decision: 'deny', code: 'no_writes' }) as const];
    const { call, written } = writer({
      checkers,
      shadow: (report) => void told.push(report.shadow),
    });
    const result = await call();

    expect(result).toMatchObject({
      status: 'ok',
      audit: {
        permissions: { decision: 'allow', shadow: [{ decision: 'deny', code: 'no_writes' }, {}] },
      },
    });
    expect(told).toHaveLength(1);
    expect(written).toHaveLength(1);
  });

  it('shadow: leaves what others refuse refused', async () => {
    const layers = [
      permissions({ checkers: [() => 'deny'], shadow: true }),
      permissions({ checkers: [() => 'deny'] }),
    ];

    expect((await writer({}, { layers }).call()).status).toBe('permission_denied');
  });

  it('holds calls that the tool makes itself', async () => {
    const inner = defineTool({
      name: 'inner',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => 'ran',
    });
    const outer = defineTool({
      name: 'outer',
      description: '',
      inputSchema: { type: 'object' },
      execute: async (_args, { call }) => (await call({ name: 'inner', arguments: {} })).status,
    });
    const governed = governTools({
      tools: [inner, outer],
      layers: [
        permissions({ checkers: [({ toolName }) => (toolName === 'inner' ? 'deny' : 'allow')] }),
      ],
    });

    expect((await governed.call({ name: 'outer', arguments: {} })).result).toBe(
      'permission_denied',
    );
  });

  it('asks checkers and people once about a call that a tool makes', async () => {
    const seen: string[] = [];
    const asked: string[] = [];
    const inner = defineTool({
      name: 'inner',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => 'ran',
    });
    const outer = defineTool({
      name: 'outer',
      description: '',
      inputSchema: { type: 'object' },
      execute: async (_args, { call }) => (await call({ name: 'inner', arguments: {} })).status,
    });
    const checker: PermissionChecker = ({ toolName }) => (
      seen.push(toolName), toolName === 'inner' ? 'require_approval' : 'allow'
    );
    const prompts: ApprovalPrompt[] = [
      ({ toolName }) => (asked.push(toolName), { decision: 'allow_once' }),
    ];
    const governed = governTools({
      tools: [inner, outer],
      layers: [permissions({ checkers: [checker] })],
      prompts,
    });

    expect((await governed.call({ name: 'outer', arguments: {} })).result).toBe('ok');
    expect([seen, asked]).toEqual([['outer', 'inner'], ['inner']]);
  });

  it('is cancelled, not denied, when the caller leaves while a checker thinks', async () => {
    const controller = new AbortController();
    const slow: PermissionChecker = () => new Promise(() => {});
    const { governed, written } = writer({ checkers: [slow] });
    const calling = governed.call(
      { name: 'write', arguments: { path: '/a' } },
      { signal: controller.signal },
    );
    controller.abort();

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'no' });
    expect(written).toEqual([]);
  });

  it.each([
    ['thinks', () => new Promise(() => {})],
    ['gives up', () => Promise.reject(new Error('gone'))],
  ])(
    'is cancelled when the caller leaves while the tool %s about what it does',
    async (_title, propose) => {
      const controller = new AbortController();
      const asked = () => (controller.abort(), propose());
      const { governed, written } = writer({ fallback: 'allow' }, {}, asked as never);
      const calling = governed.call(
        { name: 'write', arguments: { path: '/a' } },
        { signal: controller.signal },
      );

      expect(await calling).toMatchObject({ status: 'cancelled', executed: 'no' });
      expect(written).toEqual([]);
    },
  );

  it('asks a person on one channel of several, and hears the first', async () => {
    const { call } = writer({ checkers: [asking] }, { prompts: [() => null, ada] });

    expect(await call()).toMatchObject({ status: 'ok', approval: { decidedBy: 'ada' } });
  });
});
