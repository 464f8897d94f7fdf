/** A decider for hosts that only want to be asked about what changes something. */

import { checkOptions, expected } from '../../src/index.ts';
import type { ConsentDecide } from './verdict.ts';

export interface AutoApproveOptions {
  /** Must be `true`: says in the host's own code what is approved unseen. */
  readonly readOnly: true;
}

/**
 * Approves tools that say they only read, and asks about all others. It takes the tool's word for it: for tools of servers
 * that are not trusted use rules.
 */
export function autoApprove(options: AutoApproveOptions): ConsentDecide {
  checkOptions('autoApprove', options, {
    readOnly: expected.required({ text: 'true', test: (value) => value === true }),
  });
  return ({ annotations: { readOnly, destructive, needsApproval, safety } }) =>
    readOnly === true &&
    destructive === false &&
    needsApproval !== true &&
    safety?.requiresConfirmation !== true
      ? 'auto'
      : 'ask';
}
