import { describe, expect, it } from 'vitest';
import {
  allows,
  type CapabilityPolicy,
  intersectPolicies,
} from '../../../src/policy/capability-policy.ts';
import { fuzzPolicies } from './fuzz-policies.ts';
import { howMany } from '../../how-many.fixture.ts';

type Meet = typeof intersectPolicies;

/** Combines one member in its own way, and everything else as it is done. */
const twin =
  <K extends keyof CapabilityPolicy>(
    key: K,
    both: (a: CapabilityPolicy[K], b: CapabilityPolicy[K]) => CapabilityPolicy[K],
  ): Meet =>
  (a, b) => {
    const { [key]: _replaced, ...met } = intersectPolicies(a, b);
    const value = both(a[key], b[key]);
    return value === undefined ? met : { ...met, [key]: value };
  };

describe('fuzzPolicies', () => {
  it('finds nothing that gets wider', { timeout: 120_000 }, () => {
    const pairs = howMany(5_000, 100_000);
    const figures = fuzzPolicies({ pairs, seed: 20_260_101 });

    expect(figures.violations).toEqual({});
    expect(figures.pairs).toBe(pairs);
    expect(figures.allowed).toBeGreaterThan(pairs / 3);
    expect(figures.refused).toBeGreaterThan(pairs / 3);
  });

  it.each<[string, Meet, readonly string[]]>([
    [
      'roots that are joined instead of met',
      twin('workspaceRoots', (a, b) => (a === undefined ? b : b === undefined ? a : [...a, ...b])),
      ['got wider for a question', 'got wider for a call', 'is not commutative'],
    ],
    [
      'no folder in common taken for no restriction',
      twin('workspaceRoots', (a, b) => {
        const met = intersectPolicies(
          a === undefined ? {} : { workspaceRoots: a },
          b === undefined ? {} : { workspaceRoots: b },
        );
        return met.workspaceRoots?.length === 0 ? undefined : met.workspaceRoots;
      }),
      ['got wider for a question', 'got wider for a call'],
    ],
    [
      'folders that are met by the beginning of their text',
      twin('workspaceRoots', (a, b) =>
        a === undefined
          ? b
          : (b?.flatMap((root) =>
              a.filter((other) => root.startsWith(other) || other.startsWith(root)),
            ) ?? a),
      ),
      ['got wider for a question'],
    ],
    [
      'the constraints of the later policy in the place of those of the earlier',
      twin('argConstraints', (a, b) =>
        a === undefined ? b : b === undefined ? a : { ...a, ...b },
      ),
      ['got wider for a question', 'is not commutative'],
    ],
    [
      'the later name in the place of the earlier',
      (a, b) => ({ ...a, ...b }),
      ['got wider for a question', 'got wider for a call', 'is not commutative'],
    ],
    [
      'lists that keep their order',
      twin('tools', (a, b) =>
        a === undefined ? b : b === undefined ? a : a.filter((name) => b.includes(name)),
      ),
      ['is not commutative'],
    ],
  ])('finds what is wrong with %s', (_name, intersect, rules) => {
    const { violations } = fuzzPolicies({ pairs: 3_000, seed: 1, intersect });

    expect(Object.keys(violations)).toEqual(expect.arrayContaining([...rules]));
  });

  it('finds what is wrong with an empty list that is taken for no list', () => {
    const { violations } = fuzzPolicies({
      pairs: 3_000,
      seed: 1,
      answer: ({ tools, ...policy }, question) =>
        allows(tools?.length ? { ...policy, tools } : policy, question),
    });

    expect(Object.keys(violations)).toEqual(['got wider for a question']);
  });
});
