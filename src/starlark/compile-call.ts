// Calls. The usual ones, with positional arguments alone, have a way of their own for each small
// number of arguments.

import { noAttribute } from './attributes.ts';
import type { Argument, CallNode, DotNode } from './ast.ts';
import { enter, finish, invoke } from './call.ts';
import type { Compiler, Evaluate } from './code.ts';
import { findMethod } from './library/methods.ts';
import {
  Builtin,
  Dict,
  type Frame,
  List,
  type Method,
  Module,
  StarlarkFunction,
  type Value,
} from './values.ts';
import type { Position } from './position.ts';
import { multipleValues } from './bind-arguments.ts';
import { StarlarkError } from './errors.ts';
import { elementsOf } from './iterate.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from './thread.ts';
import { typeName } from './kinds.ts';

export function compileCall(compiler: Compiler, node: CallNode): Evaluate {
  const plain = node.args.every(({ kind }) => kind === 'positional');
  if (plain && node.callee.kind === 'dot') return compileMethodCall(compiler, node.callee, node);
  const callee = compiler.expression(node.callee);
  if (!plain) return compileSpreadCall(compiler, callee, node);
  const args = compileArguments(compiler, node.args);
  return callWith(callee, args, compiler.emit(node.position));
}

function compileArguments(compiler: Compiler, args: readonly Argument[]): readonly Evaluate[] {
  return args.map(({ value }) => compiler.expression(value));
}

function callWith(callee: Evaluate, args: readonly Evaluate[], position: Position): Evaluate {
  const [first, second, third] = args;
  if (first === undefined) return callNone(callee, position);
  if (second === undefined) return callOne(callee, first, position);
  if (third === undefined) return callTwo(callee, first, second, position);
  return callMany(callee, args, position);
}

function callNone(callee: Evaluate, position: Position): Evaluate {
  return (frame) => {
    const target = callee(frame);
    frame.position = position;
    const { thread } = frame;
    if (target instanceof StarlarkFunction && target.code.plainCount === 0)
      return finish(thread, enter(thread, target));
    return invoke(thread, target, [], null);
  };
}

function callOne(callee: Evaluate, first: Evaluate, position: Position): Evaluate {
  return (frame) => {
    const target = callee(frame);
    const x = first(frame);
    frame.position = position;
    const { thread } = frame;
    if (target instanceof StarlarkFunction && target.code.plainCount === 1) {
      const inner = enter(thread, target);
      inner.slots[0] = x;
      return finish(thread, inner);
    }
    return invoke(thread, target, [x], null);
  };
}

function callTwo(
  callee: Evaluate,
  first: Evaluate,
  second: Evaluate,
  position: Position,
): Evaluate {
  return (frame) => {
    const target = callee(frame);
    const x = first(frame);
    const y = second(frame);
    frame.position = position;
    const { thread } = frame;
    if (target instanceof StarlarkFunction && target.code.plainCount === 2) {
      const inner = enter(thread, target);
      inner.slots[0] = x;
      inner.slots[1] = y;
      return finish(thread, inner);
    }
    return invoke(thread, target, [x, y], null);
  };
}

function evaluateAll(frame: Frame, args: readonly Evaluate[]): Value[] {
  const values: Value[] = [];
  for (const argument of args) values.push(argument(frame));
  return values;
}

function callMany(callee: Evaluate, args: readonly Evaluate[], position: Position): Evaluate {
  return (frame) => {
    const target = callee(frame);
    const values = evaluateAll(frame, args);
    frame.position = position;
    const { thread } = frame;
    if (target instanceof StarlarkFunction && target.code.plainCount === values.length) {
      const inner = enter(thread, target);
      for (let index = 0; index < values.length; index++) inner.slots[index] = values[index];
      return finish(thread, inner);
    }
    return invoke(thread, target, values, null);
  };
}

/**
 * `x.name(args)`: a method is found by its receiver's type when compiled, and called without being
 * bound.
 */
function compileMethodCall(compiler: Compiler, callee: DotNode, node: CallNode): Evaluate {
  const object = compiler.expression(callee.object);
  const methodFor = methodFinder(callee.name, compiler.emit(callee.position));
  const args = compileArguments(compiler, node.args);
  const position = compiler.emit(node.position);
  const [only] = args;
  const evaluate =
    only !== undefined && args.length === 1
      ? (frame: Frame) => [only(frame)]
      : (frame: Frame) => evaluateAll(frame, args);
  return (frame) => {
    const receiver = object(frame);
    const found = methodFor(frame, receiver);
    const values = evaluate(frame);
    frame.position = position;
    const { thread } = frame;
    if (!('receives' in found)) return invoke(thread, found.member, values, null);
    if (++thread.steps > thread.maxSteps) thread.outOfSteps();
    thread.calling = found;
    const result = found.receives(thread, receiver, values, null);
    thread.calling = null;
    return result;
  };
}

/** A method to be called with its receiver, or a namespace's member to be called alone. */
type Found =
  | { readonly name: string; readonly receives: Method['call'] }
  | { readonly member: Value };

function methodFinder(name: string, position: Position): (frame: Frame, receiver: Value) => Found {
  const ofString = methodOn('', name);
  const ofList = methodOn(new List([]), name);
  const ofDict = methodOn(new Dict(), name);
  return (frame, receiver) => {
    if (typeof receiver === 'string' && ofString !== undefined) return ofString;
    if (receiver instanceof List && ofList !== undefined) return ofList;
    if (receiver instanceof Dict && ofDict !== undefined) return ofDict;
    frame.position = position;
    const member = receiver instanceof Module ? receiver.members.get(name) : undefined;
    if (member === undefined) throw noAttribute(receiver, name);
    return { member };
  };
}

function methodOn(receiver: Value, name: string): Found | undefined {
  const method = findMethod(receiver, name);
  return method === undefined ? undefined : { name, receives: method.call };
}

interface Compiled {
  readonly kind: Argument['kind'];
  readonly name: string;
  readonly value: Evaluate;
}

function compileSpreadCall(compiler: Compiler, callee: Evaluate, node: CallNode): Evaluate {
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
    if (typeof key !== 'string' || value.original(key) !== key)
      throw new StarlarkError(`keywords must be strings, not ${typeName(value.original(key))}`);
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
