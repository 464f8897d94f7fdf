// Built-ins that make a value of another type: bool, chr, float, hash, ord, repr, str, type.

import { decodeCodepoint, encodeCodepoint } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { asInt32, finiteFloat } from '../ints.ts';
import { repr as textOf, str as plainTextOf } from '../repr.ts';
import { OBJECT_BYTES } from '../thread.ts';
import { type BuiltinCall, Float, type Value } from '../values.ts';
import { positional, refuseKwargs } from './arguments.ts';
import { parseFloatText } from './float-text.ts';
import { within } from './numbers.ts';
import { chargeWork } from './search.ts';
import { codepointsOf, countCodepoints } from './unicode.ts';
import { truth, typeName } from '../kinds.ts';

const boolArguments = positional('bool', [], ['any']);
const hashArguments = positional('hash', ['string']);
const reprArguments = positional('repr', ['any']);

export const bool: BuiltinCall = (_thread, args, kwargs) => {
  const [value = false] = boolArguments(args, kwargs);
  return truth(value);
};

export const chr: BuiltinCall = (_thread, args, kwargs) => {
  const argument = onlyArgument('chr', args, kwargs);
  const codepoint = within('chr', () => asInt32(argument));
  if (codepoint < 0)
    throw new StarlarkError(`chr: Unicode code point ${codepoint} out of range (<0)`);
  if (codepoint > 0x10ffff) {
    throw new StarlarkError(
      `chr: Unicode code point U+${codepoint.toString(16).toUpperCase()} out of range (>0x10FFFF)`,
    );
  }
  return encodeCodepoint(codepoint);
};

export const float: BuiltinCall = (thread, args, kwargs) => {
  refuseKwargs('float', kwargs);
  if (args.length > 1) throw new StarlarkError(`float got ${args.length} arguments, wants 1`);
  const [value = 0] = args;
  if (value instanceof Float) return value;
  thread.account(OBJECT_BYTES);
  if (typeof value === 'string') chargeWork(thread, value.length);
  return new Float(typeof value === 'string' ? floatFromText(value) : floatFromNumber(value));
};

function floatFromNumber(value: Value): number {
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') {
    throw new StarlarkError(`float got ${typeName(value)}, want number or string`);
  }
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
export const hash: BuiltinCall = (thread, args, kwargs) => {
  const [text] = hashArguments(args, kwargs);
  thread.account(text.length * 8);
  chargeWork(thread, text.length * 8);
  return codepointsOf(text).reduce((sum, codepoint) => (Math.imul(31, sum) + codepoint) | 0, 0);
};

export const ord: BuiltinCall = (thread, args, kwargs) => {
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

export const repr: BuiltinCall = (thread, args, kwargs) => {
  const [value] = reprArguments(args, kwargs);
  return textOf(thread, value);
};

export const str: BuiltinCall = (thread, args, kwargs) =>
  plainTextOf(thread, onlyArgument('str', args, kwargs, 'exactly '));

export const type: BuiltinCall = (_thread, args, kwargs) =>
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
