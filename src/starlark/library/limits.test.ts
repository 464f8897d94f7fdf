// Budgets: what a built-in makes is accounted before, and long work takes steps.

import { describe, expect, test } from 'vitest';
import { errorOf, evaluate } from './evaluate.fixture.ts';

const MEGABYTE = 1 << 20;

/** Each makes far more than a megabyte of something, from little. */
const BOMBS: readonly string[] = [
  '"".join(["abcdefgh" * 1000] * 1000)',
  '("a" * 1000).replace("", "b" * 10000)',
  '("a" * 1000).replace("a", "b" * 10000)',
  '"%s" * 1000 % tuple(["a" * 10000] * 1000)',
  '("{0}" * 1000).format("a" * 10000)',
  '("a," * 100000).split(",")',
  '("a," * 100000).rsplit(",", 90000)',
  '("a " * 100000).split()',
  '("a " * 100000).rsplit(None, 90000)',
  '("a\\n" * 100000).splitlines()',
  'list(range(1000000000))',
  'tuple(range(1000000000))',
  'sorted(range(1000000000))',
  'reversed(range(1000000000))',
  'enumerate(range(1000000000))',
  'zip(range(1000000000), range(1000000000))',
  'list(("a" * 500000).elems())',
  '[].extend(range(1000000000))',
  'dict([(n, n) for n in range(30000)])',
  'dict([(n, n) for n in range(5000)]).items() * 10',
  'json.encode(["a" * 10000] * 1000)',
  'json.encode(range(1000000000))',
  'json.decode("[" + "[]," * 30000 + "1]")',
  'json.indent("[" * 5000 + "]" * 5000)',
  'json.indent("[1,2]", indent="a" * 900000)',
  're.findall("a", "a" * 100000)',
  'string.truncate("a" * 1000000, 999999)',
  '("é" * 200000).upper()',
  '("\\xff" * 200000).title()',
  'int("7" * 500000)',
  'repr("\\x00" * 400000)',
  'fail("a" * 600000, "b" * 600000)',
];

describe('memory budget', () => {
  test.each(BOMBS)('%s is stopped', (expression) => {
    expect(errorOf(expression, { maxBytes: MEGABYTE }).kind).toBe('memory');
  });
});

/** Each goes through much and makes little. */
const LONG_WORK: readonly string[] = [
  'all(range(1, 1000000000))',
  'any([0] * 1000000)',
  'max(range(1000000000))',
  'min(range(1000000000))',
  '[("a" * 1000000).find("b") for n in range(100)]',
  '[("a" * 1000000).count("b") for n in range(100)]',
  '[([0] * 100000).index(1) for n in range(1)]',
  'sorted([0] * 300000)',
  '[json.decode("[" + "1," * 10000 + "1]") for n in range(100)]',
  '[re.search("b", "a" * 100000) for n in range(100)]',
];

describe('step budget', () => {
  test.each(LONG_WORK)('%s is stopped', (expression) => {
    expect(errorOf(expression, { maxSteps: 100_000 }).kind).toBe('steps');
  });

  test('a search that repeats itself in the pattern takes linear time', () => {
    const started = process.cpuUsage();
    const expression =
      '[getattr("a" * 400000, m)("a" * 1000 + "b" + "a" * 100000) for m in ["find", "rfind", "count"]]';

    expect(evaluate(expression)).toBe('[-1, -1, 0]');
    // Seconds to minutes with the native search.
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
  });

  test.each([
    ['"ab" * 200000 + "c" + "ab" * 3000', '"b" + "ab" * 2000', '1', '402000', '100'],
    ['"ab" * 200000', '"ba" * 2000', '1', '395999', '99'],
  ])('in %s the slow pattern %s is found where it is', (text, pattern, first, last, count) => {
    const found = evaluate(`[getattr(${text}, m)(${pattern}) for m in ["find", "rfind", "count"]]`);

    expect(found).toBe(`[${first}, ${last}, ${count}]`);
  });
});

describe('deep values', () => {
  test('a text nested deeper than any program needs is refused, not a crash', () => {
    expect(errorOf('json.decode("[" * 100000 + "]" * 100000)').message).toContain(
      'value is nested too deeply to be decoded',
    );
    expect(errorOf('json.indent("[" * 100000 + "]" * 100000)').message).toBe(
      'json.indent: exceeded max depth',
    );
  });
});
