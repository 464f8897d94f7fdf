/** Finds what a local reference points at. Nothing is ever fetched. */

import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Place, unsupported } from './unsupported.ts';

/** The document and its named places. */
export interface Document {
  readonly where: string;
  readonly schema: JsonObject;
  readonly anchors: ReadonlyMap<string, JsonObject>;
}

/** The schema a reference names, or a refusal when it is not in this document. */
export function resolveReference(
  reference: string,
  place: Place,
  { where, schema, anchors }: Document,
): JsonObject | boolean {
  if (!reference.startsWith('#'))
    throw unsupported(where, place, 'refers to another document, and nothing is ever fetched');
  const target = reference.startsWith('#/')
    ? atPointer(schema, reference)
    : reference === '#'
      ? schema
      : anchors.get(reference.slice(1));
  if (typeof target === 'boolean' || isObject(target)) return target;
  throw unsupported(where, place, 'refers to a schema that is not there');
}

function atPointer(schema: JsonObject, reference: string): JsonValue | undefined {
  let found: JsonValue | undefined = schema;
  for (const part of reference.split('/').slice(1)) {
    const name = decode(part);
    if (
      typeof found !== 'object' ||
      found === null ||
      name === undefined ||
      !Object.hasOwn(found, name)
    )
      return undefined;
    // Own members of a snapshot, so JSON; for a list the name is an index.
    found = (found as JsonObject)[name];
  }
  return found;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
