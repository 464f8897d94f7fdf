import { describe, expect, it } from 'vitest';
import { permissions } from '../../middleware/index.ts';
import { type ApprovalPrompt, defineTool, governTools, isAlliumError } from '../index.ts';
import {
  type Approval,
  type ApprovalStore,
  createGrant,
  type Grant,
  type GrantRequest,
  type GrantStore,
  memoryApprovals,
  memoryGrants,
} from '../policy/index.ts';

/** A tool that always needs an approval, over stores of the test's own making. */
function paying({
  approvals,
  grants,
  prompts = [],
}: {
  approvals?: ApprovalStore;
  grants?: GrantStore;
  prompts?: ApprovalPrompt[];
}) {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: '',
    inputSchema: { type: 'object' },
    execute: (args) => void paid.push(args),
  });
  const governed = governTools({
    ...{ tools: [pay], layers: [permissions({ checkers: [() => 'require_approval'] })], prompts },
    ...(approvals === undefined ? {} : { approvals }),
    ...(grants === undefined ? {} : { grants, workspace: '/work' }),
  });
  const call = (signal?: AbortSignal) =>
    governed.call(
      { name: 'pay', arguments: { to: 'bob' } },
      { turn: { sessionId: 's' }, ...(signal === undefined ? {} : { signal }) },
    );
  return { governed, call, paid };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: unknown) => (isAlliumError(error) ? error.code : error),
  );
const never = () => new Promise<never>(() => {});

describe('a store of approvals that is somebody else’s', () => {
  const answering = (get: (approval: Approval) => unknown): ApprovalStore => {
    const kept = memoryApprovals();
    return {
      ...kept,
      get: (async (id: string) => get((await kept.get(id)) as Approval)) as ApprovalStore['get'],
    };
  };

  it.each<[string, (approval: Approval) => unknown]>([
    ['undefined', () => undefined],
    ['true', () => true],
    ['an empty object', () => ({})],
    ['the approval of another call', (approval) => ({ ...approval, id: 'another' })],
    ['half an approval', ({ policy: _policy, ...approval }) => approval],
    ['an approval with more', (approval) => ({ ...approval, approved: true })],
    ['an approval without arguments', (approval) => ({ ...approval, arguments: null })],
    ['other options', (approval) => ({ ...approval, options: ['yes'] })],
  ])('that answers with %s lets nothing run', async (_title, get) => {
    const { governed, call, paid } = paying({ approvals: answering(get) });
    const waiting = await call();

    expect(
      await codeOf(governed.resume(waiting.interruption?.id ?? '', { decision: 'allow_once' })),
    ).toBe('ERR_APPROVALS_UNAVAILABLE');
    expect(paid).toEqual([]);
  });

  it('that answers with the approval lets the call run', async () => {
    const { governed, call, paid } = paying({
      approvals: answering((approval) => ({ ...approval })),
    });
    const waiting = await call();

    expect(
      (await governed.resume(waiting.interruption?.id ?? '', { decision: 'allow_once' })).status,
    ).toBe('ok');
    expect(paid).toHaveLength(1);
  });

  it('that never answers holds nobody who has gone', async () => {
    const controller = new AbortController();
    const calling = paying({ approvals: { ...memoryApprovals(), add: never } }).call(
      controller.signal,
    );
    const kept = memoryApprovals();
    const { governed, call, paid } = paying({ approvals: { ...kept, get: never } });
    const { interruption } = await call();
    const resuming = governed.resume(
      interruption?.id ?? '',
      { decision: 'allow_once' },
      { signal: controller.signal },
    );
    controller.abort();

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'no' });
    expect(await codeOf(resuming)).toBe('ERR_APPROVALS_UNAVAILABLE');
    expect(paid).toEqual([]);
  });
});

describe('a store of grants that is somebody else’s', () => {
  const grantFor: Omit<GrantRequest, 'args'> = {
    ...{
      decision: 'allow',
      scope: 'session',
      toolName: 'pay',
      definition: 'd',
      sessionId: 's',
      workspace: '/work',
    },
    ...{ grantedBy: 'ada', shown: 'pay', ttlMs: 1000 },
  };
  const given = (found: (grant: Grant) => unknown) => {
    const kept = memoryGrants();
    const store: GrantStore = {
      ...kept,
      use: (async (query) => {
        const grant = await kept.use(query);
        return grant === null ? null : found(grant);
      }) as GrantStore['use'],
    };
    let answers = 0;
    const prompts: ApprovalPrompt[] = [
      () => ((answers += 1) === 1 ? { decision: 'allow_always', decidedBy: 'ada' } : null),
    ];
    return paying({ grants: store, prompts });
  };

  it.each<[string, (grant: Grant) => unknown]>([
    ['true', () => true],
    ['"allow"', () => 'allow'],
    ['no more than a decision', () => ({ decision: 'allow' })],
    ['a grant for another tool', (grant) => ({ ...grant, toolName: 'read' })],
    ['a grant of another session', (grant) => ({ ...grant, sessionId: 'other' })],
    ['a grant for another definition', (grant) => ({ ...grant, definition: 'sha256:0' })],
    ['a grant for another folder', (grant) => ({ ...grant, workspace: '/' })],
    ['a revoked grant', (grant) => ({ ...grant, revoked: { by: 'eve', at: grant.grantedAt } })],
    ['a grant of which no use was taken', (grant) => ({ ...grant, uses: 0 })],
    [
      'a grant for other arguments',
      (grant) => ({ ...grant, pattern: createGrant({ ...grantFor, args: { to: 'eve' } }).pattern }),
    ],
    [
      'a grant that has expired',
      (grant) => ({
        ...grant,
        grantedAt: '2020-01-01T00:00:00.000Z',
        expiresAt: '2020-01-02T00:00:00.000Z',
      }),
    ],
  ])('that finds %s allows nothing', async (_title, found) => {
    const { call, paid } = given(found);

    expect((await call()).status).toBe('ok');
    expect((await call()).status).toBe('approval_required');
    expect(paid).toHaveLength(1);
  });

  it.each<[string, (grant: Grant) => unknown]>([
    ['the grant', (grant) => ({ ...grant })],
    [
      'a grant that was used for the last time',
      (grant) => ({ ...grant, uses: 1, maxUses: 1, pattern: null, shown: null }),
    ],
  ])('that finds %s allows', async (_title, found) => {
    const { call, paid } = given(found);
    await call();

    expect((await call()).status).toBe('ok');
    expect(paid).toHaveLength(2);
  });

  it('is asked again where it holds nothing', async () => {
    expect((await paying({ grants: memoryGrants() }).call()).status).toBe('approval_required');
  });
});
