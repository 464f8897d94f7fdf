/**
 * The language of `when`: a guarded part of CEL, checked when a rule is read and run without side
 * effects.
 */

import { Environment } from '@marcbachmann/cel-js';
import type { RE2JS } from 're2js';
import { describeThrown, oneLine } from '../../core/contract/errors.ts';
import { linearEngine } from '../../system/linear-engine.ts';
import { type ExpressionScope, VARIABLES } from './expression-values.ts';
import { type ExpressionFacts, ExpressionRefused, guardExpression } from './guard-expression.ts';

/** An expression that has been checked. */
export interface Expression {
  /** What it looks at, as written: `args.path`, `request.host`. */
  readonly reads: readonly string[];
  /**
   * Whether the condition holds. Throws where it cannot be said: a missing member, a wrong type,
   * too much to go through.
   */
  holds(scope: ExpressionScope): boolean;
}

/** Far more than a rule that people read. */
const MAX_CHARACTERS = 4096;
const LIMITS = Object.freeze({
  maxAstNodes: 500,
  maxDepth: 40,
  maxListElements: 256,
  maxCallArguments: 4,
});
/** Values and characters a request may have where the work grows with the square. */
const MAX_SQUARED_WEIGHT = 4096;
/** Instructions of a pattern times characters of a text. */
const MAX_PATTERN_WORK = 200_000_000;
/** What one pattern may keep of its states, in bytes. */
const STATE_BYTES = 1_048_576;

/** Compiles expressions that share their regular expressions. */
export function createExpressions(): (source: string) => Expression {
  const patterns = new Map<string, RE2JS>();
  const environment = createEnvironment(patterns);
  return (source) => {
    const { degree, reads } = check(source, environment, patterns);
    const run = environment.parse(source);
    return Object.freeze({
      reads,
      holds({ variables, weight }: ExpressionScope): boolean {
        if (degree > 1 && weight > MAX_SQUARED_WEIGHT)
          throw new RangeError('the request is too large for a loop inside a loop');
        const answer: unknown = run(variables);
        if (typeof answer !== 'boolean')
          throw new TypeError('the condition is neither true nor false');
        return answer;
      },
    });
  };
}

function createEnvironment(patterns: ReadonlyMap<string, RE2JS>): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: false,
    enableOptionalTypes: false,
    limits: LIMITS,
  });
  for (const [name, type] of Object.entries(VARIABLES)) environment.registerVariable(name, type);
  const rematches = (text: string, pattern: string): boolean =>
    matches(text, patterns.get(pattern));
  return environment
    .registerFunction('string.rematches(string): bool', rematches)
    .registerFunction('string.asciiLower(): string', (text: string) =>
      text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    );
}

function matches(text: string, expression: RE2JS | undefined): boolean {
  if (expression === undefined) throw new TypeError('the pattern was not compiled');
  if (text.length * expression.programSize() > MAX_PATTERN_WORK)
    throw new RangeError('the text is too long for the pattern');
  return expression.test(text);
}

/** The guard comes before the type check: what it refuses is not handed to anybody. */
function check(
  source: string,
  environment: Environment,
  patterns: Map<string, RE2JS>,
): ExpressionFacts {
  if (source.length > MAX_CHARACTERS)
    throw new ExpressionRefused(`is longer than ${MAX_CHARACTERS} characters`);
  const facts = guardExpression(parse(source, environment));
  for (const pattern of facts.patterns) patterns.set(pattern, compilePattern(pattern));
  const { valid, type, error } = environment.check(source);
  if (!valid) throw new ExpressionRefused(`is wrong: ${firstLine(error)}`);
  if (type !== 'bool' && type !== 'dyn')
    throw new ExpressionRefused(`is ${type ?? 'something'}, not true or false`);
  return facts;
}

function parse(source: string, environment: Environment) {
  try {
    return environment.parse(source).ast;
  } catch (thrown) {
    throw new ExpressionRefused(`cannot be read: ${firstLine(thrown)}`);
  }
}

/** The lines after it draw where in the source it went wrong. */
const firstLine = (thrown: unknown): string =>
  oneLine(
    thrown instanceof Error ? (thrown.message.split('\n', 1)[0] ?? '') : describeThrown(thrown),
  );

function compilePattern(pattern: string): RE2JS {
  try {
    const expression = linearEngine().compile(pattern);
    const { dfa } = expression.re2();
    dfa.stateBudget = STATE_BYTES;
    dfa.memBudget = STATE_BYTES;
    return expression;
  } catch (thrown) {
    throw new ExpressionRefused(`has a pattern that cannot be compiled: ${firstLine(thrown)}`);
  }
}
