import { describe, expect, it } from 'vitest';
import { matchesTool } from '../../../src/core/contract/layer.ts';
import { createExpressions } from '../../../src/permissions/rules/compile-expression.ts';
import { scopeOf } from '../../../src/permissions/rules/expression-values.ts';
import { fuzzRules, type RulesSubject } from './fuzz-rules.ts';
import { howMany } from '../../how-many.fixture.ts';

const listOf = (names: string | readonly string[]): readonly string[] =>
  typeof names === 'string' ? [names] : names;

/** What rules look like when the first that applies wins. */
const firstWins: RulesSubject = ({ rules }) => {
  const compile = createExpressions();
  const compiled = rules.map((rule) => ({
    ...rule,
    holds: rule.when === undefined ? undefined : compile(rule.when),
  }));
  return (request) => {
    for (const { tool = '*', kind = '*', holds, decision } of compiled) {
      if (!matchesTool(listOf(tool), request.toolName) || !matchesTool(listOf(kind), request.kind))
        continue;
      try {
        if (holds?.holds(scopeOf(request)) === false) continue;
      } catch {
        continue;
      }
      return { decision: decision === 'ask' ? 'require_approval' : decision };
    }
    return { decision: 'no_opinion' };
  };
};

describe('fuzzRules', () => {
  it('finds rulesPolicy and Cedar of one mind in thousands of decisions', () => {
    const decisions = howMany(1_500, 5_000);
    const figures = fuzzRules({ decisions, seed: 20_260_101 });

    expect(figures.differences).toEqual([]);
    expect(figures).toMatchObject({ decisions, oursAlone: 0 });
    expect(Math.min(...Object.values(figures.byDecision))).toBeGreaterThan(250);
    expect(figures.leftOut).toBeLessThan(figures.decisions);
  });

  it('finds that Cedar does not take the first rule that applies', () => {
    expect(
      fuzzRules({ decisions: 2_000, seed: 1, subject: firstWins }).differences.length,
    ).toBeGreaterThan(0);
  });

  it('repeats itself with the same seed', () => {
    expect(fuzzRules({ decisions: 200, seed: 5 })).toEqual(fuzzRules({ decisions: 200, seed: 5 }));
  });
});
