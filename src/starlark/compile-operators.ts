// Operators, with quick ways for numbers and strings. Everything else is in operators.ts and
// compare.ts.

import type { BinaryNode, Expression, UnaryNode } from './ast.ts';
import type { Compiler, Evaluate } from './code.ts';
import { compare, type ComparisonOperator, equals } from './compare.ts';
import { branch } from './compile-condition.ts';
import { compileSum } from './compile-sum.ts';
import { binary, type BinaryOperator, unary } from './operators.ts';
import type { Frame, Value } from './values.ts';
import { truth } from './kinds.ts';
import type { Position } from './position.ts';

const MAX = Number.MAX_SAFE_INTEGER;

export function compileBinary(compiler: Compiler, node: BinaryNode): Evaluate {
  if (node.operator === 'and' || node.operator === 'or') return compileLogic(compiler, node);
  if (node.operator === '+') return compileSum(compiler, node);
  const left = compiler.expression(node.left);
  const right = compiler.expression(node.right);
  const position = compiler.emit(node.position);
  if (isComparison(node.operator)) return compileComparison(node.operator, left, right, position);
  // The parser makes no other operators.
  return arithmetic(node.operator as BinaryOperator, left, right, position);
}

function isComparison(operator: string): operator is ComparisonOperator {
  return ['==', '!=', '<', '<=', '>', '>='].includes(operator);
}

/** Where an operation goes that has no quick way. */
function slow(
  frame: Frame,
  position: Position,
  operator: BinaryOperator,
  x: Value,
  y: Value,
): Value {
  frame.position = position;
  return binary(frame.thread, operator, x, y);
}

/** The operator on two values that are there already, as augmented assignments need it. */
export function arithmetic(
  operator: BinaryOperator,
  left: Evaluate,
  right: Evaluate,
  position: Position,
): Evaluate {
  switch (operator) {
    case '-':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        if (typeof x === 'number' && typeof y === 'number') {
          const z = x - y;
          if (z <= MAX && z >= -MAX) return z;
        }
        return slow(frame, position, '-', x, y);
      };
    case '*':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        if (typeof x === 'number' && typeof y === 'number') {
          const z = x * y;
          // Adding 0 makes -0 a 0.
          if (z <= MAX && z >= -MAX) return z + 0;
        }
        return slow(frame, position, '*', x, y);
      };
    case '//':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        // Exact for safe integers: see divideInts.
        if (typeof x === 'number' && typeof y === 'number' && y !== 0) return Math.floor(x / y) + 0;
        return slow(frame, position, '//', x, y);
      };
    case '%':
      return modulo(left, right, position);
    case '&':
    case '|':
    case '^':
      return bits(operator, left, right, position);
    case '/':
    case '+':
    case '<<':
    case '>>':
    case 'in':
    case 'not in':
      return (frame) => {
        const x = left(frame);
        return slow(frame, position, operator, x, right(frame));
      };
  }
}

function modulo(left: Evaluate, right: Evaluate, position: Position): Evaluate {
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    // Only where no sign has to be mended.
    if (typeof x === 'number' && typeof y === 'number' && x >= 0 && y > 0) return x % y;
    return slow(frame, position, '%', x, y);
  };
}

function bits(
  operator: '&' | '|' | '^',
  left: Evaluate,
  right: Evaluate,
  position: Position,
): Evaluate {
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (typeof x === 'number' && typeof y === 'number' && (x | 0) === x && (y | 0) === y) {
      if (operator === '&') return x & y;
      return operator === '|' ? x | y : x ^ y;
    }
    return slow(frame, position, operator, x, y);
  };
}

function compileLogic(compiler: Compiler, node: BinaryNode): Evaluate {
  const left = compiler.expression(node.left);
  if (node.operator === 'and') {
    const right = branch(() => compiler.expression(node.right));
    compiler.fork(() => {}, right.place);
    const then = right.compiled();
    return (frame) => {
      const x = left(frame);
      return truth(x) ? then(frame) : x;
    };
  }
  const right = compiler.expression(node.right);
  return (frame) => {
    const x = left(frame);
    return truth(x) ? x : right(frame);
  };
}

export function compileUnary(compiler: Compiler, node: UnaryNode): Evaluate {
  const operand = compiler.expression(node.operand);
  const position = compiler.emit(node.position);
  const { operator } = node;
  if (operator === 'not') return (frame) => !truth(operand(frame));
  const constant = literalNumber(node.operand);
  if (operator === '-' && constant !== undefined && constant !== 0) return () => -constant;
  return (frame) => {
    const x = operand(frame);
    frame.position = position;
    return unary(frame.thread, operator, x);
  };
}

function literalNumber(node: Expression): number | undefined {
  return node.kind === 'literal' && typeof node.value === 'number' ? node.value : undefined;
}

function compareSlowly(
  frame: Frame,
  position: Position,
  operator: ComparisonOperator,
  x: Value,
  y: Value,
): boolean {
  frame.position = position;
  return compare(frame.thread, operator, x, y);
}

function compileComparison(
  operator: ComparisonOperator,
  left: Evaluate,
  right: Evaluate,
  position: Position,
): Evaluate {
  switch (operator) {
    case '==':
      return equality(left, right, position);
    case '!=':
      return inequality(left, right, position);
    case '<':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        return typeof x === 'number' && typeof y === 'number'
          ? x < y
          : compareSlowly(frame, position, '<', x, y);
      };
    case '<=':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        return typeof x === 'number' && typeof y === 'number'
          ? x <= y
          : compareSlowly(frame, position, '<=', x, y);
      };
    case '>':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        return typeof x === 'number' && typeof y === 'number'
          ? x > y
          : compareSlowly(frame, position, '>', x, y);
      };
    case '>=':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        return typeof x === 'number' && typeof y === 'number'
          ? x >= y
          : compareSlowly(frame, position, '>=', x, y);
      };
  }
}

function equality(left: Evaluate, right: Evaluate, position: Position): Evaluate {
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (typeof x === 'number' && typeof y === 'number') return x === y;
    if (typeof x === 'string') return x === y;
    frame.position = position;
    return equals(frame.thread, x, y);
  };
}

function inequality(left: Evaluate, right: Evaluate, position: Position): Evaluate {
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (typeof x === 'number' && typeof y === 'number') return x !== y;
    if (typeof x === 'string') return x !== y;
    frame.position = position;
    return !equals(frame.thread, x, y);
  };
}
