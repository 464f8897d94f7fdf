/** Tells a factory of layers from a caller. */

import { AlliumError, oneLine } from './errors.ts';

/**
 * Refuses `layers: [timeout]` for `layers: [timeout({ … })]`, which would fail at every call and
 * say nothing of why: a function declaration without a parameter for `next`. An arrow function of
 * that form may be a caller that refuses every call.
 */
export function demandCalled(
  member: { readonly name: string; readonly length: number },
  index: number,
): void {
  if (member.length >= 2 || !Object.hasOwn(member, 'prototype')) return;
  const name = oneLine(member.name);
  const message = `member ${index + 1} of the stack is the function "${name}", which does not take (call, next): call it, ${name}(…), and put the layer that it makes into the stack`;
  throw new AlliumError('ERR_INVALID_LAYER', message);
}
