// The values of the language: None is null, bool is boolean, int is a safe number or a bigint,
// string is a byte string. Operations are beside it: compare.ts (equality, order), repr.ts (text),
// iterate.ts (elements), keys.ts (dict keys), kinds.ts (type names, truth). A function's code and
// its frames stand here too, because they hold values and values hold them.

import { StarlarkError } from './errors.ts';
import type { Position } from './position.ts';
import type { OpenCall, Signature, Thread } from './thread.ts';

/**
 * Any Starlark value. An int is a number when it is a safe integer and a bigint otherwise, never
 * the other way round; a string has one char per UTF-8 byte (char codes 0 to 255).
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | List
  | Tuple
  | Dict
  | Range
  | StringIterable
  | StarlarkFunction
  | Builtin
  | Module;

/** Named arguments in call order, or null when there are none. */
export type Kwargs = ReadonlyMap<string, Value> | null;

/** What a built-in does. It may keep neither `args` nor `kwargs`: callers reuse them. */
export type BuiltinCall = (thread: Thread, args: readonly Value[], kwargs: Kwargs) => Value;

/** A floating-point number; boxed, so that 1 and 1.0 stay apart. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A mutable list. Who changes `items` asks `checkMutable` first. */
export class List {
  items: Value[];
  frozen = false;
  /** How many loops run over it now. */
  iterators = 0;
  constructor(items: Value[]) {
    this.items = items;
  }
}

/** An immutable sequence. */
export class Tuple {
  readonly items: readonly Value[];
  /** Its text as a dict key, once asked for. */
  key: string | undefined = undefined;
  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/**
 * What a key is in the Map: strings, None, bools and ints are themselves; an integral float is the
 * int that it equals; a tuple is a text that no byte string can be; functions are themselves. See
 * `keyOf`.
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

/** What `range()` makes; `length` is derived once. All are safe integers. */
export class Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly length: number;
  constructor(start: number, stop: number, step: number) {
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.length = Math.max(0, Math.ceil((stop - start) / step));
  }
}

/**
 * What `elems`, `elem_ords`, `codepoints` and `codepoint_ords` of a string make: iterable, and
 * nothing else.
 */
export class StringIterable {
  readonly text: string;
  readonly codepoints: boolean;
  readonly ords: boolean;
  constructor(text: string, options: { readonly codepoints: boolean; readonly ords: boolean }) {
    this.text = text;
    this.codepoints = options.codepoints;
    this.ords = options.ords;
  }
}

/** A variable that a nested function shares with the function that owns it. */
export class Cell {
  value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** One module's variables: made afresh for each run of a program. */
export class Globals {
  readonly names: readonly string[];
  readonly values: (Value | undefined)[];
  readonly predeclared: readonly Value[];
  constructor(names: readonly string[], predeclared: readonly Value[]) {
    this.names = names;
    this.values = new Array<Value | undefined>(names.length).fill(undefined);
    this.predeclared = predeclared;
  }
}

/** Everything about a `def` or `lambda` that does not change from call to call. */
export class FunctionCode {
  readonly signature: Signature;
  /**
   * The number of arguments that fit without any further look, or -1: no defaults, stars or cells.
   */
  readonly plainCount: number;
  readonly body: (frame: Frame) => Value;
  /**
   * The frame that calls reuse: without recursion there is one open call of a function at a time.
   */
  readonly frame: Frame;

  constructor(signature: Signature, body: (frame: Frame) => Value) {
    this.signature = signature;
    const { parameters, positionalCount, cellSlots } = signature;
    this.plainCount =
      parameters.length === positionalCount && cellSlots.length === 0 ? positionalCount : -1;
    this.body = body;
    this.frame = new Frame(this);
  }
}

/** An open call with its variables. */
export class Frame implements OpenCall {
  readonly code: FunctionCode;
  /** Local variables; undefined is not yet assigned. */
  readonly slots: (Value | Cell | undefined)[];
  /** The place of the operation that may throw next. */
  position: Position = 0;
  /** The function's free variables. */
  cells: readonly Cell[] = [];
  // The next two are set when a call begins; nothing reads them before.
  globals!: Globals;
  thread!: Thread;
  caller: OpenCall | null = null;
  /** The built-in that made the call, if one did. */
  via: { readonly name: string } | null = null;
  active = false;
  result: Value = null;

  constructor(code: FunctionCode) {
    this.code = code;
    this.slots = new Array<Value | Cell | undefined>(code.signature.slotCount).fill(undefined);
  }
}

/** A `def` or `lambda`, closed over its module's globals and the cells of enclosing functions. */
export class StarlarkFunction {
  readonly code: FunctionCode;
  readonly globals: Globals;
  /**
   * Values of the parameters that have one, by parameter; undefined where an argument must be
   * given.
   */
  readonly defaults: readonly (Value | undefined)[];
  readonly cells: readonly Cell[];
  constructor(
    code: FunctionCode,
    globals: Globals,
    defaults: readonly (Value | undefined)[],
    cells: readonly Cell[],
  ) {
    this.code = code;
    this.globals = globals;
    this.defaults = defaults;
    this.cells = cells;
  }
}

/** A function of the host, or a method bound to its receiver. */
export class Builtin {
  readonly name: string;
  readonly call: BuiltinCall;
  /** Of a bound method; undefined otherwise (None is a value). */
  readonly receiver: Value | undefined;
  constructor(name: string, call: BuiltinCall, receiver?: Value) {
    this.name = name;
    this.call = call;
    this.receiver = receiver;
  }
}

/** A namespace with attributes that never change. */
export class Module {
  readonly name: string;
  readonly members: ReadonlyMap<string, Value>;
  constructor(name: string, members: ReadonlyMap<string, Value>) {
    this.name = name;
    this.members = members;
  }
}

/**
 * A method of a built-in type before it is bound; the receiver is of the type that the method was
 * looked up for.
 */
export interface Method {
  readonly name: string;
  readonly call: (thread: Thread, receiver: Value, args: readonly Value[], kwargs: Kwargs) => Value;
}

/** A function of the host. */
export function builtin(name: string, call: BuiltinCall): Builtin {
  return new Builtin(name, call);
}

/** A namespace of host values. */
export function namespace(name: string, members: Readonly<Record<string, Value>>): Module {
  return new Module(name, new Map(Object.entries(members)));
}
