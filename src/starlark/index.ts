// The Starlark language: compile a source, run it within budgets, exchange values with it.

export { callValue } from './call.ts';
export { fromStarlark, toStarlark } from './convert.ts';
export { StarlarkError, type StarlarkErrorKind, type TracebackEntry } from './errors.ts';
export { freeze } from './convert.ts';
export {
  type CompileOptions,
  compileStarlark,
  type Program,
  type RunOptions,
  runProgram,
} from './program.ts';
export { typeName } from './kinds.ts';
export { newThread, Thread, type ThreadOptions } from './thread.ts';
export {
  Builtin,
  type BuiltinCall,
  builtin,
  Dict,
  Float,
  type Kwargs,
  List,
  Module,
  namespace,
  Range,
  StarlarkFunction,
  Tuple,
  type Value,
} from './values.ts';
