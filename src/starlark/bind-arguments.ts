// Arguments to parameters: positional, named, defaults, stars.

import { StarlarkError } from './errors.ts';
import { dictSet } from './keys.ts';
import { quoted } from './repr.ts';
import { OBJECT_BYTES, type Signature, SLOT_BYTES, type Thread } from './thread.ts';
import {
  Dict,
  type Frame,
  type Kwargs,
  type StarlarkFunction,
  Tuple,
  type Value,
} from './values.ts';

/** Puts the arguments of a call into the first slots of its frame. */
export function bindArguments(
  thread: Thread,
  frame: Frame,
  callee: StarlarkFunction,
  args: readonly Value[],
  kwargs: Kwargs,
): void {
  const { signature } = callee.code;
  const given = args.length + (kwargs?.size ?? 0);
  if (signature.parameters.length === 0) {
    if (given > 0)
      throw new StarlarkError(`function ${signature.name} accepts no arguments (${given} given)`);
    return;
  }
  bindPositional(thread, frame, signature, args);
  bindNamed(thread, frame, signature, kwargs);
  bindDefaults(frame, callee);
}

/** Parameters that are no stars. */
function ordinaryCount({ parameters, hasVarargs, hasKwargs }: Signature): number {
  return parameters.length - Number(hasVarargs) - Number(hasKwargs);
}

function bindPositional(
  thread: Thread,
  frame: Frame,
  signature: Signature,
  args: readonly Value[],
): void {
  const { name, positionalCount, hasVarargs, defaultCount } = signature;
  if (args.length > positionalCount && !hasVarargs) {
    const most = `${defaultCount > 0 ? 'at most ' : ''}${positionalCount} positional argument${positionalCount === 1 ? '' : 's'}`;
    throw new StarlarkError(`function ${name} accepts ${most} (${args.length} given)`);
  }
  const count = Math.min(args.length, positionalCount);
  for (let index = 0; index < count; index++) frame.slots[index] = args[index];
  if (!hasVarargs) return;
  const rest = args.slice(count);
  thread.account(OBJECT_BYTES + rest.length * SLOT_BYTES);
  frame.slots[ordinaryCount(signature)] = new Tuple(rest);
}

function bindNamed(thread: Thread, frame: Frame, signature: Signature, kwargs: Kwargs): void {
  const { name, parameters, hasKwargs } = signature;
  const others = hasKwargs ? new Dict() : null;
  const ordinary = ordinaryCount(signature);
  if (others !== null) {
    thread.account(OBJECT_BYTES);
    frame.slots[parameters.length - 1] = others;
  }
  for (const [key, value] of kwargs ?? []) {
    const slot = parameters.indexOf(key);
    if (slot >= 0 && slot < ordinary) {
      if (frame.slots[slot] !== undefined) throw multipleValues(name, key);
      frame.slots[slot] = value;
    } else if (others !== null) dictSet(thread, others, key, value);
    else
      throw new StarlarkError(`function ${name} got an unexpected keyword argument ${quoted(key)}`);
  }
}

export function multipleValues(name: string, parameter: string): StarlarkError {
  return new StarlarkError(`function ${name} got multiple values for parameter "${parameter}"`);
}

function bindDefaults(frame: Frame, { code, defaults }: StarlarkFunction): void {
  const { signature } = code;
  const missing: string[] = [];
  for (let slot = 0; slot < ordinaryCount(signature); slot++) {
    if (frame.slots[slot] !== undefined) continue;
    frame.slots[slot] = defaults[slot];
    if (defaults[slot] === undefined) missing.push(signature.parameters[slot] ?? '');
  }
  if (missing.length === 0) return;
  const count = `${missing.length} argument${missing.length > 1 ? 's' : ''}`;
  throw new StarlarkError(`function ${signature.name} missing ${count} (${missing.join(', ')})`);
}
