import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateCheckers, expectedChecker } from './evaluate.ts';
import { makeRequest } from './make-request.fixture.ts';
import {
  PERMISSION_DECISIONS,
  type PermissionChecker,
  type PermissionDecision,
} from './permission.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const request = makeRequest();
/** Hands in what the types forbid. */
const checker = (answer: unknown): PermissionChecker =>
  (() => answer) as unknown as PermissionChecker;
const decide = async (...answers: readonly unknown[]) =>
  (await evaluateCheckers(answers.map(checker), request)).decision;

const STRENGTH: readonly PermissionDecision[] = ['no_opinion', 'allow', 'require_approval', 'deny'];

describe('evaluateCheckers', () => {
  it('says what the only checker says', async () => {
    for (const decision of PERMISSION_DECISIONS) expect(await decide(decision)).toBe(decision);
    for (const decision of PERMISSION_DECISIONS) expect(await decide({ decision })).toBe(decision);
    for (const decision of PERMISSION_DECISIONS)
      expect(await decide(Promise.resolve({ decision }))).toBe(decision);
  });

  it('has no opinion where nobody has one, and leaves the fallback to the caller', async () => {
    expect(await evaluateCheckers([], request)).toEqual({
      decision: 'no_opinion',
      by: null,
      answers: [],
    });
    expect(await decide('no_opinion', 'no_opinion')).toBe('no_opinion');
  });

  it('takes the strongest answer, in whatever order they come', async () => {
    const answers = fc.array(fc.constantFrom(...PERMISSION_DECISIONS), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(answers, async (given) => {
        const strongest = STRENGTH[Math.max(0, ...given.map((answer) => STRENGTH.indexOf(answer)))];

        expect(await decide(...given)).toBe(strongest);
        expect(await decide(...given.toReversed())).toBe(strongest);
      }),
      { numRuns: howMany(125, 500) },
    );
  });

  it('names who decided, with the reason and the code, and keeps every answer', async () => {
    const verdict = await evaluateCheckers(
      [
        { name: 'first', evaluate: () => 'allow' },
        { name: 'second', evaluate: () => ({ decision: 'deny', reason: 'why', code: 'no_way' }) },
        () => 'deny',
      ],
      request,
    );

    expect(verdict).toEqual({
      decision: 'deny',
      reason: 'why',
      code: 'no_way',
      by: 'second',
      answers: [
        { by: 'first', decision: 'allow' },
        { by: 'second', decision: 'deny', reason: 'why', code: 'no_way' },
        { by: 'checker 3', decision: 'deny' },
      ],
    });
  });

  it('passes on what somebody without an opinion says would give them one', async () => {
    const verdict = await evaluateCheckers(
      [checker('no_opinion'), checker({ decision: 'no_opinion', reason: 'a hint' })],
      request,
    );

    expect(verdict).toMatchObject({ decision: 'no_opinion', reason: 'a hint', by: null });
  });

  it('asks every checker once, with the request', async () => {
    const seen: unknown[] = [];
    const note: PermissionChecker = (given) => {
      seen.push(given);
      return 'deny';
    };
    await evaluateCheckers([note, note], request);

    expect(seen).toEqual([request, request]);
    expect(seen[0]).toBe(request);
  });

  it('calls a policy as a method of its own', async () => {
    const policy = {
      name: 'own',
      decision: 'allow' as const,
      evaluate() {
        return this.decision;
      },
    };

    expect((await evaluateCheckers([policy], request)).decision).toBe('allow');
  });

  it('denies for a checker that throws or rejects, and shows nobody but the host what it threw', async () => {
    const error = new Error('token s3cret');
    const broken: readonly PermissionChecker[] = [
      () => {
        throw error;
      },
      () => Promise.reject(error),
      {
        name: 'getter',
        get evaluate(): () => 'allow' {
          throw error;
        },
      },
    ];
    for (const each of broken) {
      const { answers, ...said } = await evaluateCheckers([() => 'allow', each], request);

      expect(said).toMatchObject({ decision: 'deny', code: 'checker_failed' });
      expect(JSON.stringify(said)).not.toContain('s3cret');
      expect(answers[1]?.failure).toBe('token s3cret');
    }
  });

  it('denies for every answer that is no verdict', async () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const strange = [
      undefined,
      null,
      true,
      1,
      '',
      'ALLOW',
      'ask',
      'approved',
      [],
      ['allow'],
      {},
      { decision: 'yes' },
      { decision: ['allow'] },
    ];
    const more = [
      Symbol('allow'),
      () => 'allow',
      { allow: true },
      { decision: 'allow', reason: 7 },
      { decision: 'allow', code: null },
    ];
    const objects = [
      revoked.proxy,
      new String('allow'),
      { decision: new String('allow') },
      { decision: 'toString' },
      Number.NaN,
      0n,
    ];
    for (const answer of [...strange, ...more, ...objects])
      expect(await decide('allow', answer)).toBe('deny');
  });

  it('reads an answer once, so that a getter cannot say one thing and then another', async () => {
    let reads = 0;
    const shifty = {
      get decision() {
        reads += 1;
        return reads === 1 ? 'deny' : 'allow';
      },
    };

    expect(await decide(shifty)).toBe('deny');
    expect(reads).toBe(1);
    expect(
      await decide(
        new Proxy(
          { decision: 'deny' },
          { get: (_, key) => (key === 'decision' ? 'require_approval' : undefined) },
        ),
      ),
    ).toBe('require_approval');
  });

  it('makes one line of a reason that would forge others', async () => {
    const { reason } = await evaluateCheckers(
      [checker({ decision: 'deny', reason: `a\n\u001b[2Jb${'c'.repeat(9000)}` })],
      request,
    );

    expect(reason).toMatch(/^a \[2Jbc+…$/);
    expect(reason?.length).toBeLessThan(600);
  });

  it('denies without asking anybody when the signal has aborted', async () => {
    let asked = 0;
    const count: PermissionChecker = () => {
      asked += 1;
      return 'allow';
    };

    expect(await evaluateCheckers([count], request, { signal: AbortSignal.abort() })).toMatchObject(
      {
        decision: 'deny',
        code: 'cancelled',
      },
    );
    expect(asked).toBe(0);
  });

  it('denies when the signal aborts before everybody has answered, and lets go of it', async () => {
    const controller = new AbortController();
    const pending = evaluateCheckers([() => 'allow', () => new Promise(() => {})], request, {
      signal: controller.signal,
    });
    controller.abort();

    expect(await pending).toMatchObject({ decision: 'deny', code: 'cancelled' });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('denies when the last answer aborts the signal itself', async () => {
    const controller = new AbortController();
    const late: PermissionChecker = () => {
      controller.abort();
      return 'allow';
    };

    expect(await evaluateCheckers([late], request, { signal: controller.signal })).toMatchObject({
      decision: 'deny',
      code: 'cancelled',
    });
  });

  it('leaves no listener on a signal that never aborts', async () => {
    const { signal } = new AbortController();

    expect(await evaluateCheckers([() => 'allow'], request, { signal })).toMatchObject({
      decision: 'allow',
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('answers with what cannot be changed', async () => {
    const verdict = await evaluateCheckers([() => 'allow'], request);

    expect([verdict, verdict.answers, verdict.answers[0]].every(Object.isFrozen)).toBe(true);
  });
});

describe('expectedChecker', () => {
  it('takes functions and policies, and nothing else', () => {
    const policy = { name: 'p', evaluate: () => 'allow' };
    const wrong = [
      null,
      undefined,
      'allow',
      {},
      { name: 'p' },
      { evaluate: policy.evaluate },
      { ...policy, name: '' },
      [policy],
      7,
    ];

    expect([() => 'allow', policy].every(expectedChecker.test)).toBe(true);
    expect(wrong.some(expectedChecker.test)).toBe(false);
  });
});
