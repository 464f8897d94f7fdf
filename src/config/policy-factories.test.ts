import { describe, expect, it } from 'vitest';
import * as policy from '../policy/index.ts';
import { buildLayers } from './build-layers.ts';
import { POLICY_FACTORIES, withPolicies } from './policy-factories.ts';
import { pathText } from './problem.ts';

describe('POLICY_FACTORIES', () => {
  it('has every policy that allium/policy makes from plain options', () => {
    const made = Object.keys(policy).filter(
      (name) => name.endsWith('Policy') && !['narrowPolicy', 'checkPolicy'].includes(name),
    );

    expect([...POLICY_FACTORIES.keys()].sort()).toEqual(made.sort());
  });
});

describe('policies in the place of their names', () => {
  const mistakes = (checkers: readonly unknown[]) => {
    const lines: string[] = [];
    withPolicies(
      { checkers },
      ['permissions'],
      (path, message) => void lines.push(`${pathText(path)}: ${message}`),
    );
    return lines;
  };

  it('are made, and what code made stays as it is', () => {
    const own = () => 'allow';
    const ready = policy.pathPolicy({ roots: [] });
    const { checkers } = withPolicies(
      { checkers: [{ commandPolicy: null }, own, ready] },
      [],
      () => {},
    ) as {
      checkers: { name: string }[];
    };

    expect(checkers.map(({ name }) => name)).toEqual(['commandPolicy', 'own', 'pathPolicy']);
    expect([checkers[1], checkers[2]]).toEqual([own, ready]);
  });

  it('are all looked at before anything is said', () => {
    expect(
      mistakes([
        { pathPolcy: {} },
        {},
        { pathPolicy: { roots: 7 } },
        { commandPolicy: { alow: [] } },
      ]),
    ).toEqual([
      'permissions.checkers[0].pathPolcy: there is no such policy; did you mean "pathPolicy"?',
      'permissions.checkers[1]: a checker is one policy by its name, or { $module: ./file.ts#name }',
      expect.stringMatching(
        /^permissions\.checkers\[2\]\.pathPolicy\.roots: pathPolicy: "roots" must be/,
      ) as string,
      expect.stringMatching(/^permissions\.checkers\[3\]\.commandPolicy\.alow: /) as string,
    ]);
  });

  it('make a layer', () => {
    const layers = buildLayers([
      { permissions: { checkers: [{ rulesPolicy: { rules: [] } }], fallback: 'ask' } },
    ]);

    expect(layers.map(({ name }) => name)).toEqual(['permissions']);
  });
});
