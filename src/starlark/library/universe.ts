// The names that every program has, and those of them that make a value of another type: bool, chr,
// float, hash, ord, repr, str, type.

import { decodeCodepoint, decodeText, encodeCodepoint, encodeText } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { repr as reprOf, str as plainTextOf } from '../repr.ts';
import { OBJECT_BYTES, type Thread } from '../thread.ts';
import { builtin, type BuiltinCall, Float, List, Module, type Value } from '../values.ts';
import { truth, typeName } from '../kinds.ts';
import { asInt32, finiteFloat } from '../ints.ts';
import { accountItems, joined } from './accounting.ts';
import { named, positional, refuseKwargs } from './arguments.ts';
import { methodNames, methodOf } from './methods.ts';
import { int } from './parse-int.ts';
import { deciding, dict, enumerate, len, list, range, reversed, tuple, zip } from './sequences.ts';
import { extremum, sorted } from './sorting.ts';
import { parseFloatText } from './float-text.ts';
import { within } from './numbers.ts';
import { chargeWork } from './search.ts';
import { codepointsOf, countCodepoints } from './unicode.ts';

const getattrArguments = positional('getattr', ['any', 'string'], ['any']);
const hasattrArguments = positional('hasattr', ['any', 'string']);

const dir: BuiltinCall = (thread, args, kwargs) => {
  refuseKwargs('dir', kwargs);
  const [value] = args;
  if (value === undefined || args.length !== 1)
    throw new StarlarkError(`dir: got ${args.length} arguments, want 1`);
  const names = value instanceof Module ? [...value.members.keys()].sort() : methodNames(value);
  accountItems(thread, names.length);
  return new List(names.map(encodeText));
};

const getattr: BuiltinCall = (_thread, args, kwargs) => {
  const [value, name, absent] = getattrArguments(args, kwargs);
  const attribute = attributeOf(value, name);
  if (attribute !== undefined) return attribute;
  if (absent === undefined)
    throw new StarlarkError(`getattr: ${typeName(value)} has no .${name} field or method`);
  return absent;
};

const hasattr: BuiltinCall = (_thread, args, kwargs) => {
  const [value, name] = hasattrArguments(args, kwargs);
  return attributeOf(value, name) !== undefined;
};

function attributeOf(value: Value, name: string): Value | undefined {
  return value instanceof Module ? value.members.get(decodeText(name)) : methodOf(value, name);
}

const failSeparator = named('fail', [{ name: 'sep', kind: 'string', optional: true }]);
const printSeparator = named('print', [{ name: 'sep', kind: 'string', optional: true }]);

const fail: BuiltinCall = (thread, args, kwargs) => {
  const [separator = ' '] = failSeparator([], kwargs);
  throw new StarlarkError(`fail: ${written(thread, args, separator)}`, { kind: 'fail' });
};

const print: BuiltinCall = (thread, args, kwargs) => {
  const [separator = ' '] = printSeparator([], kwargs);
  thread.print(decodeText(written(thread, args, separator)));
  return null;
};

function written(thread: Thread, values: readonly Value[], separator: string): string {
  return joined(
    thread,
    values.flatMap((value, index) =>
      index === 0 ? [plainTextOf(thread, value)] : [separator, plainTextOf(thread, value)],
    ),
  );
}

const boolArguments = positional('bool', [], ['any']);
const hashArguments = positional('hash', ['string']);
const reprArguments = positional('repr', ['any']);

const bool: BuiltinCall = (_thread, args, kwargs) => {
  const [value = false] = boolArguments(args, kwargs);
  return truth(value);
};

const chr: BuiltinCall = (_thread, args, kwargs) => {
  const argument = onlyArgument('chr', args, kwargs);
  const codepoint = within('chr', () => asInt32(argument));
  if (codepoint < 0)
    throw new StarlarkError(`chr: Unicode code point ${codepoint} out of range (<0)`);
  if (codepoint > 0x10ffff)
    throw new StarlarkError(
      `chr: Unicode code point U+${codepoint.toString(16).toUpperCase()} out of range (>0x10FFFF)`,
    );
  return encodeCodepoint(codepoint);
};

