// Which methods a value has, and those of lists.

import { Builtin, Dict, List, type Method, StringIterable, type Value } from '../values.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from '../thread.ts';
import { equals } from '../compare.ts';
import { StarlarkError } from '../errors.ts';
import { checkMutable, elementsOf } from '../iterate.ts';
import { dictMethods } from './dict-methods.ts';
import { positional } from './arguments.ts';
import { braceFormat } from './format.ts';
import { type MethodCalls, methodTable } from './method-table.ts';
import { caseMethods, searchMethods } from './string-methods.ts';
import { splitMethods } from './string-split.ts';
import { clamped, indices, within } from './numbers.ts';

/** By name, for receivers that are strings. */
const stringMethods = methodTable<string>({
  ...caseMethods,
  ...searchMethods,
  ...splitMethods,
  format: (thread, receiver, args, kwargs) => braceFormat(thread, receiver, args, kwargs),
  elems: iterableMethod('elems', { codepoints: false, ords: false }),
  elem_ords: iterableMethod('elem_ords', { codepoints: false, ords: true }),
  codepoints: iterableMethod('codepoints', { codepoints: true, ords: false }),
  codepoint_ords: iterableMethod('codepoint_ords', { codepoints: true, ords: true }),
});

function iterableMethod(
  name: string,
  form: { readonly codepoints: boolean; readonly ords: boolean },
): MethodCalls<string>[string] {
  const readArguments = positional(name, []);
  return (thread, receiver, args, kwargs) => {
    readArguments(args, kwargs);
    thread.account(OBJECT_BYTES);
    return new StringIterable(receiver, form);
  };
}

const NONE: ReadonlyMap<string, Method> = new Map();

function methodsOf(receiver: Value): ReadonlyMap<string, Method> {
  if (typeof receiver === 'string') return stringMethods;
  if (receiver instanceof List) return listMethods;
  return receiver instanceof Dict ? dictMethods : NONE;
}

/**
 * A method as it stands in its type's table, for a call `receiver.name(…)` that makes no bound
 * object.
 */
export function findMethod(receiver: Value, name: string): Method | undefined {
  return methodsOf(receiver).get(name);
}

/** A method bound to its receiver, for a program that reads the attribute without calling it. */
export function methodOf(receiver: Value, name: string): Builtin | undefined {
  const method = findMethod(receiver, name);
  if (method === undefined) return undefined;
  return new Builtin(
    name,
    (thread, args, kwargs) => method.call(thread, receiver, args, kwargs),
    receiver,
  );
}

/** The names of a value's methods, sorted. */
export function methodNames(receiver: Value): readonly string[] {
  return [...methodsOf(receiver).keys()].sort();
}

const appendArguments = positional('append', ['any']);
const clearArguments = positional('clear', []);
const extendArguments = positional('extend', ['iterable']);
const indexArguments = positional('index', ['any'], ['any', 'any']);
const insertArguments = positional('insert', ['int', 'any']);
const popArguments = positional('pop', [], ['int']);
const removeArguments = positional('remove', ['any']);

/** By name, for receivers that are lists. */
const listMethods = methodTable<List>({
  append: (thread, receiver, args, kwargs) => {
    const [item] = appendArguments(args, kwargs);
    requireMutable('append', receiver, 'append to');
    thread.account(SLOT_BYTES);
    receiver.items.push(item);
    return null;
  },
  clear: (_thread, receiver, args, kwargs) => {
    clearArguments(args, kwargs);
    requireMutable('clear', receiver, 'clear');
    receiver.items = [];
    return null;
  },
  extend: (thread, receiver, args, kwargs) => {
    const [iterable] = extendArguments(args, kwargs);
    requireMutable('extend', receiver, 'extend');
    extendList(thread, receiver, elementsOf(thread, iterable) ?? []);
    return null;
  },
  index: (thread, receiver, args, kwargs) => {
    const [value, startValue, endValue] = indexArguments(args, kwargs);
    const [start, end] = within('index', () =>
      indices(receiver.items.length, startValue, endValue),
    );
    const index = within('index', () => positionOf(thread, receiver.items, { value, start, end }));
    if (index < 0) throw new StarlarkError('index: value not in list');
    return index;
  },
  insert: (thread, receiver, args, kwargs) => {
    const [index, item] = insertArguments(args, kwargs);
    requireMutable('insert', receiver, 'insert into');
    thread.account(SLOT_BYTES);
    chargeMove(thread, receiver);
    receiver.items.splice(clamped(index), 0, item);
    return null;
  },
  pop: (thread, receiver, args, kwargs) => {
    const [index = -1] = popArguments(args, kwargs);
    return pop(thread, receiver, clamped(index));
  },
  remove: (thread, receiver, args, kwargs) => {
    const [value] = removeArguments(args, kwargs);
    requireMutable('remove', receiver, 'remove from');
    const index = within('remove', () =>
      positionOf(thread, receiver.items, { value, start: 0, end: receiver.items.length }),
    );
    if (index < 0) throw new StarlarkError('remove: element not found');
    chargeMove(thread, receiver);
    receiver.items.splice(index, 1);
    return null;
  },
});

/**
 * Adds elements to a list that is known to be mutable, accounted. The elements may be the list's
 * own.
 */
function extendList(thread: Thread, list: List, elements: readonly Value[]): void {
  thread.account(elements.length * SLOT_BYTES);
  thread.step(Math.ceil(elements.length / 16));
  const { length } = elements;
  for (let index = 0; index < length; index++) {
    // Below the length that the elements had when this began.
    list.items.push(elements[index] as Value);
  }
}

function requireMutable(name: string, list: List, verb: string): void {
  if (list.frozen || list.iterators > 0) within(name, () => checkMutable(list, verb));
}

function pop(thread: Thread, list: List, wanted: number): Value {
  const { items } = list;
  const index = wanted < 0 ? wanted + items.length : wanted;
  const item = items[index];
  if (item === undefined) throw new StarlarkError(`pop: ${outOfRange(wanted, items.length)}`);
  requireMutable('pop', list, 'pop from');
  if (index === items.length - 1) items.pop();
  else {
    chargeMove(thread, list);
    items.splice(index, 1);
  }
  return item;
}

function outOfRange(index: number, length: number): string {
  return length === 0
    ? `index ${index} out of range: empty list`
    : `list index ${index} out of range [${-length}:${length - 1}]`;
}

/** Elements behind a place move when one comes or goes. */
function chargeMove(thread: Thread, list: List): void {
  thread.step(Math.ceil(list.items.length / 64));
}

interface Sought {
  readonly value: Value;
  readonly start: number;
  readonly end: number;
}

function positionOf(
  thread: Thread,
  items: readonly Value[],
  { value, start, end }: Sought,
): number {
  for (let index = start; index < end; index++) {
    thread.step();
    // Bounds lie within the list.
    if (equals(thread, items[index] as Value, value)) return index;
  }
  return -1;
}
