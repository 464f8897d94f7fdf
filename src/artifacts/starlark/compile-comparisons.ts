// Comparisons, with a quick way for numbers, and for strings where equality is asked.

import type { Evaluate } from './code.ts';
import { type ComparisonOperator, compare, equals } from './compare.ts';
import type { Frame, Position } from './frame.ts';
import type { Value } from './values.ts';

function slow(
  frame: Frame,
  position: Position,
  operator: ComparisonOperator,
  x: Value,
  y: Value,
): boolean {
  frame.position = position;
  return compare(frame.thread, operator, x, y);
}

export function compileComparison(
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
          : slow(frame, position, '<', x, y);
      };
    case '<=':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        return typeof x === 'number' && typeof y === 'number'
          ? x <= y
          : slow(frame, position, '<=', x, y);
      };
    case '>':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        return typeof x === 'number' && typeof y === 'number'
          ? x > y
          : slow(frame, position, '>', x, y);
      };
    case '>=':
      return (frame) => {
        const x = left(frame);
        const y = right(frame);
        return typeof x === 'number' && typeof y === 'number'
          ? x >= y
          : slow(frame, position, '>=', x, y);
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
