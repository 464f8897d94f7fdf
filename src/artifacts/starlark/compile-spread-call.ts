// Calls with named arguments, `*args` or `**kwargs`.

import type { Argument, CallNode } from './ast.ts';
import { multipleValues } from './bind-arguments.ts';
import { enter, invoke } from './call.ts';
import type { Compiler, Evaluate } from './code.ts';
import { StarlarkError } from './errors.ts';
import { elementsOf } from './iterate.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from './thread.ts';
import { Builtin, Dict, StarlarkFunction, typeName, type Value } from './values.ts';

interface Compiled {
  readonly kind: Argument['kind'];
  readonly name: string;
  readonly value: Evaluate;
}

export function compileSpreadCall(compiler: Compiler, callee: Evaluate, node: CallNode): Evaluate {
  // The order of the source is the order of evaluation: the resolver allows no other.
  const args: readonly Compiled[] = node.args.map(({ kind, name, value }) => ({
    kind,
    name,
    value: compiler.expression(value),
  }));
  const position = compiler.emit(node.position);
  return (frame) => {
    const target = callee(frame);
    const values = args.map(({ value }) => value(frame));
    frame.position = position;
    const { thread } = frame;
    const { positional, named } = collect(thread, target, args, values);
    return invoke(thread, target, positional, named.size > 0 ? named : null);
  };
}

function collect(
  thread: Thread,
  target: Value,
  args: readonly Compiled[],
  values: readonly Value[],
) {
  const positional: Value[] = [];
  const named = new Map<string, Value>();
  thread.account(OBJECT_BYTES + values.length * SLOT_BYTES);
  // A wrong `**` operand is told before a wrong `*` operand.
  const spread = args.findIndex(({ kind }) => kind === '**');
  const entries = spread < 0 ? undefined : mapping(values[spread] ?? null);
  for (const [index, { kind, name }] of args.entries()) {
    // There is a value for each argument.
    const value = values[index] as Value;
    if (kind === 'positional') positional.push(value);
    else if (kind === 'named') named.set(name, value);
    else if (kind === '*') spreadItems(thread, positional, value);
  }
  if (entries !== undefined) spreadEntries(thread, target, named, entries);
  return { positional, named };
}

function spreadItems(thread: Thread, positional: Value[], value: Value): void {
  const items = elementsOf(thread, value);
  if (items === undefined)
    throw new StarlarkError(`argument after * must be iterable, not ${typeName(value)}`);
  thread.account(items.length * SLOT_BYTES);
  for (const item of items) positional.push(item);
}

function mapping(value: Value): Dict {
  if (!(value instanceof Dict))
    throw new StarlarkError(`argument after ** must be a mapping, not ${typeName(value)}`);
  for (const key of value.map.keys()) {
    if (typeof key !== 'string' || value.original(key) !== key) {
      throw new StarlarkError(`keywords must be strings, not ${typeName(value.original(key))}`);
    }
  }
  return value;
}

function spreadEntries(
  thread: Thread,
  target: Value,
  named: Map<string, Value>,
  entries: Dict,
): void {
  thread.account(entries.size * SLOT_BYTES);
  for (const [key, value] of entries.map) {
    // All keys are strings: `mapping` has looked.
    const name = key as string;
    if (named.has(name)) throw twice(thread, target, name);
    named.set(name, value);
  }
}

function twice(thread: Thread, target: Value, name: string): StarlarkError {
  if (target instanceof StarlarkFunction) {
    // It is the called function that refuses them: its call is open when the error is located.
    enter(thread, target);
    return multipleValues(target.code.signature.name, name);
  }
  const callee = target instanceof Builtin ? target.name : typeName(target);
  if (callee === 'dict' || callee === 'update')
    return new StarlarkError(`${callee}: duplicate keyword arg: "${name}"`);
  return new StarlarkError(`${callee}: got multiple values for keyword argument "${name}"`);
}
