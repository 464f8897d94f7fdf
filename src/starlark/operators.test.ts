import { describe, expect, it } from 'vitest';
import { complaintOf, globalsOf, valueOf } from './starlark.fixture.ts';

describe('operators', () => {
  it.each([
    ['9007199254740991 + 1', '9007199254740992'],
    ['9007199254740992 - 1', '9007199254740991'],
    ['-9007199254740991 - 2', '-9007199254740993'],
    ['3037000500 * 3037000500', '9223372037000250000'],
    ['100000000000000000000 // 3', '33333333333333333333'],
    ['0 * -5', '0'],
    ['-7 // 2, 7 // -2, -7 // -2, 0 // -5', '(-4, -4, 3, 0)'],
    ['-7 % 3, 7 % -3, -7 % -3, -6 % 3', '(2, -2, -1, 0)'],
    ['-100000000000000000001 % 7, -100000000000000000001 // 7', '(4, -14285714285714285715)'],
    ['9007199254740991 // 2, -9007199254740991 // 2', '(4503599627370495, -4503599627370496)'],
    ['7 / 2, 6 / 2, 1 + 1.0', '(3.5, 3.0, 2.0)'],
    ['-7.5 % 2, 7.5 % -2, -7.5 // 2', '(0.5, -0.5, -4.0)'],
    ['6 & 3, 6 | 3, 6 ^ 3, ~5, 1 << 40, -1 >> 3', '(2, 7, 5, -6, 1099511627776, -1)'],
    ['(1 << 40) & ((1 << 41) - 1), -1 & (1 << 60)', '(1099511627776, 1152921504606846976)'],
    ['"ab" * 2, 2 * [1], (1, 2) * 2, "a" * -1', '("abab", [1, 1], (1, 2, 1, 2), "")'],
    ['"a" + "b", [1] + [2], (1,) + (2,)', '("ab", [1, 2], (1, 2))'],
    ['1 and 0, 0 or "x", not [], 1 if "" else 2', '(0, "x", True, 2)'],
    [
      '2 in [1, 2.0], "b" in "abc", 3 not in {3: 1}, [] in {}, 4 in range(0, 9, 2)',
      '(True, True, False, False, True)',
    ],
  ])('%s is %s', (expression, value) => {
    expect(valueOf(expression)).toBe(value);
  });

  it.each([
    ['1 == 1.0, True == 1, None == False, "1" == 1', '(True, False, False, False)'],
    [
      '9007199254740993 == 9007199254740992.0, 9007199254740993 > 9007199254740992.0',
      '(False, True)',
    ],
    [
      'float("nan") == float("nan"), float("nan") > float("inf"), 1 < float("nan")',
      '(True, True, True)',
    ],
    ['[1, 2] < [1, 3], (1,) < (1, 2), "a" < "b", False < True', '(True, True, True, True)'],
    [
      '{1: 2, 3: 4} == {3: 4, 1: 2}, range(3) == range(0, 3), range(0) == range(5, 2)',
      '(True, True, True)',
    ],
  ])('compares exactly: %s is %s', (expression, value) => {
    expect(valueOf(expression)).toBe(value);
  });

  it('keeps the first spelling of a key and the last value', () => {
    expect(globalsOf('d = dict([(1, "a"), (1.0, "b"), ((1, 2.0), 0), ((1.0, 2), 1)])')).toEqual({
      d: '{1: "b", (1, 2.0): 1}',
    });
  });

  it.each([
    ['x = 1 + "a"', '1:7: unknown binary op: int + string'],
    ['x = 1 // 0', '1:7: floored division by zero'],
    ['x = 1 % 0', '1:7: integer modulo by zero'],
    ['x = 1 / 0', '1:7: floating-point division by zero'],
    ['x = 1.0 % 0', '1:9: floating-point modulo by zero'],
    ['x = 1 << 512', '1:7: shift count too large: 512'],
    ['x = 1 << -1', '1:7: negative shift count: -1'],
    ['x = [] < {}', '1:8: list < dict not implemented'],
    ['x = {} < {}', '1:8: dict < dict not implemented'],
    ['x = 1 in "a"', "1:7: 'in <string>' requires string as left operand, not int"],
    ['x = 1 in 2', '1:7: unknown binary op: int in int'],
    ['x = -"a"', '1:5: unknown unary op: - string'],
    ['x = "a" * 4294967296', '1:9: repeat count 4294967296 too large'],
    ['x = [0] * 2000000000', '1:9: excessive repeat (1 * 2000000000 elements)'],
    ['x = {1: 2}[3]', '1:11: key 3 not in dict'],
    ['x = {[]: 1}', '1:8: unhashable type: list'],
    ['x = {range(1): 1}', '1:14: unhashable: range'],
    ['x = {1: 2, 1.0: 3}', '1:15: duplicate key: 1.0'],
    ['x = [][0]', '1:7: index 0 out of range: empty list'],
    ['x = (1,)[-2]', '1:9: tuple index -2 out of range [-1:0]'],
    ['x = "a"["b"]', '1:8: string index: got string, want int'],
    ['x = [1][1 << 40]', '1:8: list index: 1099511627776 out of range'],
    ['x = 1[0]', '1:6: unhandled index operation int[int]'],
    ['x = None.foo', '1:9: NoneType has no .foo field or method'],
    ['x = [].appendd', '1:7: list has no .appendd field or method (did you mean .append?)'],
    ['x = 1\nx.y = 2', "2:2: can't assign to .y field of int"],
    ['x = "a"\nx[0] = "b"', '2:2: string value does not support item assignment'],
    ['x = [1][::0]', '1:8: zero is not a valid slice step'],
    ['a = 1\nb = 2\nx = (a and b)[:]', '3:6: invalid slice operand int'],
    ['a = 1\nb = 2\nx = (a or b)[:]', '3:11: invalid slice operand int'],
    ['a = 1\nb = 2\nx = (a if a and b else 3)[:]', '3:11: invalid slice operand int'],
    ['a = 1\nb = 2\nx = [v and b for v in [a]][::0]', '3:12: zero is not a valid slice step'],
  ])('refuses %j with its place', (source, complaint) => {
    expect(complaintOf(source)).toBe(complaint);
  });

  it.each([
    [
      '"hello"[1:3], "hello"[::-1], "hello"[-3:], "hello"[10:], "hello"[3:1]',
      '("el", "olleh", "llo", "", "")',
    ],
    ['[0, 1, 2, 3, 4][::2], [0, 1, 2][5:0:-1], (1, 2, 3)[-2:]', '([0, 2, 4], [2, 1], (2, 3))'],
    ['range(10)[2:8:3], range(10)[::-1]', '(range(2, 8, 3), range(9, -1, -1))'],
    ['len("é"), "é"[0] == "\\xc3", "é"', '(2, True, "é")'],
  ])('slices by bytes: %s', (expression, value) => {
    expect(valueOf(expression)).toBe(value);
  });
});
