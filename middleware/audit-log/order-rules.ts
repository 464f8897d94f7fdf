/** Where the audit log has to stand. */

import type { OrderRule } from '../../src/index.ts';

const outsideOf = (name: string, because: string): OrderRule => ({
  outsideOf: name,
  level: 'must',
  because,
});

/** Whatever turns a call away or changes it must be inside, or the receipt is not about the call that was asked for. */
export const ORDER: readonly OrderRule[] = [
  outsideOf('consent', 'inside it, calls that a person or a rule refused would leave no receipt'),
  outsideOf(
    'requiredReason',
    'inside it, calls without a reason would leave no receipt, and receipts would lack the reason',
  ),
  outsideOf('redaction', 'inside it, results that were withheld would be recorded as given out'),
  outsideOf(
    'idempotency',
    'inside it, calls that were answered from the store would leave no receipt',
  ),
  outsideOf('rateLimit', 'inside it, calls over the limit would leave no receipt'),
  outsideOf('dryRun', 'inside it, calls that were only previewed would leave no receipt'),
  outsideOf(
    'timeout',
    'inside it, a tool that ran out of time would leave its receipt late or never',
  ),
  outsideOf('retry', 'inside it, every attempt would leave a receipt of its own'),
  outsideOf('permissions', 'inside it, calls that were not permitted would leave no receipt'),
];
