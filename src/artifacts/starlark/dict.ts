// Dicts: insertion order, and keys that are equal in the language meet in one JavaScript Map.

import { StarlarkError } from './errors.ts';
import type { Value } from './values.ts';

/**
 * What a key is in the Map: strings, None, bools and ints are themselves; an integral float is the int that it equals; a
 * tuple is a text that no byte string can be; functions are themselves. See `keyOf`.
 */
export type Key = Value;

/** A mutable mapping. Who changes it asks `checkMutable` first, which `put` and `take` do. */
export class Dict {
  readonly map = new Map<Key, Value>();
  /** The keys that differ from their form in the Map (floats, tuples). */
  originals: Map<Key, Value> | null = null;
  frozen = false;
  /** How many loops run over it now. */
  iterators = 0;

  get size(): number {
    return this.map.size;
  }

  /** Sets an entry whose key form is known; `original` is the key as the program wrote it. */
  put(key: Key, original: Value, value: Value): void {
    if (this.frozen || this.iterators > 0) this.refuse('insert into');
    if (key !== original && !this.map.has(key)) (this.originals ??= new Map()).set(key, original);
    this.map.set(key, value);
  }

  /** Removes an entry and answers its value, or undefined when there is none. */
  take(key: Key): Value | undefined {
    this.checkMutable('delete from');
    const value = this.map.get(key);
    if (value === undefined) return undefined;
    this.map.delete(key);
    this.originals?.delete(key);
    return value;
  }

  clear(): void {
    this.checkMutable('clear');
    this.map.clear();
    this.originals = null;
  }

  /** The keys as the program wrote them, in order: a new array. */
  keys(): Value[] {
    const { originals } = this;
    const keys = [...this.map.keys()];
    return originals === null ? keys : keys.map((key) => originals.get(key) ?? key);
  }

  /** A key as the program wrote it. */
  original(key: Key): Value {
    return this.originals?.get(key) ?? key;
  }

  checkMutable(verb: 'insert into' | 'delete from' | 'clear'): void {
    if (this.frozen || this.iterators > 0) this.refuse(verb);
  }

  private refuse(verb: string): never {
    throw new StarlarkError(
      this.frozen
        ? `cannot ${verb} frozen hash table`
        : `cannot ${verb} hash table during iteration`,
    );
  }
}
