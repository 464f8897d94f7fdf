/**
 * Random pairs of policies, and what must hold for every question and every call under them:
 * combining only tightens.
 */

import { excessOf } from '../../../src/policy/ambient-policy.ts';
import {
  allows,
  type CapabilityPolicy,
  intersectPolicies,
  type PolicyQuestion,
} from '../../../src/policy/capability-policy.ts';
import { createRandom } from './random.ts';
import { randomCall, randomPolicy, randomQuestion } from './random-policies.ts';
import { report, type Watched } from './watch-process.ts';

export interface FuzzPoliciesOptions {
  readonly pairs: number;
  readonly seed: number;
  /** What is put to the test. @default intersectPolicies */
  readonly intersect?: (a: CapabilityPolicy, b: CapabilityPolicy) => CapabilityPolicy;
  /** What answers questions. @default allows */
  readonly answer?: (policy: CapabilityPolicy, question: PolicyQuestion) => boolean;
  /** Told now and then how many pairs are done. */
  readonly onProgress?: (done: number) => void;
}

export interface PolicyFigures extends Watched {
  pairs: number;
  /**
   * Questions and calls that both policies of a pair allow, and those that one of them does not.
   */
  allowed: number;
  refused: number;
}

/** The laws take ten times as long as everything else about a pair. */
const PAIRS_PER_LAW = 10;
/** Making a call takes longer than holding it to a policy, so that each is tried under many. */
const PAIRS_PER_CALL = 10;

/** Runs the pairs and counts. Never throws for what it finds; look at `violations`. */
export function fuzzPolicies(options: FuzzPoliciesOptions): PolicyFigures {
  const { pairs, seed, intersect = intersectPolicies, answer = allows, onProgress } = options;
  const figures: PolicyFigures = { pairs: 0, allowed: 0, refused: 0, unhandled: 0, violations: {} };
  const random = createRandom(seed);
  const calls = Array.from({ length: 100 }, () => randomCall(random));
  while (figures.pairs < pairs) {
    const where = `pair ${figures.pairs}`;
    const [a, b] = [randomPolicy(random), randomPolicy(random)];
    const met = intersect(a, b);
    const question = randomQuestion(random);
    checkTighter(figures, where, 'a question', {
      both: answer(a, question) && answer(b, question),
      met: answer(met, question),
    });
    if (figures.pairs % PAIRS_PER_CALL === 0)
      calls[random.below(calls.length)] = randomCall(random);
    const call = random.pick(calls);
    const enters = (policy: CapabilityPolicy) => excessOf(call, policy, 'fuzz') === null;
    checkTighter(figures, where, 'a call', { both: enters(a) && enters(b), met: enters(met) });
    if (figures.pairs % PAIRS_PER_LAW === 0)
      for (const law of brokenLaws(intersect, a, b, randomPolicy(random)))
        report(figures, law, where);
    figures.pairs += 1;
    if (figures.pairs % 1000 === 0) onProgress?.(figures.pairs);
  }
  return figures;
}

function checkTighter(
  figures: PolicyFigures,
  where: string,
  what: string,
  said: { readonly both: boolean; readonly met: boolean },
): void {
  if (said.both) figures.allowed += 1;
  else figures.refused += 1;
  if (said.met && !said.both) report(figures, `got wider for ${what}`, where);
  if (said.both && !said.met) report(figures, `refused ${what} that both allow`, where);
}

/** Compared by their bytes: whoever hashes a policy must not see in which order it was combined. */
function brokenLaws(
  intersect: typeof intersectPolicies,
  a: CapabilityPolicy,
  b: CapabilityPolicy,
  c: CapabilityPolicy,
): readonly string[] {
  const text = (x: CapabilityPolicy, y: CapabilityPolicy) => JSON.stringify(intersect(x, y));
  const met = intersect(a, b);
  const laws: Readonly<Record<string, boolean>> = {
    'is not commutative': text(b, a) === JSON.stringify(met),
    'is not associative': text(met, c) === text(a, intersect(b, c)),
    'is not idempotent': text(a, a) === text(a, {}) && text(met, met) === JSON.stringify(met),
    'is changed by {}': text({}, met) === JSON.stringify(met),
  };
  return Object.keys(laws).filter((law) => laws[law] === false);
}
