// All methods of dicts, and what `dict()` shares with `update`.

import { StarlarkError } from '../errors.ts';
import { elementsOf, iterate, iterableLength } from '../iterate.ts';
import { dictGet, dictSet, keyOf } from '../keys.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from '../thread.ts';
import { Dict, type Key, type Kwargs, List, StringIterable, Tuple, type Value } from '../values.ts';
import { accountItems } from './accounting.ts';
import { positional } from './arguments.ts';
import { methodTable } from './method-table.ts';
import { prefixed, within } from './numbers.ts';
import { typeName } from '../kinds.ts';

const clearArguments = positional('clear', []);
const getArguments = positional('get', ['any'], ['any']);
const itemsArguments = positional('items', []);
const keysArguments = positional('keys', []);
const popArguments = positional('pop', ['any'], ['any']);
const popitemArguments = positional('popitem', []);
const setdefaultArguments = positional('setdefault', ['any'], ['any']);
const valuesArguments = positional('values', []);

/** By name, for receivers that are dicts. */
export const dictMethods = methodTable<Dict>({
  clear: (_thread, receiver, args, kwargs) => {
    clearArguments(args, kwargs);
    receiver.clear();
    return null;
  },
  get: (_thread, receiver, args, kwargs) => {
    const [key, absent = null] = getArguments(args, kwargs);
    const value = receiver.map.get(typeof key === 'string' ? key : namedKey('get', key));
    // None is a value: only what is not there has the other one.
    return value === undefined ? absent : value;
  },
  items: (thread, receiver, args, kwargs) => {
    itemsArguments(args, kwargs);
    return new List(pairsOf(thread, receiver));
  },
  keys: (thread, receiver, args, kwargs) => {
    keysArguments(args, kwargs);
    accountItems(thread, receiver.size);
    return new List(receiver.keys());
  },
  pop: (_thread, receiver, args, kwargs) => {
    const [key, absent] = popArguments(args, kwargs);
    const value = within('pop', () => take(receiver, key));
    if (value !== undefined) return value;
    if (absent === undefined) throw new StarlarkError('pop: missing key');
    return absent;
  },
  popitem: (thread, receiver, args, kwargs) => {
    popitemArguments(args, kwargs);
    for (const [key, value] of receiver.map) {
      accountItems(thread, 2);
      const original = receiver.original(key);
      within('popitem', () => receiver.take(key));
      return new Tuple([original, value]);
    }
    throw new StarlarkError('popitem: empty dict');
  },
  setdefault: (thread, receiver, args, kwargs) => {
    const [key, absent = null] = setdefaultArguments(args, kwargs);
    return within('setdefault', () => setDefault(thread, receiver, key, absent));
  },
  update: (thread, receiver, args, kwargs) => {
    updateDict(thread, 'update', receiver, { args, kwargs });
    return null;
  },
  values: (thread, receiver, args, kwargs) => {
    valuesArguments(args, kwargs);
    accountItems(thread, receiver.size);
    return new List([...receiver.map.values()]);
  },
});

/**
 * Entries from at most one dict or sequence of pairs, and from named arguments; errors carry the
 * name.
 */
export function updateDict(
  thread: Thread,
  name: string,
  dict: Dict,
  { args, kwargs }: { readonly args: readonly Value[]; readonly kwargs: Kwargs },
): void {
  if (args.length > 1)
    throw new StarlarkError(`${name}: got ${args.length} arguments, want at most 1`);
  try {
    const [source] = args;
    if (source instanceof Dict) copyEntries(thread, dict, source);
    else if (source !== undefined) addPairs(thread, dict, source);
    for (const [key, value] of kwargs ?? []) dictSet(thread, dict, key, value);
  } catch (error) {
    throw prefixed(name, error);
  }
}

function copyEntries(thread: Thread, dict: Dict, source: Dict): void {
  thread.account(source.size * (2 * SLOT_BYTES + OBJECT_BYTES));
  thread.step(Math.ceil(source.size / 8));
  // A copy of the entries first: a dict may be updated with itself.
  for (const [key, value] of [...source.map]) dict.put(key, source.original(key), value);
}

function addPairs(thread: Thread, dict: Dict, source: Value): void {
  const pairs = iterate(source);
  if (pairs === undefined) throw new StarlarkError(`got ${typeName(source)}, want iterable`);
  try {
    let index = 0;
    for (let pair = pairs.next(); pair !== undefined; pair = pairs.next()) {
      thread.step();
      const [key, value] = pairElements(thread, pair, index++);
      dictSet(thread, dict, key, value);
    }
  } finally {
    pairs.done();
  }
}

function pairElements(
  thread: Thread,
  pair: Value,
  index: number,
): readonly [key: Value, value: Value] {
  const place = `dictionary update sequence element #${index}`;
  const length = iterableLength(pair);
  if (length === undefined) throw new StarlarkError(`${place} is not iterable (${typeName(pair)})`);
  if (pair instanceof StringIterable)
    throw new StarlarkError(`${place} has unknown length (${typeName(pair)})`);
  if (length !== 2) throw new StarlarkError(`${place} has length ${length}, want 2`);
  const [key = null, value = null] = elementsOf(thread, pair) ?? [];
  return [key, value];
}

function namedKey(name: string, key: Value): Key {
  return typeof key === 'object' && key !== null ? within(name, () => keyOf(key)) : keyOf(key);
}

/**
 * A dict that never had an entry refuses no key: the reference has no table to look it up in then.
 */
function take(dict: Dict, key: Value): Value | undefined {
  dict.checkMutable('delete from');
  return dict.size === 0 ? undefined : dict.take(keyOf(key));
}

function setDefault(thread: Thread, dict: Dict, key: Value, absent: Value): Value {
  const present = dictGet(dict, key);
  if (present !== undefined) return present;
  dictSet(thread, dict, key, absent);
  return absent;
}

function pairsOf(thread: Thread, dict: Dict): Value[] {
  accountItems(thread, dict.size * 3);
  thread.account(dict.size * OBJECT_BYTES);
  const pairs: Value[] = [];
  for (const [key, value] of dict.map) pairs.push(new Tuple([dict.original(key), value]));
  return pairs;
}
