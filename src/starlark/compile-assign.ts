// Assignments: to names, elements, fields, and several at once.

import type { Expression, IndexNode, NameNode, Statement } from './ast.ts';
import { getAttribute, setAttribute } from './attributes.ts';
import { type Assign, type Compiler, type Evaluate, type Execute, NORMAL } from './code.ts';
import { arithmetic } from './compile-operators.ts';
import { compileRead, compileWrite, localSlot } from './compile-names.ts';
import { add } from './compile-sum.ts';
import { unparenthesised } from './cursor.ts';
import { StarlarkError } from './errors.ts';
import type { Position } from './position.ts';
import { getIndex, setIndex } from './indexing.ts';
import { checkMutable, elementsOf, isIterable, iterate } from './iterate.ts';
import type { BinaryOperator } from './operators.ts';
import { SLOT_BYTES, type Thread } from './thread.ts';
import { Dict, List, StringIterable, Tuple, type Value } from './values.ts';
import { typeName } from './kinds.ts';

type AssignStatement = Extract<Statement, { kind: 'assign' }>;

export function compileAssignment(compiler: Compiler, statement: AssignStatement): Execute {
  if (statement.operator !== '=') return compileAugmented(compiler, statement);
  const value = compiler.expression(statement.value);
  const target = unparenthesised(statement.target);
  const slot = target.kind === 'name' ? localSlot(target) : undefined;
  const assign = compiler.target(target, statement.position);
  if (slot !== undefined)
    return (frame) => {
      frame.slots[slot] = value(frame);
      return NORMAL;
    };
  return (frame) => {
    assign(frame, value(frame));
    return NORMAL;
  };
}

/**
 * Where an assignment puts its value. `position` is the assignment's own, for values that do not
 * fit several targets.
 */
export function compileTarget(compiler: Compiler, node: Expression, position: Position): Assign {
  switch (node.kind) {
    case 'name':
      return compileWrite(compiler, node);
    case 'paren':
      return compiler.target(node.inner, position);
    case 'list':
    case 'tuple':
      return compileUnpacking(compiler, node.items, position);
    case 'index':
      return compileElement(compiler, node);
    case 'dot': {
      const object = compiler.expression(node.object);
      const at = compiler.emit(node.position);
      return (frame) => {
        const target = object(frame);
        frame.position = at;
        setAttribute(target, node.name);
      };
    }
    case 'binary':
    case 'call':
    case 'comprehension':
    case 'conditional':
    case 'dict':
    case 'lambda':
    case 'literal':
    case 'slice':
    case 'unary':
      throw new Error(`not a target: ${node.kind}`);
  }
}

function compileElement(compiler: Compiler, node: IndexNode): Assign {
  const object = compiler.expression(node.object);
  const index = compiler.expression(node.index);
  const at = compiler.emit(node.position);
  return (frame, value) => {
    const target = object(frame);
    const key = index(frame);
    frame.position = at;
    setIndex(frame.thread, target, key, value);
  };
}

function compileUnpacking(
  compiler: Compiler,
  nodes: readonly Expression[],
  position: Position,
): Assign {
  const at = compiler.emit(position);
  const targets = nodes.map((node) => compiler.target(node, position));
  return (frame, value) => {
    frame.position = at;
    const items = unpack(frame.thread, value, targets.length);
    // `unpack` has counted.
    for (let index = 0; index < targets.length; index++)
      targets[index]?.(frame, items[index] as Value);
  };
}

function unpack(thread: Thread, value: Value, want: number): readonly Value[] {
  if (value instanceof Tuple && value.items.length === want) return value.items;
  if (!isIterable(value)) throw new StarlarkError(`got ${typeName(value)} in sequence assignment`);
  const items = firstItems(value, want + 1);
  if (items.length > want)
    throw new StarlarkError(`too many values to unpack (got ${knownLength(value)}, want ${want})`);
  if (items.length < want)
    throw new StarlarkError(`too few values to unpack (got ${items.length}, want ${want})`);
  thread.account(want * SLOT_BYTES);
  return items;
}

