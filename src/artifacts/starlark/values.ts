// The values of the language: None is null, bool is boolean, int is a safe number or a bigint, string is a byte string.
// Operations are beside it: compare.ts (equality, order), repr.ts (text), iterate.ts (elements), keys.ts (dict keys).

import { Dict } from './dict.ts';
import type { Cell, FunctionCode, Globals } from './frame.ts';
import type { Thread } from './thread.ts';

export { Dict };

/**
 * Any Starlark value. An int is a number when it is a safe integer and a bigint otherwise, never the other way round; a
 * string has one char per UTF-8 byte (char codes 0 to 255).
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

/** What `elems`, `elem_ords`, `codepoints` and `codepoint_ords` of a string make: iterable, and nothing else. */
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

/** A `def` or `lambda`, closed over its module's globals and the cells of enclosing functions. */
export class StarlarkFunction {
  readonly code: FunctionCode;
  readonly globals: Globals;
  /** Values of the parameters that have one, by parameter; undefined where an argument must be given. */
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

/** A method of a built-in type before it is bound; the receiver is of the type that the method was looked up for. */
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

/** The name that `type(x)` answers. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'object':
    case 'function':
    case 'symbol':
    case 'undefined':
      return objectTypeName(value);
  }
}

function objectTypeName(value: Exclude<Value, string | number | bigint | boolean>): string {
  if (value === null) return 'NoneType';
  if (value instanceof List) return 'list';
  if (value instanceof Dict) return 'dict';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof Float) return 'float';
  if (value instanceof StarlarkFunction) return 'function';
  if (value instanceof Builtin) return 'builtin_function_or_method';
  if (value instanceof Range) return 'range';
  if (value instanceof Module) return 'module';
  return value.codepoints ? 'codepoints' : 'elems';
}

/** Whether `if value:` takes the branch. */
export function truth(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return true;
    case 'object':
    case 'function':
    case 'symbol':
    case 'undefined':
      return objectTruth(value);
  }
}

function objectTruth(value: Exclude<Value, string | number | bigint | boolean>): boolean {
  if (value === null) return false;
  if (value instanceof List || value instanceof Tuple) return value.items.length > 0;
  if (value instanceof Dict) return value.size > 0;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Range) return value.length > 0;
  return true;
}
