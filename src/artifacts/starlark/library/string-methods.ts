// All methods of strings.

import { OBJECT_BYTES } from '../thread.ts';
import { StringIterable } from '../values.ts';
import { positional } from './arguments.ts';
import { braceFormat } from './brace-format.ts';
import { type MethodCalls, methodTable } from './method-table.ts';
import { caseMethods } from './string-case.ts';
import { searchMethods } from './string-search.ts';
import { splitMethods } from './string-split.ts';

/** By name, for receivers that are strings. */
export const stringMethods = methodTable<string>({
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
