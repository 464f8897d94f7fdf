import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SIDE_EFFECT_LEVELS } from '../core/contract/annotations.ts';
import {
  allows,
  type CapabilityPolicy,
  checkPolicy,
  intersectPolicies,
  type PolicyQuestion,
} from './capability-policy.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const NAMES = ['read', 'write', '__proto__', 'constructor', 'toString', 'Read', 'read ', '*'];
const names = fc.subarray(NAMES);
const name = fc.constantFrom(...NAMES);
const level = fc.constantFrom(...SIDE_EFFECT_LEVELS);
const record = fc
  .uniqueArray(fc.tuple(name, names), { selector: ([key]) => key })
  .map((entries) => Object.fromEntries(entries));
const depth = fc.integer({ min: 0, max: 4 });

/** Every member may be absent, empty, or say something. */
const policies: fc.Arbitrary<CapabilityPolicy> = fc.record(
  {
    tools: names.map((list) => [...list].reverse()),
    capabilities: record,
    sideEffectLevel: level,
    recursionLimit: depth,
  },
  { requiredKeys: [] },
);
const questions: fc.Arbitrary<PolicyQuestion> = fc.record(
  { toolName: name, sideEffectLevel: level, capability: name, operation: name, depth },
  { requiredKeys: [] },
);

const cases = fc.record({ a: policies, b: policies, c: policies, question: questions });
const RUNS = { numRuns: howMany(750, 3_000) };
const same = (a: CapabilityPolicy, b: CapabilityPolicy) => isDeepStrictEqual(a, b);

describe('intersectPolicies', () => {
  it('allows nothing that one of the two does not allow', () => {
    fc.assert(
      fc.property(
        cases,
        ({ a, b, question }) =>
          !allows(intersectPolicies(a, b), question) ||
          (allows(a, question) && allows(b, question)),
      ),
      RUNS,
    );
  });

  it('allows everything that both allow, where an operation is named', () => {
    fc.assert(
      fc.property(cases, name, ({ a, b, question }, operation) => {
        const exact = { ...question, operation };
        return allows(intersectPolicies(a, b), exact) === (allows(a, exact) && allows(b, exact));
      }),
      RUNS,
    );
  });

  it('is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(cases, ({ a, b, c }) => {
        const own = intersectPolicies(a, {});
        return (
          same(intersectPolicies(a, b), intersectPolicies(b, a)) &&
          same(
            intersectPolicies(intersectPolicies(a, b), c),
            intersectPolicies(a, intersectPolicies(b, c)),
          ) &&
          same(intersectPolicies(a, a), own) &&
          same(intersectPolicies(own, own), own)
        );
      }),
      RUNS,
    );
  });

  it('is left as it is by {}', () => {
    fc.assert(
      fc.property(cases, ({ a, question }) => {
        const met = intersectPolicies(a, {});
        return allows(met, question) === allows(a, question) && same(intersectPolicies({}, a), met);
      }),
      RUNS,
    );
  });

  it('keeps an empty list empty: two scopes that share no tool allow none', () => {
    const met = intersectPolicies({ tools: ['read'] }, { tools: ['write'] });

    expect(met).toEqual({ tools: [] });
    expect(['read', 'write', ''].map((toolName) => allows(met, { toolName }))).toEqual([
      false,
      false,
      false,
    ]);
    expect(allows(intersectPolicies(met, {}), { toolName: 'read' })).toBe(false);
  });

  it('shares no list with the policies it was made from', () => {
    const tools = ['read'];
    const operations = ['read'];
    const met = intersectPolicies({ tools }, { capabilities: { workspace: operations } });
    tools.push('write');
    operations.push('write');

    expect(met).toEqual({ tools: ['read'], capabilities: { workspace: ['read'] } });
    expect(
      Object.isFrozen(met) &&
        Object.isFrozen(met.tools) &&
        Object.isFrozen(met.capabilities?.workspace),
    ).toBe(true);
  });

  it('would widen if empty meant unrestricted, and the property above sees it', () => {
    const naive = (policy: CapabilityPolicy, toolName: string) =>
      (policy.tools ?? []).length === 0 || policy.tools?.includes(toolName) === true;

    expect(naive({ tools: ['read'] }, 'write')).toBe(false);
    expect(naive(intersectPolicies({ tools: ['read'] }, { tools: ['other'] }), 'write')).toBe(true);
  });
});

describe('allows', () => {
  it.each<[string, CapabilityPolicy, PolicyQuestion, boolean]>([
    [
      'everything under {}',
      {},
      { toolName: 'x', sideEffectLevel: 'network', capability: 'c', operation: 'o', depth: 99 },
      true,
    ],
    ['nothing under an empty list', { tools: [] }, { toolName: 'x' }, false],
    [
      'what is not asked about',
      { tools: [], sideEffectLevel: 'none', recursionLimit: 0, capabilities: {} },
      {},
      true,
    ],
    ['an exact name only', { tools: ['read'] }, { toolName: 'Read' }, false],
    ['no glob', { tools: ['*'] }, { toolName: 'read' }, false],
    [
      'the ceiling itself',
      { sideEffectLevel: 'workspace_write' },
      { sideEffectLevel: 'workspace_write' },
      true,
    ],
    [
      'nothing above the ceiling',
      { sideEffectLevel: 'workspace_write' },
      { sideEffectLevel: 'process_exec' },
      false,
    ],
    ['depth up to the limit', { recursionLimit: 1 }, { depth: 1 }, true],
    ['no depth beyond it', { recursionLimit: 1 }, { depth: 2 }, false],
    [
      'a listed operation',
      { capabilities: { fs: ['read'] } },
      { capability: 'fs', operation: 'read' },
      true,
    ],
    [
      'no other operation',
      { capabilities: { fs: ['read'] } },
      { capability: 'fs', operation: 'write' },
      false,
    ],
    [
      'no capability that is not listed',
      { capabilities: { fs: ['read'] } },
      { capability: 'net', operation: 'read' },
      false,
    ],
    ['no capability without operations', { capabilities: { fs: [] } }, { capability: 'fs' }, false],
    ['a capability with some', { capabilities: { fs: ['read'] } }, { capability: 'fs' }, true],
    [
      'no member that every object has',
      { capabilities: {} },
      { capability: 'constructor', operation: 'name' },
      false,
    ],
    [
      'no level that nobody knows',
      { sideEffectLevel: 'network' },
      { sideEffectLevel: 'godlike' as never },
      false,
    ],
    [
      'nothing under a ceiling that nobody knows',
      { sideEffectLevel: 'godlike' as never },
      { sideEffectLevel: 'none' },
      false,
    ],
  ])('answers for %s', (_name, policy, question, answer) => {
    expect(allows(policy, question)).toBe(answer);
  });
});

describe('checkPolicy', () => {
  it.each([
    [null],
    [[]],
    [{ tool: ['a'] }],
    [{ tools: 'a' }],
    [{ tools: [''] }],
    [{ tools: null }],
    [{ capabilities: ['a'] }],
    [{ capabilities: { fs: 'read' } }],
    [{ sideEffectLevel: 'all' }],
    [{ recursionLimit: -1 }],
    [{ recursionLimit: 1.5 }],
  ])('refuses %j', (policy) => {
    expect(() => checkPolicy('owner', policy)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });

  it('takes a policy with every member, and one with none', () => {
    expect(() => checkPolicy('owner', {})).not.toThrow();
    expect(() =>
      checkPolicy('owner', {
        tools: [],
        capabilities: { fs: [] },
        sideEffectLevel: 'none',
        recursionLimit: 0,
      }),
    ).not.toThrow();
  });
});
