import { describe, expect, it } from 'vitest';
import {
  builtin,
  callValue,
  compileStarlark,
  List,
  newThread,
  runProgram,
  StarlarkError,
} from './index.ts';
import { complaintOf, failureOf, globalsOf } from './starlark.fixture.ts';

const DEF = 'def f(a, b=2, *args, c, d=4, **kw): return (a, b, args, c, d, kw)\n';

describe('calls', () => {
  it.each([
    ['f(1, c=3)', '(1, 2, (), 3, 4, {})'],
    ['f(1, 2, 3, 4, c=5, e=6)', '(1, 2, (3, 4), 5, 4, {"e": 6})'],
    ['f(c=1, a=2)', '(2, 2, (), 1, 4, {})'],
    ['f(*[1, 2, 3], **{"c": 4, "z": 5})', '(1, 2, (3,), 4, 4, {"z": 5})'],
  ])('bind %s', (call, value) => {
    expect(globalsOf(`${DEF}x = ${call}`)).toMatchObject({ x: value });
  });

  it.each([
    ['f()', 'function f missing 2 arguments (a, c)'],
    ['f(1)', 'function f missing 1 argument (c)'],
    ['f(1, a=2, c=1)', 'function f got multiple values for parameter "a"'],
    ['f(1, c=1, **{"c": 2})', 'function f got multiple values for parameter "c"'],
    ['(lambda: 1)(1)', 'function lambda accepts no arguments (1 given)'],
    ['(lambda a: 1)(1, 2)', 'function lambda accepts 1 positional argument (2 given)'],
    [
      '(lambda a, b=1: 1)(1, 2, 3)',
      'function lambda accepts at most 2 positional arguments (3 given)',
    ],
    ['(lambda a: 1)(1, b=2)', 'function lambda got an unexpected keyword argument "b"'],
    ['f(*1)', 'argument after * must be iterable, not int'],
    ['f(**1)', 'argument after ** must be a mapping, not int'],
    ['f(**{1: 2})', 'keywords must be strings, not int'],
    ['1()', 'invalid call of non-function (int)'],
  ])('refuse %s', (call, message) => {
    expect(failureOf(`${DEF}x = ${call}`).message).toBe(message);
  });

  it.each([
    [
      'f = lambda a: a\nx = f(1, **{"\\t": 1})',
      'function lambda got an unexpected keyword argument "\\t"',
    ],
    [
      'x = sorted([], **{"é\\xc3\u00a0": 1})',
      'sorted: unexpected keyword argument "é\\xc3\\u00a0"',
    ],
  ])('quote a name that nobody has as a text of the language: %s', (source, message) => {
    expect(failureOf(source).message).toBe(message);
  });

  it('refuse recursion, also through other functions', () => {
    expect(failureOf('def f(n): return g(n)\ndef g(n): return f(n)\nx = f(1)').message).toBe(
      'function f called recursively',
    );
    expect(failureOf('y = lambda x: x(x)\nz = y(y)').message).toBe(
      'function lambda called recursively',
    );
  });

  it('may use a function for its own argument', () => {
    expect(globalsOf('def add(a, b): return a + b\nx = add(add(1, 2), add(3, 4))')).toMatchObject({
      x: '10',
    });
  });

  it('have a traceback in the artifact file, with built-ins in it', () => {
    const source =
      'def bad(x):\n  return x + ""\ndef run():\n  return sorted([2, 1], key=bad)\nx = run()\n';
    const program = () =>
      compileStarlark(source, { file: 'tool.md', firstLine: 10, firstColumn: 3, predeclared: [] });
    let thrown: unknown;
    try {
      runProgram(program(), { predeclared: new Map(), thread: newThread() });
    } catch (error) {
      thrown = error;
    }

    expect(thrown).toBeInstanceOf(StarlarkError);
    expect(thrown).toMatchObject({
      line: 11,
      column: 14,
      message: 'unknown binary op: int + string',
    });
    expect(
      (thrown as StarlarkError).traceback.map(
        ({ name, file, line, column }) => `${file}:${line}:${column} ${name}`,
      ),
    ).toEqual([
      'tool.md:14:10 <toplevel>',
      'tool.md:13:18 run',
      '<builtin>:0:0 sorted',
      'tool.md:11:14 bad',
    ]);
  });

  it('leave nothing open after an error: functions run again and lists can change', () => {
    const source =
      'def run(fail):\n  for i in box:\n    if fail: i + ""\n  box.append(1)\n  return len(box)\n';
    const thread = newThread();
    const program = compileStarlark(source, { file: 't', predeclared: ['box'] });
    const box = new List([1]);
    const run =
      runProgram(program, { predeclared: new Map([['box', box]]), thread }).get('run') ?? null;

    expect(() => callValue(thread, run, [true], null)).toThrow('unknown binary op');
    expect(callValue(thread, run, [false], null)).toBe(2);
  });

  it('throw what a built-in throws', () => {
    const stop = new Error('stop');
    const program = compileStarlark('halt()', { file: 't', predeclared: ['halt'] });
    const halt = builtin('halt', () => {
      throw stop;
    });

    expect(() =>
      runProgram(program, { predeclared: new Map([['halt', halt]]), thread: newThread() }),
    ).toThrow(stop);
  });
});

