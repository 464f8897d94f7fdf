import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCall } from '../../conformance/index.ts';
import { narrowPolicy } from '../policy/ambient-policy.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { findingOf, type PermissionSet } from './finding.ts';
import type {
  PermissionChecker,
  PermissionDecision,
  PermissionRequest,
  ProposedRequest,
} from './permission.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const call = makeCall();
const of = (proposed: ProposedRequest, made: ToolCall = call): PermissionRequest =>
  ({ ...proposed, toolName: made.toolName, callId: made.callId, call: made }) as PermissionRequest; // A custom kind's fields are JSON, and a call is none.
const itself = of({ kind: 'tool.call' });
const write = of({ kind: 'filesystem.write', path: '/work/a' });
const says =
  (decision: PermissionDecision, on?: string): PermissionChecker =>
  ({ kind }) =>
    on === undefined || on === kind ? decision : 'no_opinion';
const set = (
  checkers: readonly PermissionChecker[],
  more: Partial<PermissionSet> = {},
): PermissionSet => ({
  ...{ owner: 'permissions', checkers, fallback: 'deny', shadow: false },
  ...more,
});
const decide = async (requests: readonly PermissionRequest[], ...sets: readonly PermissionSet[]) =>
  findingOf(call, requests, sets);

describe('what checkers together find', () => {
  it('is allow where nobody is asked', async () => {
    expect(await decide([itself, write])).toEqual({
      decision: 'allow',
      by: null,
      owner: '',
      kind: 'tool.call',
      shadow: [],
    });
  });

  it('names who allowed first', async () => {
    const named: PermissionChecker = {
      name: 'rules',
      evaluate: () => ({ decision: 'allow', code: 'r1' }),
    };

    expect(await decide([itself, write], set([named]))).toMatchObject({
      decision: 'allow',
      by: 'rules',
      code: 'r1',
    });
  });

  it.each<[string, readonly PermissionSet[], string]>([
    ['an allow where nobody has an opinion on the call', [set([], { fallback: 'allow' })], 'allow'],
    ['the fallback for what is proposed', [set([])], 'deny'],
    [
      'the fallback, though the call itself was allowed',
      [set([says('allow', 'tool.call')])],
      'deny',
    ],
    [
      'an ask before an allow',
      [set([says('allow'), says('require_approval')])],
      'require_approval',
    ],
    ['a deny before an ask', [set([says('require_approval'), says('deny')])], 'deny'],
    [
      'a deny of a later request before an ask of an earlier',
      [set([says('require_approval', 'tool.call')])],
      'deny',
    ],
    [
      'the stricter of two sets',
      [set([says('allow')]), set([says('require_approval')])],
      'require_approval',
    ],
    [
      'the stricter of two sets, the other way round',
      [set([says('require_approval')]), set([says('allow')])],
      'require_approval',
    ],
    ['each fallback by itself', [set([says('allow')]), set([])], 'deny'],
    [
      'no fallback of one set for the other',
      [set([says('allow')]), set([], { fallback: 'allow' })],
      'allow',
    ],
    ['a shadow’s deny as nothing', [set([says('deny')], { shadow: true })], 'allow'],
    ['a shadow’s allow as nothing more', [set([says('allow')], { shadow: true }), set([])], 'deny'],
    [
      'a checker that fails as a deny',
      [set([() => Promise.reject(new Error('no'))], { fallback: 'allow' })],
      'deny',
    ],
  ])('is %s', async (_title, sets, decision) => {
    expect((await decide([itself, write], ...sets)).decision).toBe(decision);
  });

  it('keeps of a shadow what would have been refused and asked, and nothing it allowed', async () => {
    const shadow = set([says('deny', 'tool.call'), says('require_approval', 'filesystem.write')], {
      shadow: true,
      owner: 'trial',
    });

    expect((await decide([itself, write], shadow, set([says('allow')]))).shadow).toEqual([
      { owner: 'trial', by: 'checker 1', decision: 'deny' },
      { owner: 'trial', by: 'checker 2', decision: 'require_approval' },
    ]);
  });

  it('asks nobody about what is refused anyway', async () => {
    const asked: string[] = [];
    const counting: PermissionChecker = ({ kind }) => (asked.push(kind), 'deny');
    await decide([itself, write], set([counting]), set([counting]));

    expect(asked).toEqual(['tool.call']);
  });

  it('passes on what would give an opinion where it falls back', async () => {
    const hint: PermissionChecker = () => ({ decision: 'no_opinion', reason: 'only /tmp' });

    expect(await decide([itself, write], set([hint]))).toMatchObject({
      code: 'no_opinion',
      reason: 'only /tmp',
    });
    expect(await decide([itself, write], set([]))).toMatchObject({
      reason: 'nothing here allows filesystem.write',
    });
  });

  it.each([
    ['/work/a', 'allow'],
    ['/work/../etc/a', 'deny'],
    ['/workshop/a', 'deny'],
    ['a', 'deny'],
  ])('holds the file %s to the folders of the call: %s', async (path, decision) => {
    const held = narrowPolicy(call, { workspaceRoots: ['/work'] }, 'scope');
    const found = await findingOf(held, [of({ kind: 'filesystem.read', path }, held)], []);

    expect(found.decision).toBe(decision);
    expect(found.code).toBe(decision === 'deny' ? 'path_outside' : undefined);
  });

  it('holds where a file is moved to as well', async () => {
    const held = narrowPolicy(call, { workspaceRoots: ['/work'] }, 'scope');
    const move = of({ kind: 'filesystem.move', path: '/work/a', to: '/etc/a' }, held);

    expect((await findingOf(held, [move], [set([says('allow')])])).decision).toBe('deny');
  });
});

