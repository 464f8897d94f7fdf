/** The one error of this folder: a schema that is refused, and where in it the reason stands. */

import { AlliumError, oneLine } from '../../core/contract/errors.ts';

/**
 * A place in a schema, as a chain of names up to the root. Written out only for an error: most are
 * never shown.
 */
export interface Place {
  readonly up: Place | null;
  readonly name: string | number;
}

/** The place of a member or an item. `null` is the root. */
export const at = (up: Place | null, name: string | number): Place => ({ up, name });

/** Adds one name to a JSON pointer. */
export const pointer = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

function pointerTo(place: Place | null): string {
  const names: (string | number)[] = [];
  for (let link = place; link !== null; link = link.up) names.unshift(link.name);
  return names.reduce(pointer, '');
}

/** Builds the refusal. Names in the path come from outside and are cleaned. */
export function unsupported(
  where: string,
  place: Place | null,
  problem: string,
  cause?: unknown,
): AlliumError {
  const path = oneLine(pointerTo(place));
  const message = `${where}: the schema${path === '' ? '' : ` at ${path}`} ${problem}`;
  return new AlliumError(
    'ERR_SCHEMA_UNSUPPORTED',
    message,
    { path },
    cause === undefined ? {} : { cause },
  );
}
