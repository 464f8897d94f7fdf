/** Changes single members of a message on its way. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { Frame } from '../proxy/link.ts';
import { objectAt } from '../wire.ts';

/** A member that is there, by the names that lead to it, and what takes its place. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** The stream that a frame came in on is not kept: it is that of another side's request. */
export function editFrame({ about: _about, ...frame }: Frame, edits: readonly Edit[]): Frame {
  return {
    ...frame,
    message: edits.reduce(
      (holder, { path, value }) => withMember(holder, path, value),
      frame.message,
    ),
  };
}

function withMember(
  holder: JsonObject,
  [name = '', ...rest]: readonly string[],
  value: JsonValue,
): JsonObject {
  return {
    ...holder,
    [name]: rest.length === 0 ? value : withMember(objectAt(holder, name), rest, value),
  };
}
