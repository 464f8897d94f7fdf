/** The schemas that stand directly in one keyword of a schema. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { type Holds, SCHEMA_KEYWORDS } from './keywords.ts';
import { at, type Place, unsupported } from './unsupported.ts';

/**
 * A subschema with the member name or index it stands under; `undefined` where the keyword holds
 * just one.
 */
interface Subschema {
  readonly schema: JsonObject | boolean;
  readonly place: Place | null;
  readonly key: string | number | undefined;
}

const isSchema = (value: JsonValue): value is JsonObject | boolean =>
  typeof value === 'boolean' || isObject(value);

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** Every schema of a keyword, or a refusal when something else stands where a schema belongs. */
export function subschemas(
  name: string,
  value: JsonValue,
  place: Place | null,
  where: string,
): readonly Subschema[] {
  const holds = SCHEMA_KEYWORDS.get(name)?.holds ?? 'one';
  return entriesOf(holds, name, value, place, where).map(([key, schema]) => {
    const own = key === undefined ? place : at(place, key);
    if (!isSchema(schema))
      throw unsupported(where, own, 'must be a schema: an object, true or false');
    return { schema, place: own, key };
  });
}

type Entry = readonly [key: string | number | undefined, schema: JsonValue];

function entriesOf(
  holds: Holds,
  name: string,
  value: JsonValue,
  place: Place | null,
  where: string,
): readonly Entry[] {
  if (holds === 'one' || (holds === 'one-or-list' && !isList(value))) return [[undefined, value]];
  if (holds === 'map' || holds === 'map-or-names') {
    if (!isObject(value)) throw unsupported(where, place, 'must be an object of schemas');
    const entries = Object.entries(value);
    // Lists of names are checked with the values.
    return holds === 'map' ? entries : entries.filter(([, schema]) => !isList(schema));
  }
  if (!isList(value)) throw unsupported(where, place, 'must be a list of schemas');
  if (value.length === 0 && name.endsWith('Of'))
    throw unsupported(where, place, 'must be a list of at least one schema');
  return value.map((schema, index) => [index, schema]);
}
