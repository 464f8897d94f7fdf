// Reading and writing variables.

import type { NameNode } from './ast.ts';
import type { Assign, Compiler, Evaluate } from './code.ts';
import { StarlarkError } from './errors.ts';
import type { Cell, Frame, Value } from './values.ts';
import type { Position } from './position.ts';

/** The slot of a name that is an ordinary local (no cell), or undefined. */
export function localSlot(node: NameNode): number | undefined {
  return node.binding?.scope === 'local' ? node.binding.index : undefined;
}

/** Apart from the reads, so that these stay small. */
function unassigned(
  frame: Frame,
  position: Position,
  kind: 'local' | 'global',
  name: string,
): never {
  frame.position = position;
  throw new StarlarkError(`${kind} variable ${name} referenced before assignment`);
}

export function compileRead(compiler: Compiler, node: NameNode): Evaluate {
  const { binding, name } = node;
  if (binding === null || binding.scope === 'undefined') throw new Error(`unresolved name ${name}`);
  if (binding.scope === 'universal') {
    compiler.emit();
    const value = compiler.universal(name);
    return () => value;
  }
  const position = compiler.emit(node.start);
  const { index } = binding;
  switch (binding.scope) {
    case 'local':
      return index < compiler.parameterCount
        ? readParameter(index)
        : readLocal(index, position, name);
    case 'cell':
      // Slots of shared locals hold cells from the start of a call.
      return (frame) =>
        (frame.slots[index] as Cell).value ??
        nullOrUnassigned(frame, frame.slots[index] as Cell, position, name);
    case 'free':
      return (frame) => {
        const cell = frame.cells[index] as Cell;
        return cell.value ?? nullOrUnassigned(frame, cell, position, name);
      };
    case 'global':
      return (frame) => {
        const value = frame.globals.values[index];
        return value === undefined ? unassigned(frame, position, 'global', name) : value;
      };
    case 'predeclared':
      return (frame) => frame.globals.predeclared[index] as Value;
  }
}

// Slots of ordinary locals hold values only; hence the casts here and in `writeLocal`.

function readParameter(slot: number): Evaluate {
  return (frame) => frame.slots[slot] as Value;
}

function readLocal(slot: number, position: Position, name: string): Evaluate {
  return (frame) => {
    const value = frame.slots[slot];
    return value === undefined ? unassigned(frame, position, 'local', name) : (value as Value);
  };
}

function nullOrUnassigned(frame: Frame, cell: Cell, position: Position, name: string): Value {
  return cell.value === undefined ? unassigned(frame, position, 'local', name) : cell.value;
}

export function compileWrite(compiler: Compiler, node: NameNode): Assign {
  compiler.emit();
  const { binding } = node;
  const index = binding?.index ?? 0;
  switch (binding?.scope) {
    case 'local':
      return (frame, value) => {
        frame.slots[index] = value;
      };
    case 'cell':
      return (frame, value) => {
        (frame.slots[index] as Cell).value = value;
      };
    case 'global':
      return (frame, value) => {
        frame.globals.values[index] = value;
      };
    case 'free':
    case 'predeclared':
    case 'universal':
    case 'undefined':
    case undefined:
      throw new Error(`not a variable of this function: ${node.name}`);
  }
}
