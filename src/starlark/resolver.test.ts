import { describe, expect, it } from 'vitest';
import { complaintOf, failureOf, globalsOf } from './starlark.fixture.ts';

describe('syntax', () => {
  it.each([
    ['x = (1', "1:7: got end of file, want ')'"],
    ['x = 1 +', '1:8: got end of file, want primary expression'],
    ['x = 1 < 2 < 3', '1:12: < does not associate with < (use parens)'],
    ['x = 1,', '1:6: unparenthesized tuple with trailing comma'],
    ['x = 1 if 2', '1:7: conditional expression without else clause'],
    ['def f():\n    pass\n  pass', '3:3: unindent does not match any outer indentation level'],
    ['f(1=2)', '1:5: keyword argument must have form name=expr'],
    ['x = "a', '1:5: unexpected EOF in string'],
    ["x = 'a\n'", '1:5: unexpected newline in string'],
    ['x = "\\q"', '1:5: invalid escape sequence \\q'],
    ['x = "\\777"', '1:5: invalid escape sequence \\777'],
    ['x = 0755', '1:9: obsolete form of octal literal; use 0o755'],
    ['x = 0x', '1:5: invalid hex literal'],
    ['x = 1e', '1:7: invalid float literal'],
    ['x = )', "1:5: unexpected ')'"],
    ['x = !1', "1:5: unexpected input character '!'"],
    ['\uDE00', "1:1: unexpected input character '\uFFFD'"],
    ['x = "\uD83D" !', "1:9: unexpected input character '!'"],
    ['x = 1 \\ 2', '1:8: stray backslash in program'],
    ['class = 1', '1:6: this Starlark dialect does not support "class"'],
    ['import json', '1:7: this Starlark dialect does not support "import"'],
    ['def f():\n  try:\n    pass', '2:6: this Starlark dialect does not support "try"'],
    ['x = 1 is 2', '1:9: this Starlark dialect does not support "is"'],
    [
      'x = f"a{1}"',
      '1:12: this Starlark dialect does not support f-strings; write "{}".format(x), or "%s" % x',
    ],
    ['x = [b"a"]', '1:10: this Starlark dialect does not support bytes'],
    ['x = g "a"', '1:10: got string literal, want newline'],
    ['load("a")', '1:5: load statement must import at least 1 symbol'],
  ])('refuses %j', (source, complaint) => {
    expect(failureOf(source).kind).toBe('syntax');
    expect(complaintOf(source)).toBe(complaint);
  });
});

describe('names', () => {
  it.each([
    ['x = 1\nx = 2', '2:1: cannot reassign global x declared at test.star:1:1'],
    ['x = y', '1:5: undefined: y'],
    ['abcdef = 1\ny = abcdeg', '2:5: undefined: abcdeg (did you mean abcdef?)'],
    ['for x in []: pass', '1:1: for loop not within a function'],
    ['if 1: pass', '1:1: if statement not within a function'],
    ['return 1', '1:1: return statement not within a function'],
    ['def f():\n  while 1: pass', '2:3: this Starlark dialect does not support while loops'],
    ['x = set([1])', '1:5: this Starlark dialect does not support sets'],
    ['load("a", "b")', '1:1: this Starlark dialect does not support load statements'],
    ['def f(): break', '1:10: break not in a loop'],
    ['f() = 1', "1:1: can't assign to callexpr"],
    ['def f():\n  a, b += 1', "2:3: can't use tuple expression in augmented assignment"],
    ['def f(a, a): pass', '1:10: duplicate parameter: a'],
    ['def f(a=1, b): pass', '1:12: required parameter may not follow optional'],
    ['def f(**k, a): pass', '1:12: required parameter may not follow **k'],
    ['def f(*, **k): pass', '1:7: bare * must be followed by keyword-only parameters'],
    ['len(x=1, x=2)', '1:10: keyword argument x repeated'],
    ['len(*[], 1)', '1:10: positional argument may not follow *args'],
    ['len(a=1, 2)', '1:10: positional argument may not follow named'],
  ])('refuses %j', (source, complaint) => {
    expect(failureOf(source).kind).toBe('resolve');
    expect(complaintOf(source)).toBe(complaint);
  });

  it('are complained of all at once', () => {
    const { message, also } = failureOf('a = p\nb = q\n');

    expect([
      message,
      ...also.map((error) => `${error.line}:${error.column}: ${error.message}`),
    ]).toEqual(['undefined: p', '2:5: undefined: q']);
  });

  it('of a comprehension are its own, and its first operand is outside', () => {
    expect(
      globalsOf('x = [1, 2]\ny = [x for x in x]\nz = [[x * y for x in [1]] for y in [2]]'),
    ).toEqual({
      x: '[1, 2]',
      y: '[1, 2]',
      z: '[[2]]',
    });
  });

  it('of a module may be used by functions that stand before them', () => {
    expect(globalsOf('def f():\n  return later\nlater = 5\nx = f()')).toMatchObject({ x: '5' });
  });

  it.each([
    ['x = y\ny = 1', '1:5: global variable y referenced before assignment'],
    ['def f():\n  x = x\nf()', '2:7: local variable x referenced before assignment'],
    [
      'def f():\n  def g(): return x\n  g()\n  x = 1\nf()',
      '2:19: local variable x referenced before assignment',
    ],
  ])('must be assigned before they are read: %j', (source, complaint) => {
    expect(complaintOf(source)).toBe(complaint);
  });

  it('share a variable between a function and the functions inside it', () => {
    const source =
      'def f():\n  n = 1\n  def g(): return n\n  n = 2\n  return g\nx = f()()\nfs = [g() for g in [(lambda: i) for i in range(3)]]';

    expect(globalsOf(source)).toMatchObject({ x: '2', fs: '[2, 2, 2]' });
  });
});
