/** What a script calls, read from its text. */

import { isObject } from '../../core/json.ts';
import type { Position, ScriptText } from '../artifact.ts';
import type { Argument, Expression } from '../starlark/ast.ts';
import { columnOf, lineOf } from '../starlark/frame.ts';
import { statementsOf } from './check-scripts.ts';

export interface ScriptCall extends Position {
  /** `fs.read`, or the name of a function. */
  readonly callee: string;
  readonly args: readonly Argument[];
}

export interface ScriptUse {
  readonly calls: readonly ScriptCall[];
  /** Somewhere it takes a part that has an end, such as `text[:100]`. */
  readonly cuts: boolean;
}

/** Everything in the script, whether it is ever reached or not. */
export function usesOf(script: ScriptText): ScriptUse {
  const calls: ScriptCall[] = [];
  let cuts = false;
  const pending: unknown[] = [statementsOf(script) ?? []];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (Array.isArray(node)) pending.push(...(node as unknown[]).toReversed());
    if (!isObject(node)) continue;
    // Nodes are told apart by their kind; nothing else in a tree has one of these.
    const expression = node as unknown as Expression;
    if (expression.kind === 'call') {
      const { callee, args, start: position } = expression;
      calls.push({
        callee: calleeOf(callee),
        args,
        line: lineOf(position),
        column: columnOf(position),
      });
    }
    if (node.kind === 'slice' && node.high !== null) cuts = true;
    pending.push(
      ...Object.values(node).filter((member) => typeof member === 'object' && member !== null),
    );
  }
  return { calls: calls.sort((a, b) => a.line - b.line || a.column - b.column), cuts };
}

function calleeOf(callee: Expression): string {
  if (callee.kind === 'name') return callee.name;
  return callee.kind === 'dot' && callee.object.kind === 'name'
    ? `${callee.object.name}.${callee.name}`
    : '';
}

/** The text of a literal, or `null` for whatever is only known when it runs. */
export const literalOf = (expression: Expression | undefined): string | null =>
  expression?.kind === 'literal' && typeof expression.value === 'string' ? expression.value : null;
