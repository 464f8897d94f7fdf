/** What is wrong with a client's configuration, in one line. */

import { AlliumError } from '../../core/contract/errors.ts';

/** Why a file is refused. Nothing was changed when one of them is thrown. */
type Refusal =
  | 'unreadable'
  | 'not_understood'
  | 'no_servers'
  | 'changed_meanwhile'
  | 'not_replaceable';

/** Never holds a value of the file: they may be secrets. */
export const refused = (reason: Refusal, message: string, path?: string): AlliumError =>
  new AlliumError('ERR_CLIENT_CONFIG', message, {
    reason,
    ...(path === undefined ? {} : { path }),
  });

/** The same for a place in a text, by line and column. */
export function notUnderstood(text: string, at: number, message: string): AlliumError {
  const before = text.slice(0, at).split('\n');
  return refused(
    'not_understood',
    `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${message}`,
  );
}
