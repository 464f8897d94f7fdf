// The names that every program has.

import { decodeText, encodeText } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { str as textOf } from '../repr.ts';
import type { Thread } from '../thread.ts';
import { builtin, type BuiltinCall, List, Module, type Value } from '../values.ts';
import { accountItems, joined } from './accounting.ts';
import { named, positional, refuseKwargs } from './arguments.ts';
import { bool, chr, float, hash, ord, repr, str, type } from './conversions.ts';
import { methodNames, methodOf } from './methods.ts';
import { int } from './parse-int.ts';
import { deciding, dict, enumerate, len, list, range, reversed, tuple, zip } from './sequences.ts';
import { extremum, sorted } from './sorting.ts';
import { typeName } from '../kinds.ts';

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
      index === 0 ? [textOf(thread, value)] : [separator, textOf(thread, value)],
    ),
  );
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
