// Calls. The usual ones, with positional arguments alone, have a way of their own for each small number of arguments.

import { noAttribute } from './attributes.ts';
import type { Argument, CallNode, DotNode } from './ast.ts';
import { enter, finish, invoke } from './call.ts';
import type { Compiler, Evaluate } from './code.ts';
import { compileSpreadCall } from './compile-spread-call.ts';
import type { Frame, Position } from './frame.ts';
import { findMethod } from './library/methods.ts';
import { Dict, List, type Method, Module, StarlarkFunction, type Value } from './values.ts';

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

/** `x.name(args)`: a method is found by its receiver's type when compiled, and called without being bound. */
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
    const found =
      typeof receiver === 'string'
        ? ofString
        : receiver instanceof List
          ? ofList
          : receiver instanceof Dict
            ? ofDict
            : undefined;
    if (found !== undefined) return found;
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