const RANK = { allow: 0, require_approval: 1, deny: 2 } as const;
const checkers = fc.array(
  fc.tuple(
    fc.constantFrom<PermissionDecision>('allow', 'deny', 'require_approval', 'no_opinion'),
    fc.constantFrom(undefined, 'tool.call', 'filesystem.write', 'custom.x'),
  ),
  { maxLength: 4 },
);
const sets = fc.array(
  fc
    .record({
      checkers,
      fallback: fc.constantFrom('allow', 'deny', 'require_approval'),
      shadow: fc.boolean(),
    })
    .map(
      ({ checkers: said, fallback, shadow }): PermissionSet =>
        set(
          said.map(([decision, on]) => says(decision, on)),
          { fallback, shadow },
        ),
    ),
  { maxLength: 4 },
);
const requests = fc.subarray([
  write,
  of({ kind: 'custom.x' }),
  of({ kind: 'payment', amount: 1, currency: 'EUR' }),
]);

describe('one more set', () => {
  it('never widens what the others found, wherever it stands', async () => {
    await fc.assert(
      fc.asyncProperty(requests, sets, sets, sets, async (proposed, before, added, after) => {
        const asked = [itself, ...proposed];
        const [without, withAll] = [
          await decide(asked, ...before, ...after),
          await decide(asked, ...before, ...added, ...after),
        ];

        expect(RANK[withAll.decision]).toBeGreaterThanOrEqual(RANK[without.decision]);
      }),
      { numRuns: howMany(500, 2_000) },
    );
  });

  it('would widen where the last set had the word, and the property sees it', async () => {
    const lastWord = async (all: readonly PermissionSet[]) => {
      const found = await Promise.all(
        all.filter(({ shadow }) => !shadow).map((one) => decide([itself, write], one)),
      );
      return found.at(-1)?.decision ?? 'allow';
    };
    const widening = fc.check(
      fc.asyncProperty(
        sets,
        sets,
        async (before, added) =>
          RANK[await lastWord([...before, ...added])] >= RANK[await lastWord(before)],
      ),
      { numRuns: howMany(500, 2_000) },
    );

    expect((await widening).failed).toBe(true);
  });
});
