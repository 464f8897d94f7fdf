// The library `json`: what it answers and refuses. Each expectation is what the reference
// interpreter answers.

import { describe, expect, test } from 'vitest';
import { errorOf, evaluate } from './evaluate.fixture.ts';

const ANSWERS: readonly (readonly [expression: string, expected: string])[] = [
  ['json.encode("a<b")', '"\\"a<b\\""'],
  ['json.encode("a<b\\n&")', '"\\"a\\\\u003cb\\\\n\\\\u0026\\""'],
  ['json.encode("é<")', '"\\"é\\\\u003c\\""'],
  ['json.encode("\\x80a")', '"\\"\\\\ufffda\\""'],
  ['json.encode({"b":1,"a":[1,2.5,None,True]})', '"{\\"a\\":[1,2.5,null,true],\\"b\\":1}"'],
  ['json.encode((1,[range(2)]))', '"[1,[[0,1]]]"'],
  ['json.encode("ab".elems())', '"[\\"a\\",\\"b\\"]"'],
  ['json.encode(1e6)', '"1e+06"'],
  ['json.encode(-0.0)', '"-0"'],
  ['json.encode(100000.0)', '"100000"'],
  ['json.encode(1<<70)', '"1180591620717411303424"'],
  ['json.decode(\'{"a":1,"a":2,"b":{}}\')', '{"a": 2, "b": {}}'],
  ['json.decode("1.5e3")', '1500.0'],
  ['json.decode("1.")', '1.0'],
  ['json.decode("-.5")', '-0.5'],
  ['json.decode("123456789012345678901234567890")', '123456789012345678901234567890'],
  ['json.decode("-123456789012345678901234567890")', '-123456789012345678901234567890'],
  ['json.decode("-0")', '0'],
  ['json.decode(\'"a\\\\u00e9\\\\n\\\\/\\\\b"\')', '"aé\\n/\\b"'],
  ['json.decode(\'"\\\\ud83d\\\\ude00"\')', '"😀"'],
  ['json.decode(\'"a\\tb"\')', '"a\\tb"'],
  ['json.decode(\'"\\xff"\')', '"�"'],
  ["json.decode('[true,false,null]')", '[True, False, None]'],
  [
    'json.indent(\'{"a":[1,2,{}],"b":[],"c":{"d":null}}\')',
    '"{\\n\\t\\"a\\": [\\n\\t\\t1,\\n\\t\\t2,\\n\\t\\t{}\\n\\t],\\n\\t\\"b\\": [],\\n\\t\\"c\\": {\\n\\t\\t\\"d\\": null\\n\\t}\\n}"',
  ],
  ["json.indent('[1,2]  ')", '"[\\n\\t1,\\n\\t2\\n]  "'],
  ['json.indent(\'  [1,2]\\n\', prefix=">", indent="  ")', '"[\\n>  1,\\n>  2\\n>]\\n"'],
  ['json.indent(\'"\\xff"\')', '"\\"\\xff\\""'],
  ["json.indent('[[],{},[[]]]')", '"[\\n\\t[],\\n\\t{},\\n\\t[\\n\\t\\t[]\\n\\t]\\n]"'],
  ["json.indent('{ }')", '"{}"'],
  ["json.indent('[ ]')", '"[]"'],
  [
    'json.indent(\'{"a" : 1 , "b" : [ 1 ] }\')',
    '"{\\n\\t\\"a\\": 1,\\n\\t\\"b\\": [\\n\\t\\t1\\n\\t]\\n}"',
  ],
];

