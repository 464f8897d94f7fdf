// Methods of dicts. Each expectation is what the reference interpreter answers.

import { describe, expect, test } from 'vitest';
import { errorOf, evaluate } from './evaluate.fixture.ts';

const ANSWERS: readonly (readonly [expression: string, expected: string])[] = [
  ['{}.update(a=1)', 'None'],
  ['{1:2}.items()', '[(1, 2)]'],
  ['{"k": None}.get("k", 5)', 'None'],
  ['{"k": None}.pop("k", 5)', 'None'],
  ['{"k": None}.setdefault("k", 5)', 'None'],
  ['{1:2}.popitem()', '(1, 2)'],
  ['{1:2,3:4}.values()', '[2, 4]'],
  ['{(1,2):3, 1.0: 4, None: 5, True: 6}.keys()', '[(1, 2), 1.0, None, True]'],
  ['{}.update([("a",1)], b=2)', 'None'],
];

const ERRORS: readonly (readonly [expression: string, expected: string])[] = [
  ['{}.pop(1)', 'pop: missing key'],
  ['{}.pop([])', 'pop: missing key'],
  ['{}.popitem()', 'popitem: empty dict'],
  ['{}.get([])', 'get: unhashable type: list'],
  ['{}.get()', 'get: got 0 arguments, want at least 1'],
  ['{}.setdefault([],1)', 'setdefault: unhashable type: list'],
  ['{}.update([1])', 'update: dictionary update sequence element #0 is not iterable (int)'],
  ['{}.update(1)', 'update: got int, want iterable'],
  ['{}.update([],[])', 'update: got 2 arguments, want at most 1'],
  ['{}.keys(1)', 'keys: got 1 arguments, want 0'],
  ['{}.update([[1,2,3]])', 'update: dictionary update sequence element #0 has length 3, want 2'],
  ['{}.update(["ab"])', 'update: dictionary update sequence element #0 is not iterable (string)'],
  ['{}.foo()', 'dict has no .foo field or method'],
];

describe('methods of dicts', () => {
  test.each(ANSWERS)('%s is %s', (expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });

  test.each(ERRORS)('%s is refused: %s', (expression, message) => {
    expect(errorOf(expression).message).toBe(message);
  });
});
