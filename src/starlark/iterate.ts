// The elements of iterable values, with the lock that keeps a value from changing while it is
// iterated.

import { decodeCodepoint } from './bytes.ts';
import { StarlarkError } from './errors.ts';
import { SLOT_BYTES, type Thread } from './thread.ts';
import { Dict, List, Range, StringIterable, Tuple, type Value } from './values.ts';
import { typeName } from './kinds.ts';

/**
 * Elements one after the other. `done` must be called in the end, in a `finally`: it opens the
 * value for changes again.
 */
export interface ValueIterator {
  next(): Value | undefined;
  done(): void;
}

/**
 * The elements of a value, or undefined when it is not iterable. A string is not. Takes no steps:
 * who loops does.
 */
export function iterate(value: Value): ValueIterator | undefined {
  if (value instanceof List) return lockedIterator(value, value.items);
  if (value instanceof Tuple) return itemIterator(value.items, () => {});
  if (value instanceof Dict) return lockedIterator(value, value.keys());
  if (value instanceof Range) return rangeIterator(value);
  if (value instanceof StringIterable) return stringIterator(value);
  return undefined;
}

/** Whether `for x in value` works. */
export function isIterable(value: Value): value is List | Tuple | Dict | Range | StringIterable {
  return typeof value === 'object' && value !== null && iterableLength(value) !== undefined;
}

/**
 * How many elements an iterable has (for a string iterable: at most); undefined when it is not one.
 */
export function iterableLength(value: Value): number | undefined {
  if (value instanceof List || value instanceof Tuple) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof Range) return value.length;
  if (value instanceof StringIterable) return value.text.length;
  return undefined;
}

/**
 * All elements at once, accounted before they are made, or undefined when the value is not
 * iterable. The array may be the value's own: it is for reading, and not across anything that runs
 * the program's code.
 */
export function elementsOf(thread: Thread, value: Value): readonly Value[] | undefined {
  if (value instanceof List || value instanceof Tuple) return value.items;
  const length = iterableLength(value);
  if (length === undefined) return undefined;
  thread.account(length * SLOT_BYTES);
  thread.step(length);
  if (value instanceof Dict) return value.keys();
  const elements: Value[] = [];
  const iterator = iterate(value);
  for (let item = iterator?.next(); item !== undefined; item = iterator?.next())
    elements.push(item);
  return elements;
}

/**
 * Throws when a list must not change now. `verb` is part of the message: "cannot append to frozen
 * list".
 */
export function checkMutable(list: List, verb: string): void {
  if (list.frozen) throw new StarlarkError(`cannot ${verb} frozen list`);
  if (list.iterators > 0) throw new StarlarkError(`cannot ${verb} list during iteration`);
}

/** Elements or the error that a loop has: `for` over a value that is not iterable. */
export function iterateOrThrow(value: Value): ValueIterator {
  const iterator = iterate(value);
  if (iterator === undefined) throw new StarlarkError(`${typeName(value)} value is not iterable`);
  return iterator;
}

function lockedIterator(value: List | Dict, items: readonly Value[]): ValueIterator {
  if (value.frozen) return itemIterator(items, () => {});
  value.iterators++;
  return itemIterator(items, () => {
    value.iterators--;
  });
}

function itemIterator(items: readonly Value[], done: () => void): ValueIterator {
  let index = 0;
  return { next: () => (index < items.length ? items[index++] : undefined), done };
}

function rangeIterator({ start, step, length }: Range): ValueIterator {
  let index = 0;
  return { next: () => (index < length ? start + step * index++ : undefined), done: () => {} };
}

function stringIterator({ text, codepoints, ords }: StringIterable): ValueIterator {
  let index = 0;
  const next = (): Value | undefined => {
    if (index >= text.length) return undefined;
    const start = index;
    const [codepoint, size] = codepoints
      ? decodeCodepoint(text, start)
      : [text.charCodeAt(start), 1];
    index += size;
    return ords ? codepoint : text.slice(start, index);
  };
  return { next, done: () => {} };
}
