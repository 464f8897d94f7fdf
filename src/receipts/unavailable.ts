/** What a writer throws when the system refuses. */

import { AlliumError, isAlliumError } from '../core/errors.ts';

/**
 * Says what kind of failure it was. The system's own message names the file, and stays with the host as the cause; a file that was put in the
 * place of one of ours is named.
 */
export function unavailable(cause: unknown): Error {
  if (isAlliumError(cause, 'ERR_UNSAFE_FILE'))
    return new AlliumError(
      'ERR_RECEIPTS_UNAVAILABLE',
      `the receipts of a session could not be written: ${cause.message}`,
      {},
      { cause },
    );
  if (isAlliumError(cause)) return cause;
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
      ? cause.code
      : 'no reason known';
  return new AlliumError(
    'ERR_RECEIPTS_UNAVAILABLE',
    `the receipts of a session could not be written (${code})`,
    {},
    { cause },
  );
}
