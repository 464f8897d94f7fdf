/** Checks the keywords that hold values rather than schemas. */

import { isAlliumError } from '../../core/errors.ts';
import { isObject, type JsonValue } from '../../core/json.ts';
import { isNames, VALUE_KEYWORDS } from './keywords.ts';
import { linearPattern } from './linear-regexp.ts';
import { translatePattern } from './translate-pattern.ts';
import { type Place, unsupported } from './unsupported.ts';

const MAX_ENUM = 10_000;
/** What even the smallest pattern costs to compile, in instructions. */
const BASE_SIZE = 10;

/** Refuses a keyword whose value is not what its meaning needs. Keywords that are not understood pass unread. */
export function checkKeyword(name: string, value: JsonValue, place: Place, where: string): void {
  const expectation = VALUE_KEYWORDS.get(name);
  if (expectation === undefined) return;
  if (isObject(value) && typeof value['$data'] === 'string')
    throw unsupported(where, place, 'uses $data, which is not supported');
  if (!expectation.test(value)) throw unsupported(where, place, `must be ${expectation.text}`);
  if (name === 'enum' && Array.isArray(value) && value.length > MAX_ENUM)
    throw unsupported(where, place, `has more than ${MAX_ENUM} values`);
}

/**
 * Refuses names that ajv leaves out without a word. Elsewhere `__proto__` is an ordinary name, but a dependency on it
 * would never be enforced.
 */
export function checkDependencies(value: JsonValue, place: Place, where: string): void {
  if (!isObject(value)) return;
  if (Object.hasOwn(value, '__proto__'))
    throw unsupported(where, place, 'depends on __proto__, which is not supported');
  for (const names of Object.values(value)) {
    if (Array.isArray(names) && !isNames(names))
      throw unsupported(where, place, 'must hold lists of names that are not empty');
  }
}

/** What is left of the instructions that all patterns of one schema may come to, and the patterns seen so far. */
export interface PatternBudget {
  readonly seen: Set<string>;
  left: number;
}

/** Compiling takes 10 to 20 µs per instruction, and a schema must be refused or taken within 50 ms. */
export const patternBudget = (): PatternBudget => ({ seen: new Set(), left: 2_500 });

/** Compiles a pattern, so that what cannot be run is refused now and not when the first call comes. */
export function checkPattern(
  pattern: string,
  place: Place,
  where: string,
  budget: PatternBudget,
): void {
  if (budget.seen.has(pattern)) return;
  budget.seen.add(pattern);
  try {
    budget.left -= translatePattern(pattern).size + BASE_SIZE;
    if (budget.left >= 0) linearPattern(pattern);
  } catch (thrown) {
    if (!isAlliumError(thrown)) throw thrown;
    throw unsupported(where, place, `cannot be used: ${thrown.message}`);
  }
  if (budget.left < 0)
    throw unsupported(where, place, 'has a pattern too many: all of them together repeat too much');
}
