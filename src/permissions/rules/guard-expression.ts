/**
 * What a rule's expression may be made of. A list of what is known to be harmless: whatever else
 * the language has is refused.
 */

import type { ASTNode } from '@marcbachmann/cel-js';
import { closest } from '../../core/contract/closest.ts';
import { ANNOTATION_NAMES, VARIABLES } from './expression-values.ts';
import { words } from '../../system/words.ts';

/** What was found out about an expression without running it. */
export interface ExpressionFacts {
  /**
   * What it looks at, as written: `args.path`, `request.host`. Names from the rule, never from a
   * call.
   */
  readonly reads: readonly string[];
  /** Its regular expressions. */
  readonly patterns: readonly string[];
  /** How its work grows: 1 with the size of the request, 2 with its square. */
  readonly degree: number;
}

/** Go through a list; the first argument names the item. */
const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter']);
/** Look at every part of what they are given. */
const SCANS: ReadonlySet<string> = new Set(
  words(`
    contains indexOf lastIndexOf rematches split size substring asciiLower trim string int double
    bool
  `),
);
const STEPS: ReadonlySet<string> = new Set(['has', 'type', 'dyn', 'startsWith', 'endsWith']);
const FUNCTIONS: readonly string[] = Object.freeze([...LOOPS, ...SCANS, ...STEPS]);
const TYPES: ReadonlySet<string> = new Set(words('bool int double string list map null_type type'));
const OPERATORS: ReadonlySet<string> = new Set([
  ...['value', 'id', '.', '[]', 'call', 'rcall', 'list', '?:', '||', '&&', '!_', '-_'],
  ...['!=', '==', 'in', '+', '-', '*', '/', '%', '<', '<=', '>', '>='],
]);
const MAX_LOOPS = 3;
const MAX_DEGREE = 2;

interface Walk {
  readonly reads: Set<string>;
  readonly patterns: Set<string>;
  /** Names of the items of the loops around, the innermost last. */
  readonly items: readonly string[];
}

/**
 * Thrown for an expression that is not taken. The message quotes the expression only, which the
 * rule's author wrote.
 */
export class ExpressionRefused extends Error {
  override readonly name = 'ExpressionRefused';
}

const refuse = (message: string): never => {
  throw new ExpressionRefused(message);
};

/**
 * Walks through an expression. Refused: functions and operators that are not on the list (`matches`
 * runs on an engine that a short text can hold for minutes; `map` and `join` make more than they
 * are given), regular expressions that come from the call, names nobody knows, and loops whose work
 * grows with the cube of the arguments.
 */
export function guardExpression(ast: ASTNode): ExpressionFacts {
  const walk: Walk = { reads: new Set(), patterns: new Set(), items: [] };
  const degree = visit(ast, walk);
  if (degree > MAX_DEGREE) refuse('goes through the arguments inside a loop inside a loop');
  return { reads: [...walk.reads], patterns: [...walk.patterns], degree: Math.max(1, degree) };
}

/**
 * Answers how the work of a node grows, beyond what the items of the innermost loop add up to
 * anyway.
 */
function visit(node: ASTNode, walk: Walk): number {
  if (!OPERATORS.has(node.op))
    refuse(node.op === 'map' ? 'has a map in it' : `has "${node.op}" in it`);
  noteRead(node, walk);
  if (node.op === 'call') return visitCall(node.args[0], node.args[1], walk);
  if (node.op === 'rcall') return visitMethod(node.args[0], node.args[1], node.args[2], walk);
  if (node.op === 'value') checkLiteral(node.args);
  if (node.op === 'id') checkName(node.args, walk);
  return Math.max(operatorCost(node, walk), ...childrenOf(node).map((child) => visit(child, walk)));
}

/** `+` copies both sides, `in` searches the right one. */
function operatorCost(node: ASTNode, walk: Walk): number {
  if (node.op === '+') return scanCost(node.args, walk);
  return node.op === 'in' ? scanCost([node.args[1]], walk) : 0;
}

function visitCall(name: string, given: readonly ASTNode[], walk: Walk): number {
  if (LOOPS.has(name) || name === 'rematches')
    refuse(`calls ${name} without the text or list in front of it`);
  checkFunction(name);
  return Math.max(
    SCANS.has(name) ? scanCost(given, walk) : 0,
    ...given.map((each) => visit(each, walk)),
  );
}

