// Expressions: each node to the part of the compiler that knows it.

import type { Expression, IndexNode, SliceNode } from './ast.ts';
import { getAttribute } from './attributes.ts';
import type { Compiler, Evaluate } from './code.ts';
import { compileCall } from './compile-call.ts';
import { compileConditional } from './compile-condition.ts';
import { compileComprehension, compileDict, compileSequence } from './compile-collections.ts';
import { compileRead } from './compile-names.ts';
import { compileBinary, compileUnary } from './compile-operators.ts';
import { getIndex, slice } from './indexing.ts';
import { Dict, List } from './values.ts';

export function compileExpression(compiler: Compiler, node: Expression): Evaluate {
  switch (node.kind) {
    case 'name':
      return compileRead(compiler, node);
    case 'literal': {
      compiler.emit();
      const { value } = node;
      return () => value;
    }
    case 'list':
    case 'tuple':
      return compileSequence(compiler, node);
    case 'dict':
      return compileDict(compiler, node);
    case 'comprehension':
      return compileComprehension(compiler, node);
    case 'conditional':
      return compileConditional(compiler, node);
    case 'index':
      return compileIndex(compiler, node);
    case 'slice':
      return compileSlice(compiler, node);
    case 'dot':
      return compileDot(compiler, node);
    case 'call':
      return compileCall(compiler, node);
    case 'unary':
      return compileUnary(compiler, node);
    case 'binary':
      return compileBinary(compiler, node);
    case 'lambda':
      return compiler.definition(node.definition);
    case 'paren':
      return compiler.expression(node.inner);
  }
}

function compileDot(compiler: Compiler, node: Extract<Expression, { kind: 'dot' }>): Evaluate {
  const object = compiler.expression(node.object);
  const position = compiler.emit(node.position);
  const { name } = node;
  return (frame) => {
    const value = object(frame);
    frame.position = position;
    return getAttribute(value, name);
  };
}

function compileIndex(compiler: Compiler, node: IndexNode): Evaluate {
  const object = compiler.expression(node.object);
  const index = compiler.expression(node.index);
  const position = compiler.emit(node.position);
  return (frame) => {
    const x = object(frame);
    const y = index(frame);
    if (typeof y === 'number' && y >= 0 && x instanceof List) {
      const item = x.items[y];
      if (item !== undefined) return item;
    } else if (typeof y === 'string' && x instanceof Dict) {
      const value = x.map.get(y);
      if (value !== undefined) return value;
    }
    frame.position = position;
    return getIndex(frame.thread, x, y);
  };
}

function compileSlice(compiler: Compiler, node: SliceNode): Evaluate {
  compiler.expect(node.position);
  const object = compiler.expression(node.object);
  const [low, high, step] = [node.low, node.high, node.step].map((bound) =>
    compileBound(compiler, bound),
  );
  const position = compiler.emit();
  return (frame) => {
    const value = object(frame);
    const bounds = {
      low: low?.(frame) ?? null,
      high: high?.(frame) ?? null,
      step: step?.(frame) ?? null,
    };
    frame.position = position;
    return slice(frame.thread, value, bounds);
  };
}

function compileBound(compiler: Compiler, bound: Expression | null): Evaluate {
  if (bound !== null) return compiler.expression(bound);
  compiler.emit();
  return () => null;
}
