// What kind a value is: the name of its type, and whether it counts as true.

import {
  Builtin,
  Dict,
  Float,
  List,
  Module,
  Range,
  StarlarkFunction,
  Tuple,
  type Value,
} from './values.ts';

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