describe('statements', () => {
  it.each([
    [
      'def f():\n  x = [1]\n  for i in x: x.append(i)\nf()',
      '3:23: append: cannot append to list during iteration',
    ],
    [
      'def f():\n  d = {1: 2}\n  for k in d: d[k] = 1\nf()',
      '3:16: cannot insert into hash table during iteration',
    ],
    ['def f():\n  for i in 1: pass\nf()', '2:3: int value is not iterable'],
    ['def f():\n  for c in "abc": pass\nf()', '2:3: string value is not iterable'],
    ['a, b = 1', '1:6: got int in sequence assignment'],
    ['a, b = [1]', '1:6: too few values to unpack (got 1, want 2)'],
    ['a, b = (1, 2, 3)', '1:6: too many values to unpack (got 3, want 2)'],
  ])('refuse %j', (source, complaint) => {
    expect(complaintOf(source)).toBe(complaint);
  });

  it('freeze a module when it is complete', () => {
    const thread = newThread();
    const program = compileStarlark(
      'x = [[1], {}]\ndef run(): x[0].append(1)\ndef put(): x[1]["a"] = 1',
      { file: 't', predeclared: [] },
    );
    const globals = runProgram(program, { predeclared: new Map(), thread });

    expect(() => callValue(thread, globals.get('run') ?? null, [], null)).toThrow(
      'cannot append to frozen list',
    );
    expect(() => callValue(thread, globals.get('put') ?? null, [], null)).toThrow(
      'cannot insert into frozen hash table',
    );
  });

  it('assign in place, in order, and once', () => {
    const source = [
      'def f():',
      '  x = [1]',
      '  y = x',
      '  x += (2, 3)',
      '  x += x',
      '  n = [0]',
      '  def next():',
      '    n[0] += 1',
      '    return n[0]',
      '  d = {1: 10}',
      '  d[next()] += next()',
      '  [a, (b, c)] = 1, "de".elems()',
      '  a, b = b, a',
      '  return y, d, n, a, b, c',
      'r = f()',
    ].join('\n');

    expect(globalsOf(source)).toMatchObject({
      r: '([1, 2, 3, 1, 2, 3], {1: 12}, [2], "d", 1, "e")',
    });
  });

  it('loop, break, continue and return', () => {
    const source =
      'def f(n):\n  out = []\n  for i in range(n):\n    if i == 1: continue\n    elif i == 4: break\n    else: out.append(i)\n    for j in (1, 2):\n      if i == 3: return out, j\n  return out\nx = f(3)\ny = f(9)';

    expect(globalsOf(source)).toMatchObject({ x: '[0, 2]', y: '([0, 2, 3], 1)' });
  });

  it('make each run a fresh module', () => {
    const program = compileStarlark('x = []\nx.append(1)', { file: 't', predeclared: [] });
    const run = () => runProgram(program, { predeclared: new Map(), thread: newThread() }).get('x');

    expect(run()).not.toBe(run());
    expect(run()).toMatchObject({ items: [1] });
  });
});