function visitMethod(
  name: string,
  receiver: ASTNode,
  given: readonly ASTNode[],
  walk: Walk,
): number {
  checkFunction(name);
  const before = visit(receiver, walk);
  if (LOOPS.has(name)) return Math.max(before, visitLoop(name, receiver, given, walk));
  if (name === 'rematches') notePattern(given, walk);
  return Math.max(
    before,
    SCANS.has(name) ? scanCost([receiver], walk) : 0,
    ...given.map((each) => visit(each, walk)),
  );
}

function visitLoop(name: string, receiver: ASTNode, given: readonly ASTNode[], walk: Walk): number {
  const [item, predicate] = given;
  if (given.length !== 2 || item?.op !== 'id' || predicate === undefined)
    return refuse(`needs ${name}(item, condition)`);
  if (Object.hasOwn(VARIABLES, item.args) || TYPES.has(item.args))
    refuse(`calls an item "${item.args}", which is something else already`);
  if (walk.items.length >= MAX_LOOPS) refuse(`has more than ${MAX_LOOPS} loops inside each other`);
  return (
    scanCost([receiver], walk) + visit(predicate, { ...walk, items: [...walk.items, item.args] })
  );
}

/**
 * Going through the item of the innermost loop is free: all items together are the list. Going
 * through anything else from the request is done again for every item.
 */
const scanCost = (nodes: readonly ASTNode[], { items }: Walk): number =>
  nodes.some((node) => namesIn(node).some((name) => name !== items.at(-1) && !TYPES.has(name)))
    ? 1
    : 0;

const namesIn = (node: ASTNode): readonly string[] =>
  node.op === 'id' ? [node.args] : childrenOf(node).flatMap(namesIn);

function childrenOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'value' || node.op === 'id') return [];
  if (node.op === '.' || node.op === '.?') return [node.args[0]];
  if (node.op === 'call') return node.args[1];
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]];
  if (node.op === 'map') return node.args.flat();
  return node.op === '!_' || node.op === '-_' ? [node.args] : node.args;
}

function checkLiteral(value: unknown): void {
  if (typeof value === 'object' && value !== null)
    refuse('has a literal that is neither text, number, true, false nor null');
}

function checkName(name: string, { items }: Walk): void {
  if (Object.hasOwn(VARIABLES, name) || TYPES.has(name) || items.includes(name)) return;
  const guess = closest(name, Object.keys(VARIABLES));
  refuse(
    `names "${name}", which is not there; ${guess === undefined ? `there are ${Object.keys(VARIABLES).join(', ')}` : `did you mean "${guess}"?`}`,
  );
}

function checkFunction(name: string): void {
  if (FUNCTIONS.includes(name)) return;
  if (name === 'matches')
    refuse('calls matches, which a short text can keep busy for minutes; use rematches');
  // It folds letters that are not ASCII: the Kelvin sign would pass for a k.
  if (name === 'lowerAscii')
    refuse('calls lowerAscii, which changes more than ASCII; use asciiLower');
  const guess = closest(name, FUNCTIONS);
  refuse(
    `calls "${name}", which is not there; ${guess === undefined ? `there are ${FUNCTIONS.join(', ')}` : `did you mean "${guess}"?`}`,
  );
}

function notePattern([pattern]: readonly ASTNode[], { patterns }: Walk): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string')
    return refuse('has a rematches whose pattern is not written out');
  patterns.add(pattern.args);
}

/**
 * Notes the longest path that is written out, and holds annotations to their names: those are the
 * same for every tool.
 */
function noteRead(node: ASTNode, { reads, items }: Walk): void {
  const path = pathOf(node);
  const [root, first] = path;
  if (root === undefined || first === undefined || items.includes(root)) return;
  if (root === 'annotations' && !ANNOTATION_NAMES.includes(first)) {
    const guess = closest(first, ANNOTATION_NAMES);
    refuse(
      `reads annotations.${first}, which is not there; ${guess === undefined ? `there are ${ANNOTATION_NAMES.join(', ')}` : `did you mean "${guess}"?`}`,
    );
  }
  const text = path.join('.');
  // Every part of a path is visited as well, after the whole.
  if (![...reads].some((known) => known.startsWith(`${text}.`))) reads.add(text);
}

function pathOf(node: ASTNode): readonly string[] {
  if (node.op === 'id') return Object.hasOwn(VARIABLES, node.args) ? [node.args] : [];
  if (node.op !== '.' && node.op !== '[]') return [];
  const [before, key] = node.args;
  const name = nameIn(key);
  const path = name === undefined ? [] : pathOf(before);
  return name === undefined || path.length === 0 ? [] : [...path, name];
}

/** The name that stands behind a dot, or as text in brackets. */
function nameIn(key: string | ASTNode): string | undefined {
  if (typeof key === 'string') return key;
  return key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
}
