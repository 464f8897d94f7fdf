import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Gate } from '../core/onion/pass.ts';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { permissions, type PermissionsOptions, scopedExecutor } from '../../middleware/index.ts';
import {
  type ApprovalPrompt,
  composeToolCallers,
  defineTool,
  governTools,
  type JsonObject,
  type ToolCaller,
  type ToolLayer,
} from '../index.ts';
import { gateCall } from '../layer.ts';
import type { PermissionChecker, PermissionDecision } from '../policy/index.ts';
import { permissionGate, permissionReportOf } from './preflight.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } } as const;

/** Runs one call of a tool that proposes what it is told to, and says whether it ran. */
async function through(
  layers: readonly (ToolLayer | ToolCaller)[],
  prompts: readonly ApprovalPrompt[] = [],
  proposals: readonly JsonObject[] = [{ kind: 'filesystem.write', path: '/work/a' }],
) {
  let ran = 0;
  const tool = defineTool({
    ...{ name: 'act', description: '', inputSchema: schema, proposedRequests: () => proposals },
    execute: () => void (ran += 1),
  });
  const governed = governTools({ tools: [tool], layers, prompts });
  const result = await governed.call({ name: 'act', arguments: {} });
  return { ...{ result, status: result.status, ran } };
}

const says =
  (decision: PermissionDecision, on?: string): PermissionChecker =>
  ({ kind }) =>
    on === undefined || on === kind ? decision : 'no_opinion';

describe('the permission check of a call', () => {
  it('is made once for all layers, right before the tool', async () => {
    const order: string[] = [];
    const checker: PermissionChecker = ({ kind }) => (order.push(kind), 'allow');
    const below: ToolCaller = (call, next) => (order.push('below'), next(call));
    await through([
      permissions({ checkers: [checker] }),
      permissions({ checkers: [], fallback: 'allow' }),
      below,
    ]);

    expect(order).toEqual(['below', 'tool.call', 'filesystem.write']);
  });

  it('is reported to every layer that laid down checkers, and to nobody where none was made', async () => {
    const call = makeCall();
    const { result } = await through([permissions({ checkers: [says('allow')] })]);

    expect(result.audit?.permissions).toMatchObject({
      decision: 'allow',
      requests: ['tool.call', 'filesystem.write'],
    });
    expect(permissionReportOf(call)).toBeUndefined();
  });

  it('is made without a dispatcher, on the call alone', async () => {
    const executor = echoExecutor();
    const stack = composeToolCallers([permissions({ checkers: [says('deny')] })]);

    expect((await stack(makeCall(), executor)).status).toBe('permission_denied');
    expect(executor.calls).toEqual([]);
  });

  it('asks each set once, however many gates there are', async () => {
    let asked = 0;
    const set = {
      owner: 'permissions',
      checkers: [() => ((asked += 1), 'allow' as const)],
      fallback: 'deny',
      shadow: false,
    } as const;
    const [first, second] = [permissionGate(set), permissionGate(set)];
    const stack = composeToolCallers([
      (call, next) => next(gateCall(gateCall(call, first), second)),
    ]);

    expect((await stack(makeCall(), echoExecutor())).status).toBe('ok');
    expect(asked).toBe(2);
  });

  it('goes by the shortest time that any of them gives to approve', async () => {
    const shown: unknown[] = [];
    const prompt: ApprovalPrompt = ({ expiresAt }) => (
      shown.push(expiresAt !== undefined), { decision: 'allow_once' }
    );
    const ask = { checkers: [says('require_approval')] };
    await through([permissions({ ...ask, expiresMs: 60_000 }), permissions(ask)], [prompt]);
    await through([permissions(ask), permissions(ask)], [prompt]);

    expect(shown).toEqual([true, false]);
  });

  it('asks a person once where several want to ask', async () => {
    let asked = 0;
    const ask = permissions({ checkers: [says('require_approval')] });
    const other = permissions({ checkers: [], fallback: 'ask' });
    const { status, ran } = await through(
      [ask, other],
      [() => ((asked += 1), { decision: 'allow_once' })],
    );

    expect([status, ran, asked]).toEqual(['ok', 1, 1]);
  });

  it.each<[string, PermissionChecker]>([
    [
      'throws',
      {
        name: 'rules',
        evaluate: () => 'require_approval',
        get digest(): string {
          throw new Error('canary');
        },
      },
    ],
    [
      'is no text',
      { name: 'rules', evaluate: () => 'require_approval', digest: 7n as unknown as string },
    ],
  ])('denies where the digest of the rules %s', async (_title, checker) => {
    const { status, ran, result } = await through(
      [permissions({ checkers: [checker] })],
      [() => ({ decision: 'allow_once' })],
    );

    expect([status, ran]).toEqual(['permission_denied', 0]);
    expect(JSON.stringify(result)).not.toContain('canary');
  });
});

