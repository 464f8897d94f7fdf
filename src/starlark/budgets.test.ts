import { describe, expect, it } from 'vitest';
import { fromStarlark, newThread, toStarlark } from './index.ts';
import { failureOf, globalsOf } from './starlark.fixture.ts';

const inFunction = (...lines: readonly string[]) => `def f():\n  ${lines.join('\n  ')}\nf()`;

describe('budgets', () => {
  it.each([
    ['loops', inFunction('for i in range(1000000000): pass')],
    ['comprehensions', 'x = [0 for i in range(1000000000)]'],
    ['searches', inFunction('x = [0] * 100000', 'for i in range(1000): 1 in x')],
    [
      'comparisons of what is shared',
      inFunction(
        'x = [1] * 1000',
        'for i in range(8): x = [x] * 1000',
        'return x == [x[0]] * 1000',
      ),
    ],
    [
      'texts of what is shared',
      inFunction('x = (1,)', 'for i in range(100): x = (x, x)', 'return str(x)'),
    ],
    ['products', inFunction('x = 7', 'for i in range(60): x = x * x')],
  ])('stop %s by steps', (_, source) => {
    expect(failureOf(source).kind).toBe('steps');
  });

  it.each([
    ['repeated strings', 'x = "a" * 1000000000'],
    ['repeated lists', 'x = [0] * 100000000'],
    ['doubled strings', inFunction('x = "a"', 'for i in range(100): x = x + x')],
    ['doubled lists', inFunction('x = [1]', 'for i in range(100): x += x')],
    ['spread arguments', 'x = len(*range(1000000000))'],
    ['dicts', inFunction('d = {}', 'for i in range(1000000): d[i] = i')],
    ['joined strings', 'x = "x".join(["a" * 1000000] * 1000)'],
  ])('stop %s by memory, before they are made', (_, source) => {
    const before = process.memoryUsage().heapUsed;

    // Not JavaScript's own limit, which is an error of the same kind with another message.
    expect(failureOf(source)).toMatchObject({
      kind: 'memory',
      message: 'too much memory allocated (limit 32000000 bytes)',
    });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200_000_000);
  });

  it('are counted on the thread', () => {
    const thread = newThread();

    expect(thread.steps).toBe(0);
    expect(() => {
      thread.account(2 ** 31);
    }).toThrow('too much memory');
  });

  it('take no more than was asked for: the limit itself is allowed', () => {
    const source = inFunction('for i in range(10): pass');

    expect(failureOf(source, { maxSteps: 11 }).kind).toBe('steps');
    expect(() => failureOf(source, { maxSteps: 13 })).toThrow('did not fail');
  });
});

const DEEP = 10_000;

describe('deep nesting', () => {
  it.each([
    ['parentheses', `x = ${'('.repeat(DEEP)}1${')'.repeat(DEEP)}`],
    ['lists', `x = ${'['.repeat(DEEP)}${']'.repeat(DEEP)}`],
    ['dicts', `x = ${'{1:'.repeat(DEEP)}1${'}'.repeat(DEEP)}`],
    ['signs', `x = ${'-'.repeat(DEEP)}1`],
    ['nots', `x = ${'not '.repeat(DEEP)}1`],
    ['sums', `x = ${'1+'.repeat(DEEP)}1`],
    ['calls', `x = f${'()'.repeat(DEEP)}`],
    ['dots', `x = f${'.a'.repeat(DEEP)}`],
    ['indices', `x = f${'[0]'.repeat(DEEP)}`],
    ['conditionals', `x = ${'1 if 1 else '.repeat(DEEP)}1`],
    ['lambdas', `x = ${'lambda: '.repeat(DEEP)}1`],
    ['clauses', `x = [1 ${'for a in [1] '.repeat(DEEP)}]`],
    ['targets', `${'('.repeat(DEEP)}x${')'.repeat(DEEP)} = 1`],
  ])('of %s is a syntax error', (_, source) => {
    // A place: it was counted, and not the JavaScript stack that ended.
    expect(failureOf(source)).toMatchObject({
      kind: 'syntax',
      message: 'nested too deeply',
      line: 1,
    });
  });

  it('of blocks is a syntax error', () => {
    const lines = Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}def f():`);

    expect(failureOf(`${lines.join('\n')}\n${' '.repeat(1000)}pass`).message).toBe(
      'nested too deeply',
    );
  });

  it('of calls is an error', () => {
    const functions = Array.from(
      { length: 2000 },
      (_, index) => `def f${index + 1}(): return f${index}()`,
    );

    expect(failureOf(`def f0(): return 1\n${functions.join('\n')}\nx = f2000()`).message).toBe(
      'too many calls inside one another',
    );
  });

  const nested = (shell: string) =>
    `def f():\n  x = ()\n  for i in range(100000): x = ${shell}\n  return x\n`;

  it('of values is an error where they are written, compared or used as keys', () => {
    expect(failureOf(`${nested('[x]')}y = str(f())`).message).toBe(
      'value is nested too deeply to be written',
    );
    expect(failureOf(`${nested('[x]')}y = f() == f()`).message).toBe(
      'comparison exceeded maximum recursion depth',
    );
    expect(failureOf(`${nested('(x,)')}y = {f(): 1}`).message).toBe(
      'tuple is too large to be a key',
    );
  });

  it('of values does not keep a module from being frozen', () => {
    expect(failureOf(`${nested('[x]')}y = f()\nz = 1 + ""`).message).toBe(
      'unknown binary op: int + string',
    );
  });

  it('of many elifs and statements is none', () => {
    expect(
      globalsOf(`def f(x):\n  if x: pass\n${'  elif x: pass\n'.repeat(2000)}  return 1\ny = f(0)`),
    ).toMatchObject({ y: '1' });
  });
});

describe('JSON', () => {
  it('goes in and comes out', () => {
    const json = {
      text: 'é ☃ \u{1f600}',
      whole: 3,
      part: 1.5,
      large: 1e300,
      list: [null, true, -0],
      __proto__x: {},
    };

    expect(fromStarlark(toStarlark(json, newThread()))).toEqual({ ...json, list: [null, true, 0] });
    expect(
      Object.keys(fromStarlark(toStarlark(JSON.parse('{"__proto__": 1}'), newThread())) as object),
    ).toEqual(['__proto__']);
  });

  it('is accounted on the way in', () => {
    expect(() => toStarlark(['x'.repeat(1000)], newThread({ maxBytes: 500 }))).toThrow(
      'too much memory',
    );
  });

  it('is refused where it is nested too deeply', () => {
    let json: unknown = [];
    for (let depth = 0; depth < 10_000; depth++) json = [json];

    expect(() => toStarlark(json, newThread())).toThrow('nested too deeply');
  });
});
