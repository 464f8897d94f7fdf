// Blocks of names, and where a name that is used finds its meaning.

import type { Binding, FunctionScope, NameNode } from './ast.ts';
import { StarlarkError } from './errors.ts';
import { columnOf, lineOf, type Position } from './position.ts';
import { nearestName } from './spelling.ts';

/**
 * A function, a comprehension, or (without a parent) the file. Only functions and the file own
 * slots.
 */
interface Block {
  readonly parent: Block | null;
  readonly scope: FunctionScope | null;
  readonly bindings: Map<string, Binding>;
  readonly children: Block[];
  /** Uses inside this function or file that are not settled yet. */
  uses: Use[];
}

interface Use {
  readonly node: NameNode;
  readonly block: Block;
}

export interface KnownNames {
  readonly file: string;
  readonly predeclared: readonly string[];
  readonly universal: ReadonlySet<string>;
}

/** Mistakes with a hint: each is looked for among all names of the file. */
const MAX_HINTS = 20;

export class Scopes {
  readonly errors: StarlarkError[] = [];
  readonly globals = new Map<string, Binding>();
  readonly predeclared = new Map<string, Binding>();
  /** Slots of comprehensions outside any function. */
  readonly moduleScope: FunctionScope = {
    locals: [],
    free: [],
    keywordOnlyCount: 0,
    hasVarargs: false,
    hasKwargs: false,
  };
  private readonly root: Block = {
    parent: null,
    scope: null,
    bindings: new Map(),
    children: [],
    uses: [],
  };
  private block: Block = this.root;
  private readonly known: KnownNames;
  private readonly predeclaredNames: ReadonlyMap<string, number>;

  constructor(known: KnownNames) {
    this.known = known;
    this.predeclaredNames = new Map(known.predeclared.map((name, index) => [name, index]));
  }

  fail(position: Position, message: string): void {
    this.errors.push(
      new StarlarkError(message, {
        kind: 'resolve',
        line: lineOf(position),
        column: columnOf(position),
      }),
    );
  }

  /** Whether the current statement is outside any function. */
  get atTop(): boolean {
    return this.container().scope === null;
  }

  /** Walks something in a block of its own. */
  inside(scope: FunctionScope | null, walk: () => void): void {
    const block: Block = { parent: this.block, scope, bindings: new Map(), children: [], uses: [] };
    this.block.children.push(block);
    this.block = block;
    walk();
    if (scope !== null) settleLocalUses(block);
    this.block = block.parent ?? this.root;
  }

  /** Binds a name: globally at the top, locally elsewhere. Answers whether it was bound before. */
  bind(node: NameNode): boolean {
    return this.block === this.root ? this.bindGlobal(node) : this.bindLocal(node);
  }

  bindLocal(node: NameNode): boolean {
    const known = this.block.bindings.has(node.name);
    if (!known) {
      const { locals } = this.container().scope ?? this.moduleScope;
      const binding: Binding = { scope: 'local', index: locals.length, first: node };
      this.block.bindings.set(node.name, binding);
      locals.push(binding);
    }
    this.use(node);
    return known;
  }

  use(node: NameNode): void {
    this.container().uses.push({ node, block: this.block });
  }

  /** Settles every use. Globals may be used by functions that stand before them. */
  finish(): void {
    settleLocalUses(this.root);
    this.settleOuterUses(this.root);
  }

  private bindGlobal(node: NameNode): boolean {
    const known = this.root.bindings.get(node.name) ?? this.globals.get(node.name);
    if (known !== undefined) {
      const at = `${this.known.file}:${lineOf(known.first.start)}:${columnOf(known.first.start)}`;
      this.fail(node.start, `cannot reassign ${known.scope} ${node.name} declared at ${at}`);
    }
    const binding: Binding = known ?? { scope: 'global', index: this.globals.size, first: node };
    if (known === undefined) this.globals.set(node.name, binding);
    node.binding = binding;
    return known !== undefined;
  }

  private container(): Block {
    let block = this.block;
    while (block.scope === null && block.parent !== null) block = block.parent;
    return block;
  }

  private settleOuterUses(block: Block): void {
    for (const child of block.children) this.settleOuterUses(child);
    for (const use of block.uses) use.node.binding = this.lookUp(use, use.block);
  }

  /**
   * Looks outwards; a local of an enclosing function becomes a cell, and every function between
   * gets a view of it.
   */
  private lookUp(use: Use, block: Block): Binding {
    if (block.parent === null) return this.lookUpAtTop(use);
    const own = block.bindings.get(use.node.name);
    if (own !== undefined) return own;
    let binding = this.lookUp(use, block.parent);
    if (block.scope !== null && ['local', 'cell', 'free'].includes(binding.scope)) {
      if (binding.scope === 'local') binding.scope = 'cell';
      const view: Binding = { scope: 'free', index: block.scope.free.length, first: binding.first };
      block.scope.free.push(binding);
      binding = view;
    }
    block.bindings.set(use.node.name, binding);
    return binding;
  }

  private lookUpAtTop({ node, block }: Use): Binding {
    const { name } = node;
    const known =
      this.root.bindings.get(name) ?? this.globals.get(name) ?? this.predeclared.get(name);
    if (known !== undefined) return known;
    const index = this.predeclaredNames.get(name);
    const otherwise = this.known.universal.has(name) ? 'universal' : 'undefined';
    const scope = index === undefined ? otherwise : 'predeclared';
    const binding: Binding = { scope, index: index ?? 0, first: node };
    if (scope !== 'undefined') this.predeclared.set(name, binding);
    else
      this.fail(
        node.start,
        name === 'set'
          ? 'this Starlark dialect does not support sets'
          : `undefined: ${name}${this.hint(name, block)}`,
      );
    return binding;
  }

  private hint(name: string, from: Block): string {
    if (this.errors.length >= MAX_HINTS) return '';
    const names = [...this.globals.keys()];
    for (let block: Block | null = from; block !== null; block = block.parent)
      names.push(...block.bindings.keys());
    const nearest = nearestName(name, names.sort());
    return nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  }
}

/**
 * Settles the uses that mean a local of the same function; others wait for the end of the module.
 */
function settleLocalUses(container: Block): void {
  container.uses = container.uses.filter(({ node, block }) => {
    const binding = localBinding(node.name, block);
    if (binding === undefined) return true;
    node.binding = binding;
    return false;
  });
}

function localBinding(name: string, from: Block): Binding | undefined {
  for (let block: Block | null = from; block !== null; block = block.parent) {
    const binding = block.bindings.get(name);
    if (binding !== undefined) return binding;
    if (block.scope !== null) return undefined;
  }
  return undefined;
}