const options = fc.record({
  checkers: fc.array(
    fc
      .tuple(
        fc.constantFrom<PermissionDecision>('allow', 'deny', 'require_approval', 'no_opinion'),
        fc.constantFrom(undefined, 'tool.call', 'filesystem.write', 'custom.x'),
      )
      .map(([decision, on]) => says(decision, on)),
    { maxLength: 3 },
  ),
  fallback: fc.constantFrom('allow', 'deny', 'ask', 'require_approval'),
  shadow: fc.boolean(),
}) satisfies fc.Arbitrary<PermissionsOptions>;
const stacks = fc.array(options, { maxLength: 2 });
const prompts = fc.constantFrom<readonly ApprovalPrompt[]>(
  [],
  [() => null],
  [() => ({ decision: 'allow_once' })],
  [() => ({ decision: 'reject_once' })],
  [() => ({ decision: 'allow_once', args: { path: '/work/b' } })],
);
const proposals = fc.subarray<JsonObject>([
  { kind: 'filesystem.write', path: '/work/a' },
  { kind: 'custom.x' },
  { kind: 'nonsense' },
]);
const scopes = fc.constantFrom([], [scopedExecutor({ workspaceRoots: ['/elsewhere'] })]);

describe('one more permissions layer', () => {
  it('never makes a tool run that did not run without it', async () => {
    await fc.assert(
      fc.asyncProperty(
        scopes,
        stacks,
        options,
        stacks,
        prompts,
        proposals,
        async (scope, before, added, after, people, proposed) => {
          const stack = (all: readonly PermissionsOptions[]) => [...scope, ...all.map(permissions)];
          const without = await through(stack([...before, ...after]), people, proposed);
          const withIt = await through(stack([...before, added, ...after]), people, proposed);

          expect(withIt.ran).toBeLessThanOrEqual(without.ran);
        },
      ),
      { numRuns: howMany(400, 2000) },
    );
  });

  it('would do so where an allow overrode, and the property sees it', () => {
    const allowOverrides = (all: readonly PermissionsOptions[]): boolean => {
      const said = all.flatMap(({ checkers }) =>
        checkers.map((checker) => (checker as (request: object) => string)({ kind: 'tool.call' })),
      );
      return said.includes('allow') || !said.includes('deny');
    };
    const widening = fc.check(
      fc.property(
        stacks,
        options,
        (before, added) =>
          Number(allowOverrides([...before, added])) <= Number(allowOverrides(before)),
      ),
      { numRuns: howMany(400, 2000) },
    );

    expect(widening.failed).toBe(true);
  });
});

describe('a gate of somebody else', () => {
  it('is asked beside the check and changes nothing about it', async () => {
    const theirs: Gate = async () => null;
    const layer: ToolCaller = (call, next) => next(gateCall(call, theirs));

    expect((await through([layer, permissions({ checkers: [says('deny')] })])).status).toBe(
      'permission_denied',
    );
    expect((await through([layer, permissions({ checkers: [says('allow')] })])).status).toBe('ok');
  });
});
