/** Keeps recursive schemas meaning what they meant when their root is about to change. */

import type { JsonSchema } from '../core/call.ts';
import type { AlliumError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { definitionRef, ignoresRefSiblings, mapIn, mapSubschemas, omit } from './local-ref.ts';

/**
 * A schema of the same meaning in which no reference points at the root or into it, definitions aside: the root is
 * copied to a definition of its own and the references follow. Without such references the schema comes back as it is.
 */
export function detachSelfReferences(
  root: JsonSchema,
  refuse: (problem: string) => AlliumError,
): JsonSchema {
  const refs = refsIn(root);
  if (typeof root.$id === 'string' && refs.some((ref) => !ref.startsWith('#'))) {
    throw refuse('the schema has an id and references by address, which may lead back to the root');
  }
  if (!refs.some(pointsIntoRoot)) return root;
  const place = ignoresRefSiblings(root) ? 'definitions' : '$defs';
  const key = freeKey(mapIn(root, place));
  const moved = mapRefs(root, (ref) =>
    pointsIntoRoot(ref) ? `${definitionRef(place, key)}${ref.slice(1)}` : ref,
  );
  return {
    ...moved,
    [place]: {
      ...mapIn(moved, place),
      [key]: omit(moved, '$schema', '$id', '$defs', 'definitions'),
    },
  };
}

const pointsIntoRoot = (ref: string): boolean =>
  ref === '#' || (ref.startsWith('#/') && !/^#\/(\$defs|definitions)\//.test(ref));

function freeKey(definitions: JsonObject): string {
  let key = 'unchanged';
  while (Object.hasOwn(definitions, key)) key = `${key}_`;
  return key;
}

/** Every `$ref` of a schema that speaks about this schema. */
export function refsIn(root: JsonSchema): readonly string[] {
  const refs: string[] = [];
  mapRefs(root, (ref) => {
    refs.push(ref);
    return ref;
  });
  return refs;
}

/** An inner schema with an `$id` is a document of its own: its references do not speak about this root. */
function mapRefs(schema: JsonObject, change: (ref: string) => string, isRoot = true): JsonObject {
  if (!isRoot && typeof schema.$id === 'string') return schema;
  const mapped = mapSubschemas(schema, (inner) => mapRefs(inner, change, false));
  return typeof mapped.$ref === 'string' ? { ...mapped, $ref: change(mapped.$ref) } : mapped;
}
