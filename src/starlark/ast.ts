// The syntax tree. Positions are those that messages and tracebacks name.

import type { Position } from './position.ts';
import type { Value } from './values.ts';

interface Node {
  /** Where the expression begins. */
  readonly start: Position;
  /**
   * Levels below and including this one: what is too deep is refused when it is read, so that walks
   * need no stack check.
   */
  readonly depth: number;
}

export interface NameNode extends Node {
  readonly kind: 'name';
  readonly name: string;
  /** Set by the resolver. */
  binding: Binding | null;
}

interface LiteralNode extends Node {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface SequenceNode extends Node {
  readonly kind: 'list' | 'tuple';
  readonly items: readonly Expression[];
}

export interface EntryNode extends Node {
  readonly key: Expression;
  readonly value: Expression;
  readonly position: Position;
}

export interface DictNode extends Node {
  readonly kind: 'dict';
  readonly entries: readonly EntryNode[];
}

export type Clause =
  | {
      readonly kind: 'for';
      readonly position: Position;
      readonly target: Expression;
      readonly iterable: Expression;
    }
  | { readonly kind: 'if'; readonly condition: Expression };

export interface ComprehensionNode extends Node {
  readonly kind: 'comprehension';
  /** A dict's entry, or a list's element. */
  readonly body: { readonly entry: EntryNode } | { readonly element: Expression };
  readonly clauses: readonly Clause[];
}

interface ConditionalNode extends Node {
  readonly kind: 'conditional';
  readonly condition: Expression;
  readonly yes: Expression;
  readonly no: Expression;
}

export interface IndexNode extends Node {
  readonly kind: 'index';
  readonly object: Expression;
  readonly index: Expression;
  readonly position: Position;
}

export interface SliceNode extends Node {
  readonly kind: 'slice';
  readonly object: Expression;
  readonly low: Expression | null;
  readonly high: Expression | null;
  readonly step: Expression | null;
  readonly position: Position;
}

export interface DotNode extends Node {
  readonly kind: 'dot';
  readonly object: Expression;
  readonly name: string;
  readonly position: Position;
}

export interface Argument {
  readonly kind: 'positional' | 'named' | '*' | '**';
  /** Of a named one. */
  readonly name: string;
  readonly value: Expression;
  readonly start: Position;
}

export interface CallNode extends Node {
  readonly kind: 'call';
  readonly callee: Expression;
  readonly args: readonly Argument[];
  readonly position: Position;
}

export interface UnaryNode extends Node {
  readonly kind: 'unary';
  readonly operator: string;
  readonly operand: Expression;
  readonly position: Position;
}

export interface BinaryNode extends Node {
  readonly kind: 'binary';
  readonly operator: string;
  readonly left: Expression;
  readonly right: Expression;
  readonly position: Position;
}

interface LambdaNode extends Node {
  readonly kind: 'lambda';
  readonly definition: Definition;
}

interface ParenNode extends Node {
  readonly kind: 'paren';
  readonly inner: Expression;
}

export type Expression =
  | NameNode
  | LiteralNode
  | SequenceNode
  | DictNode
  | ComprehensionNode
  | ConditionalNode
  | IndexNode
  | SliceNode
  | DotNode
  | CallNode
  | UnaryNode
  | BinaryNode
  | LambdaNode
  | ParenNode;

export interface Parameter {
  readonly kind: 'plain' | '*' | '**';
  /** Null for a bare `*`. */
  readonly name: NameNode | null;
  readonly fallback: Expression | null;
  /** The `=` of a default, the star, or the name. */
  readonly position: Position;
}

/** A `def` or `lambda`. The resolver fills in what only it knows. */
export interface Definition {
  readonly name: string;
  readonly position: Position;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
  scope: FunctionScope | null;
}

/** What the resolver found out about a function. */
export interface FunctionScope {
  /** Slots, parameters first: positional, keyword-only, `*args`, `**kwargs`. */
  readonly locals: Binding[];
  /** The enclosing function's bindings, in the order of this function's cells. */
  readonly free: Binding[];
  keywordOnlyCount: number;
  hasVarargs: boolean;
  hasKwargs: boolean;
}

/**
 * What a name means. A `cell` is a local that a nested function shares; `free` is the nested
 * function's view of it.
 */
export interface Binding {
  scope: 'local' | 'cell' | 'free' | 'global' | 'predeclared' | 'universal' | 'undefined';
  readonly index: number;
  readonly first: NameNode;
}

export type Statement =
  | { readonly kind: 'expression'; readonly value: Expression }
  | {
      readonly kind: 'branch';
      readonly word: 'break' | 'continue' | 'pass';
      readonly position: Position;
    }
  | { readonly kind: 'return'; readonly value: Expression | null; readonly position: Position }
  | {
      readonly kind: 'assign';
      /** `=`, or the operator of an augmented assignment without its `=`. */
      readonly operator: string;
      readonly target: Expression;
      readonly value: Expression;
      readonly position: Position;
    }
  | {
      readonly kind: 'if';
      readonly arms: readonly IfArm[];
      readonly otherwise: readonly Statement[];
    }
  | {
      readonly kind: 'for';
      readonly target: Expression;
      readonly iterable: Expression;
      readonly body: readonly Statement[];
      readonly position: Position;
    }
  | {
      readonly kind: 'while';
      readonly condition: Expression;
      readonly body: readonly Statement[];
      readonly position: Position;
    }
  | {
      readonly kind: 'def';
      readonly name: NameNode;
      readonly definition: Definition;
      readonly position: Position;
    }
  | { readonly kind: 'load'; readonly names: readonly LoadedName[]; readonly position: Position };

/** `load` is read, so that its mistakes have their own messages, and then refused. */
export interface LoadedName {
  readonly local: NameNode;
  readonly original: NameNode;
}

export interface IfArm {
  readonly condition: Expression;
  readonly body: readonly Statement[];
  readonly position: Position;
}
