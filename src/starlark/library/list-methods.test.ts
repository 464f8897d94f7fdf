// Methods of lists. Each expectation is what the reference interpreter answers.

import { describe, expect, test } from 'vitest';
import { errorOf, evaluate } from './evaluate.fixture.ts';

const ANSWERS: readonly (readonly [expression: string, expected: string])[] = [
  ['[1,2,3].index(2, 0, -1)', '1'],
  ['[1,2,3].index(3, -1)', '2'],
  ['[1,[2]].index([2])', '1'],
  ['[1,2,3].pop(0)', '1'],
  ['[1,2,3].pop(-1)', '3'],
  ['[].extend([1])', 'None'],
];

const ERRORS: readonly (readonly [expression: string, expected: string])[] = [
  ['list(range(3)).pop(5)', 'pop: list index 5 out of range [-3:2]'],
  ['[].pop()', 'pop: index -1 out of range: empty list'],
  ['[].pop(-1)', 'pop: index -1 out of range: empty list'],
  ['[1,2].pop(-3)', 'pop: list index -3 out of range [-2:1]'],
  ['[1].pop("a")', 'pop: for parameter 1: got string, want int'],
  ['[1].index(2)', 'index: value not in list'],
  ['[1].index(1,"a")', 'index: invalid start index: got string, want int'],
  ['[1].index(1,0,1<<40)', 'index: invalid end index: 1099511627776 out of range'],
  ['[1].remove(2)', 'remove: element not found'],
  ['[1].insert(0)', 'insert: got 1 arguments, want 2'],
  ['[1].insert("a",1)', 'insert: for parameter 1: got string, want int'],
  ['[1].pop(1<<40)', 'pop: list index 1099511627776 out of range [-1:0]'],
  ['[1].pop(-(1<<40))', 'pop: list index -1099511627776 out of range [-1:0]'],
  [
    '[1].pop(1<<70)',
    'pop: for parameter 1: 1180591620717411303424 out of range (want value in signed 64-bit range)',
  ],
  [
    '[1].insert(1<<70, 1)',
    'insert: for parameter 1: 1180591620717411303424 out of range (want value in signed 64-bit range)',
  ],
  ['[].append()', 'append: got 0 arguments, want 1'],
  ['[].append(1,2)', 'append: got 2 arguments, want 1'],
  ['[].extend("ab")', 'extend: for parameter 1: got string, want iterable'],
  ['[].clear(1)', 'clear: got 1 arguments, want 0'],
  ['[].foo', 'list has no .foo field or method'],
];

describe('methods of lists', () => {
  test.each(ANSWERS)('%s is %s', (expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });

  test.each(ERRORS)('%s is refused: %s', (expression, message) => {
    expect(errorOf(expression).message).toBe(message);
  });
});