const float: BuiltinCall = (thread, args, kwargs) => {
  refuseKwargs('float', kwargs);
  if (args.length > 1) throw new StarlarkError(`float got ${args.length} arguments, wants 1`);
  const [value = 0] = args;
  if (value instanceof Float) return value;
  thread.account(OBJECT_BYTES);
  if (typeof value === 'string') chargeWork(thread, value.length);
  return new Float(typeof value === 'string' ? floatFromText(value) : floatFromNumber(value));
};

function floatFromNumber(value: Value): number {
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean')
    throw new StarlarkError(`float got ${typeName(value)}, want number or string`);
  return finiteFloat(typeof value === 'boolean' ? Number(value) : value);
}

function floatFromText(text: string): number {
  if (text === '') throw new StarlarkError('float: empty string');
  const number = parseFloatText(text);
  if (number === undefined) throw new StarlarkError(`invalid float literal: ${text}`);
  // Infinity by name is one; a number may not become it.
  if (Math.abs(number) === Number.POSITIVE_INFINITY && !/[yf]$/i.test(text))
    throw new StarlarkError('floating-point number too large');
  return number;
}

/** The hash of Java's strings over code points: the same for ever, on every machine. */
const hash: BuiltinCall = (thread, args, kwargs) => {
  const [text] = hashArguments(args, kwargs);
  thread.account(text.length * 8);
  chargeWork(thread, text.length * 8);
  return codepointsOf(text).reduce((sum, codepoint) => (Math.imul(31, sum) + codepoint) | 0, 0);
};

const ord: BuiltinCall = (thread, args, kwargs) => {
  const value = onlyArgument('ord', args, kwargs);
  if (typeof value !== 'string')
    throw new StarlarkError(`ord: got ${typeName(value)}, want string`);
  const [codepoint, size] = value === '' ? [0, -1] : decodeCodepoint(value, 0);
  if (size === value.length) return codepoint;
  chargeWork(thread, value.length);
  throw new StarlarkError(
    `ord: string encodes ${countCodepoints(value)} Unicode code points, want 1`,
  );
};

const repr: BuiltinCall = (thread, args, kwargs) => {
  const [value] = reprArguments(args, kwargs);
  return reprOf(thread, value);
};

const str: BuiltinCall = (thread, args, kwargs) =>
  plainTextOf(thread, onlyArgument('str', args, kwargs, 'exactly '));

const type: BuiltinCall = (_thread, args, kwargs) =>
  typeName(onlyArgument('type', args, kwargs, 'exactly '));

function onlyArgument(
  name: string,
  args: readonly Value[],
  kwargs: Parameters<BuiltinCall>[2],
  word = '',
): Value {
  refuseKwargs(name, kwargs);
  const [value] = args;
  if (value === undefined || args.length !== 1)
    throw new StarlarkError(`${name}: got ${args.length} arguments, want ${word}1`);
  return value;
}

const BUILTINS: Readonly<Record<string, BuiltinCall>> = {
  all: deciding('all', false),
  any: deciding('any', true),
  bool,
  chr,
  dict,
  dir,
  enumerate,
  fail,
  float,
  getattr,
  hasattr,
  hash,
  int,
  len,
  list,
  max: extremum('max', '>'),
  min: extremum('min', '<'),
  ord,
  print,
  range,
  repr,
  reversed,
  sorted,
  str,
  tuple,
  type,
  zip,
};

/** Constants and functions by name. There is no `set` in the dialect. */
export const universe: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['None', null],
  ['True', true],
  ['False', false],
  ...Object.entries(BUILTINS).map(([name, call]): [string, Value] => [name, builtin(name, call)]),
]);
