// Built-ins over sequences: all, any, dict, enumerate, len, list, range, reversed, tuple, zip.

import { StarlarkError } from '../errors.ts';
import { normalise } from '../ints.ts';
import { elementsOf, iterableLength, iterate, type ValueIterator } from '../iterate.ts';
import { OBJECT_BYTES, type Thread } from '../thread.ts';
import {
  type BuiltinCall,
  Dict,
  List,
  Range,
  StringIterable,
  Tuple,
  type Value,
} from '../values.ts';
import { accountItems } from './accounting.ts';
import { positional, refuseKwargs } from './arguments.ts';
import { updateDict } from './dict-methods.ts';
import { truth, typeName } from '../kinds.ts';

const enumerateArguments = positional('enumerate', ['iterable'], ['int']);
const lenArguments = positional('len', ['any']);
const listArguments = positional('list', [], ['iterable']);
const rangeArguments = positional('range', ['int'], ['int', 'int']);
const reversedArguments = positional('reversed', ['iterable']);
const tupleArguments = positional('tuple', [], ['iterable']);

/** `all` and `any`: whether some element has the truth that decides, and the answer then. */
export function deciding(name: 'all' | 'any', decisive: boolean): BuiltinCall {
  const readArguments = positional(name, ['iterable']);
  return (thread, args, kwargs) => {
    const [iterable] = readArguments(args, kwargs);
    return holdsElement(thread, iterable, decisive) === decisive;
  };
}

function holdsElement(thread: Thread, iterable: Value, wanted: boolean): boolean {
  const iterator = iterate(iterable);
  for (let value = iterator?.next(); value !== undefined; value = iterator?.next()) {
    thread.step();
    if (truth(value) === wanted) {
      iterator?.done();
      return true;
    }
  }
  iterator?.done();
  return false;
}

export const dict: BuiltinCall = (thread, args, kwargs) => {
  thread.account(OBJECT_BYTES);
  const made = new Dict();
  updateDict(thread, 'dict', made, { args, kwargs });
  return made;
};

export const enumerate: BuiltinCall = (thread, args, kwargs) => {
  const [iterable, start = 0] = enumerateArguments(args, kwargs);
  const elements = elementsOf(thread, iterable) ?? [];
  accountItems(thread, elements.length * 3);
  thread.account(elements.length * OBJECT_BYTES);
  return new List(elements.map((element, index) => new Tuple([counted(start, index), element])));
};

/** Counts on beyond 64 bits as the reference does: from the smallest int. */
function counted(start: number | bigint, index: number): number | bigint {
  if (typeof start === 'number' && Number.isSafeInteger(start + index)) return start + index;
  return normalise(BigInt.asIntN(64, BigInt(start) + BigInt(index)));
}

export const len: BuiltinCall = (_thread, args, kwargs) => {
  const [value] = lenArguments(args, kwargs);
  if (typeof value === 'string') return value.length;
  const length = value instanceof StringIterable ? undefined : iterableLength(value);
  if (length === undefined)
    throw new StarlarkError(`len: value of type ${typeName(value)} has no len`);
  return length;
};

export const list: BuiltinCall = (thread, args, kwargs) => {
  const [iterable] = listArguments(args, kwargs);
  return new List(copyOf(thread, iterable));
};

export const tuple: BuiltinCall = (thread, args, kwargs) => {
  const [iterable] = tupleArguments(args, kwargs);
  return iterable instanceof Tuple ? iterable : new Tuple(copyOf(thread, iterable));
};

export const reversed: BuiltinCall = (thread, args, kwargs) => {
  const [iterable] = reversedArguments(args, kwargs);
  return new List(copyOf(thread, iterable).reverse());
};

function copyOf(thread: Thread, iterable: Value | undefined): Value[] {
  const elements = iterable === undefined ? [] : (elementsOf(thread, iterable) ?? []);
  accountItems(thread, elements.length);
  const isShared = iterable instanceof List || iterable instanceof Tuple;
  // Elements of anything else were made for this call.
  return isShared ? elements.slice() : (elements as Value[]);
}

/**
 * Bounds are safe integers here, which the reference's 64 bits go beyond; no loop gets that far.
 */
export const range: BuiltinCall = (thread, args, kwargs) => {
  const [first, second, step = 1] = rangeArguments(args, kwargs).map((value, index) =>
    safeBound(value, index),
  );
  if (step === 0) throw new StarlarkError('range: step argument must not be zero');
  thread.account(OBJECT_BYTES);
  return second === undefined
    ? new Range(0, first ?? 0, step)
    : new Range(first ?? 0, second, step);
};

function safeBound(value: number | bigint | undefined, index: number): number {
  if (typeof value === 'bigint')
    throw new StarlarkError(`range: for parameter ${index + 1}: ${value} out of range`);
  return value ?? 0;
}

export const zip: BuiltinCall = (thread, args, kwargs) => {
  refuseKwargs('zip', kwargs);
  const iterators: ValueIterator[] = [];
  try {
    for (const [index, value] of args.entries()) {
      const iterator = iterate(value);
      if (iterator === undefined)
        throw new StarlarkError(`zip: argument #${index + 1} is not iterable: ${typeName(value)}`);
      iterators.push(iterator);
    }
    return new List(rowsOf(thread, iterators));
  } finally {
    for (const iterator of iterators) iterator.done();
  }
};

function rowsOf(thread: Thread, iterators: readonly ValueIterator[]): Value[] {
  const rows: Value[] = [];
  accountItems(thread, 0);
  while (iterators.length > 0) {
    thread.step();
    accountItems(thread, iterators.length + 1);
    const row: Value[] = [];
    for (const iterator of iterators) {
      const value = iterator.next();
      if (value === undefined) return rows;
      row.push(value);
    }
    rows.push(new Tuple(row));
  }
  return rows;
}
