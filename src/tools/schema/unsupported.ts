/** The one error of this folder: a schema that is refused, and where in it the reason stands. */

import { AlliumError, oneLine } from '../../core/errors.ts';

/** Builds the refusal. `path` is a JSON pointer into the schema; names in it come from outside and are cleaned. */
export function unsupported(where: string, path: string, problem: string, cause?: unknown): AlliumError {
  const place = oneLine(path);
  const message = `${where}: the schema${place === '' ? '' : ` at ${place}`} ${problem}`;
  return new AlliumError('ERR_SCHEMA_UNSUPPORTED', message, { path: place }, cause === undefined ? {} : { cause });
}

/** Adds one name to a JSON pointer. */
export const pointer = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