const ERRORS: readonly (readonly [expression: string, expected: string])[] = [
  ['json.encode({1:2})', 'json.encode: dict has int key, want string'],
  [
    'json.encode([1,{"x":len}])',
    'json.encode: at list index 1: in dict key "x": cannot encode builtin_function_or_method as JSON',
  ],
  [
    'json.encode(json)',
    'json.encode: in field .decode: cannot encode builtin_function_or_method as JSON',
  ],
  ['json.encode(float("inf"))', 'json.encode: cannot encode non-finite float +inf'],
  [
    'json.encode([float("nan")])',
    'json.encode: at list index 0: cannot encode non-finite float nan',
  ],
  ['json.encode({(1,):2})', 'json.encode: dict has tuple key, want string'],
  ['json.encode({1.0:2})', 'json.encode: dict has float key, want string'],
  ['json.encode()', 'json.encode: got 0 arguments, want 1'],
  ['json.encode(1,2)', 'json.encode: got 2 arguments, want 1'],
  ['json.encode(x=1)', 'json.encode: unexpected keyword arguments'],
  ['json.decode("")', 'json.decode: at offset 0, unexpected end of file'],
  ['json.decode("  ")', 'json.decode: at offset 2, unexpected end of file'],
  ['json.decode("nul")', "json.decode: at offset 0, unexpected character 'n'"],
  ['json.decode("[1,2")', 'json.decode: at offset 4, unexpected end of file'],
  ['json.decode("[1 2]")', "json.decode: at offset 3, got '2', want ',' or ']'"],
  ['json.decode("{1:2}")', 'json.decode: at offset 2, got int for object key, want string'],
  ['json.decode(\'{"a" 1}\')', "json.decode: at offset 5, after object key, got '1', want ':' "],
  ['json.decode(\'{"a":1 2}\')', "json.decode: at offset 7, in object, got '2', want ',' or '}'"],
  ['json.decode("1 2")', "json.decode: at offset 2, unexpected character '2' after value"],
  ['json.decode("1e400")', 'json.decode: at offset 5, invalid number: 1e400'],
  ['json.decode("01")', 'json.decode: at offset 2, invalid number: 01'],
  [
    'json.decode(\'"\\\\x"\')',
    "json.decode: at offset 4, invalid character 'x' in string escape code",
  ],
  [
    'json.decode(\'"\\\\u12g4"\')',
    "json.decode: at offset 8, invalid character 'g' in \\u hexadecimal character escape",
  ],
  [
    'json.decode(\'"\\\\u12"\')',
    "json.decode: at offset 6, invalid character '\"' in \\u hexadecimal character escape",
  ],
  [
    'json.decode(\'"é\\tb"\')',
    "json.decode: at offset 6, invalid character '\\t' in string literal",
  ],
  ["json.decode('\"abc')", 'json.decode: at offset 0, unclosed string literal'],
  ["json.decode('\"abc\\\\')", 'json.decode: at offset 0, unclosed string literal'],
  ['json.decode(\'"abc\\\\"\')', 'json.decode: at offset 0, unclosed string literal'],
  ['json.decode("\\x80")', "json.decode: at offset 0, unexpected character '\\u0080'"],
  ['json.decode("\\xe9")', "json.decode: at offset 0, unexpected character 'é'"],
  ['json.decode("\'")', "json.decode: at offset 0, unexpected character '\\''"],
  ['json.decode("\\\\")', "json.decode: at offset 0, unexpected character '\\\\'"],
  ['json.decode(1)', 'json.decode: for parameter 1: got int, want string'],
  ["json.decode('truex')", "json.decode: at offset 4, unexpected character 'x' after value"],
  ["json.decode('[,]')", "json.decode: at offset 1, unexpected character ','"],
  ["json.decode('{,}')", "json.decode: at offset 1, unexpected character ','"],
  ["json.indent('1 2')", "json.indent: invalid character '2' after top-level value"],
  ["json.indent('')", 'json.indent: unexpected end of JSON input'],
  ["json.indent('[')", 'json.indent: unexpected end of JSON input'],
  ["json.indent('[1,')", 'json.indent: unexpected end of JSON input'],
  ["json.indent('[1,]')", "json.indent: invalid character ']' looking for beginning of value"],
  [
    "json.indent('{a}')",
    "json.indent: invalid character 'a' looking for beginning of object key string",
  ],
  ['json.indent(\'{"a"}\')', "json.indent: invalid character '}' after object key"],
  ['json.indent(\'{"a":1 2}\')', "json.indent: invalid character '2' after object key:value pair"],
  ["json.indent('[1 2]')", "json.indent: invalid character '2' after array element"],
  ["json.indent('tru')", "json.indent: invalid character ' ' in literal true (expecting 'e')"],
  ["json.indent('trux')", "json.indent: invalid character 'x' in literal true (expecting 'e')"],
  ["json.indent('01')", "json.indent: invalid character '1' after top-level value"],
  ["json.indent('-')", "json.indent: invalid character ' ' in numeric literal"],
  ["json.indent('-a')", "json.indent: invalid character 'a' in numeric literal"],
  [
    "json.indent('1.')",
    "json.indent: invalid character ' ' after decimal point in numeric literal",
  ],
  [
    "json.indent('1.x')",
    "json.indent: invalid character 'x' after decimal point in numeric literal",
  ],
  ["json.indent('1e')", "json.indent: invalid character ' ' in exponent of numeric literal"],
  ["json.indent('1ex')", "json.indent: invalid character 'x' in exponent of numeric literal"],
  ["json.indent('1e+')", "json.indent: invalid character ' ' in exponent of numeric literal"],
  ["json.indent('1e+x')", "json.indent: invalid character 'x' in exponent of numeric literal"],
  ["json.indent('1.5.5')", "json.indent: invalid character '.' after top-level value"],
  ["json.indent('1e5e5')", "json.indent: invalid character 'e' after top-level value"],
  ["json.indent('1e5.5')", "json.indent: invalid character '.' after top-level value"],
  ["json.indent('-01')", "json.indent: invalid character '1' after top-level value"],
  ['json.indent(\'"a\\\\q"\')', "json.indent: invalid character 'q' in string escape code"],
  ['json.indent(\'"a\\n"\')', "json.indent: invalid character '\\n' in string literal"],
  ["json.indent('\"a')", 'json.indent: unexpected end of JSON input'],
  [
    'json.indent(\'"a\\\\u12z4"\')',
    "json.indent: invalid character 'z' in \\u hexadecimal character escape",
  ],
  ["json.indent('\\'')", "json.indent: invalid character '\\'' looking for beginning of value"],
  ['json.indent("\\xff")', "json.indent: invalid character 'ÿ' looking for beginning of value"],
  ['json.indent(1)', 'json.indent: for parameter 1: got int, want string'],
  ['json.indent()', 'json.indent: got 0 arguments, want 1'],
  ['json.indent("1", "2")', 'json.indent: got 2 arguments, want 1'],
  ['json.indent("1", prefix=1)', 'json.indent: for parameter "prefix": got int, want string'],
  ['json.indent("1", foo=1)', 'json.indent: unexpected keyword argument "foo"'],
  ["json.indent('\"a\\\\')", "json.indent: invalid character ' ' in string escape code"],
  [
    "json.indent('\"a\\\\u1')",
    "json.indent: invalid character ' ' in \\u hexadecimal character escape",
  ],
  ["json.indent('\\x00')", "json.indent: invalid character '\\x00' looking for beginning of value"],
  [
    "json.indent('\"\\\\u12\\x00')",
    "json.indent: invalid character '\\x00' in \\u hexadecimal character escape",
  ],
];

describe('json', () => {
  test.each(ANSWERS)('%s is %s', (expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });

  test.each(ERRORS)('%s is refused: %s', (expression, message) => {
    expect(errorOf(expression).message).toBe(message);
  });
});
