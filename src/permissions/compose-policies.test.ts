import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composePolicies } from './compose-policies.ts';
import { evaluateCheckers } from './evaluate.ts';
import { makeRequest } from './make-request.fixture.ts';
import {
  PERMISSION_DECISIONS,
  type PermissionChecker,
  type PermissionPolicy,
} from './permission.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const request = makeRequest();
const policy = (
  name: string,
  decision: (typeof PERMISSION_DECISIONS)[number],
  digest?: string,
): PermissionPolicy => ({
  name,
  evaluate: () => ({ decision, reason: `${name} says ${decision}`, code: name }),
  ...(digest === undefined ? {} : { digest }),
});

describe('composePolicies', () => {
  it('lets through what its members let through', async () => {
    expect(
      await composePolicies(policy('a', 'no_opinion'), policy('b', 'allow')).evaluate(request),
    ).toEqual({
      decision: 'allow',
      reason: 'b says allow',
      code: 'b',
    });
  });

  it('says together what its members say side by side, however they are grouped', async () => {
    const members = fc.array(fc.constantFrom(...PERMISSION_DECISIONS), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(members, fc.nat(6), async (decisions, cut) => {
        const list = decisions.map((decision, index) => policy(`p${index}`, decision));
        const grouped = composePolicies(
          composePolicies(list.slice(0, cut)),
          composePolicies(...list.slice(cut)),
        );
        const flat = (await evaluateCheckers(list, request)).decision;

        expect(await composePolicies(list).evaluate(request)).toMatchObject({ decision: flat });
        expect(await grouped.evaluate(request)).toMatchObject({ decision: flat });
      }),
      { numRuns: howMany(100, 300) },
    );
  });

  it('has no opinion without members', async () => {
    expect(await composePolicies().evaluate(request)).toEqual({ decision: 'no_opinion' });
    expect(await composePolicies([]).evaluate(request)).toEqual({ decision: 'no_opinion' });
  });

  it('denies for a member that fails', async () => {
    const broken: PermissionChecker = () => {
      throw new Error('s3cret');
    };
    const answer = await composePolicies(() => 'allow', broken).evaluate(request);

    expect(answer).toMatchObject({ decision: 'deny', code: 'checker_failed' });
    expect(JSON.stringify(answer)).not.toContain('s3cret');
  });

  it('has a digest that stands for its members and their order', () => {
    const [a, b] = [policy('a', 'allow', 'sha256:1'), policy('b', 'allow', 'sha256:2')];

    expect(composePolicies(a, b).digest).toBe(composePolicies([a, b]).digest);
    expect(composePolicies(a, b).digest).not.toBe(composePolicies(a).digest);
    expect(composePolicies(a, b).digest).not.toBe(
      composePolicies(a, { ...b, digest: 'sha256:3' }).digest,
    );
  });

  it('does not take a name for a digest', () => {
    expect(composePolicies(policy('sha256:1', 'allow')).digest).not.toBe(
      composePolicies(policy('x', 'allow', 'sha256:1')).digest,
    );
  });

  it('keeps the members it was made of', async () => {
    const members = [policy('a', 'deny')];
    const composed = composePolicies(members);
    members.pop();

    expect(await composed.evaluate(request)).toMatchObject({ decision: 'deny' });
  });

  it('refuses members that are no checkers', () => {
    for (const wrong of [null, 'allow', {}, { name: 'x' }, undefined, [[policy('a', 'allow')]]]) {
      expect(() => composePolicies(wrong as never)).toThrow(/composePolicies: "members"/);
    }
    expect(() => composePolicies({ ...policy('a', 'allow'), digest: 7 as never })).toThrow(
      /the digest of "a" must be a string/,
    );
  });
});