/** No more elements than are needed to see whether they are too many. */
function firstItems(value: Value, most: number): readonly Value[] {
  const items: Value[] = [];
  const iterator = iterate(value);
  for (let item = iterator?.next(); item !== undefined; item = iterator?.next()) {
    items.push(item);
    if (items.length === most) break;
  }
  iterator?.done();
  return items;
}

/** String iterables have no length to tell. */
function knownLength(value: Value): number {
  if (value instanceof List || value instanceof Tuple) return value.items.length;
  if (value instanceof Dict) return value.size;
  return value instanceof StringIterable ||
    typeof value !== 'object' ||
    value === null ||
    !('length' in value)
    ? -1
    : value.length;
}

function compileAugmented(compiler: Compiler, statement: AssignStatement): Execute {
  const target = unparenthesised(statement.target);
  if (target.kind === 'name') return augmentName(compiler, target, statement);
  if (target.kind === 'index') return augmentElement(compiler, target, statement);
  if (target.kind !== 'dot') throw new Error(`not a target: ${target.kind}`);
  const object = compiler.expression(target.object);
  const position = compiler.emit(target.position);
  const { right } = combined(compiler, statement);
  return (frame) => {
    const value = object(frame);
    frame.position = position;
    getAttribute(value, target.name);
    right(frame);
    frame.position = position;
    return setAttribute(value, target.name);
  };
}

function augmentName(compiler: Compiler, target: NameNode, statement: AssignStatement): Execute {
  const read = compileRead(compiler, target);
  const { right, position } = combined(compiler, statement);
  const result = combine(statement.operator, read, right, position);
  const slot = localSlot(target);
  const write = compileWrite(compiler, target);
  if (slot !== undefined)
    return (frame) => {
      frame.slots[slot] = result(frame);
      return NORMAL;
    };
  return (frame) => {
    write(frame, result(frame));
    return NORMAL;
  };
}

/**
 * The object and the index are evaluated once. They wait on a stack: the operands between may run
 * the same code.
 */
function augmentElement(
  compiler: Compiler,
  target: IndexNode,
  statement: AssignStatement,
): Execute {
  const object = compiler.expression(target.object);
  const index = compiler.expression(target.index);
  const position = compiler.emit(target.position);
  const operands = combined(compiler, statement);
  compiler.emit(target.position);
  return (frame) => {
    const [container, key] = [object(frame), index(frame)];
    frame.position = position;
    const old = getIndex(frame.thread, container, key);
    const value = combine(statement.operator, () => old, operands.right, operands.position)(frame);
    frame.position = position;
    setIndex(frame.thread, container, key, value);
    return NORMAL;
  };
}

function combined(
  compiler: Compiler,
  statement: AssignStatement,
): { readonly right: Evaluate; readonly position: Position } {
  const right = compiler.expression(statement.value);
  return { right, position: compiler.emit(statement.position) };
}

function combine(operator: string, left: Evaluate, right: Evaluate, position: Position): Evaluate {
  // The parser makes no other operators.
  return operator === '+'
    ? addInPlace(left, right, position)
    : arithmetic(operator as BinaryOperator, left, right, position);
}

/** `x += y`: a list takes the elements of any iterable in. */
function addInPlace(left: Evaluate, right: Evaluate, position: Position): Evaluate {
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (typeof x === 'number' && typeof y === 'number') {
      const z = x + y;
      if (Number.isSafeInteger(z)) return z;
    }
    if (!(x instanceof List && isIterable(y))) return sumOf(x, y, position)(frame);
    frame.position = position;
    checkMutable(x, 'apply += to');
    extend(frame.thread, x, y);
    return x;
  };
}

function sumOf(x: Value, y: Value, position: Position): Evaluate {
  return add(
    () => x,
    () => y,
    position,
  );
}

function extend(thread: Thread, list: List, value: Value): void {
  const items = elementsOf(thread, value) ?? [];
  thread.account(items.length * SLOT_BYTES);
  // The length is read first: a list may be added to itself.
  for (let index = 0, { length } = items; index < length; index++)
    list.items.push(items[index] as Value);
}
