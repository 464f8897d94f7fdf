/** Sorting the keywords of one schema: enforced by the provider, told to the model, or without meaning here. */

import type { JsonObject, JsonValue } from '../../core/json.ts';
import { isSchemaObject, listIn, ownMember } from '../local-ref.ts';

const NUMERIC = ['number', 'integer'];

/** Keywords with a meaning for the model, and the types they speak about; an empty list is every type. */
const MEANING: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'].map(
    (name) => [name, ['string']] as const,
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (name) => [name, NUMERIC] as const,
  ),
  ...['minItems', 'maxItems', 'uniqueItems', 'contains', 'minContains', 'maxContains'].map(
    (name) => [name, ['array']] as const,
  ),
  ...[
    'minProperties',
    'maxProperties',
    'dependentRequired',
    'dependentSchemas',
    'dependencies',
  ].map((name) => [name, ['object']] as const),
  ...['const', 'enum', 'default', 'examples', 'not', 'if', 'then', 'else'].map(
    (name) => [name, []] as const,
  ),
]);

/** What the provider enforces, and what is left to say. Keywords that a closed, typed schema makes pointless vanish. */
export function splitKeywords(
  flat: JsonObject,
  kinds: readonly string[],
  keeps: (keyword: string, value: JsonValue) => boolean,
): { readonly kept: JsonObject; readonly unenforced: JsonObject } {
  const meant = Object.entries(flat).filter(([keyword]) => {
    const types = MEANING.get(keyword);
    return (
      types !== undefined && (types.length === 0 || types.some((type) => kinds.includes(type)))
    );
  });
  const kept = Object.fromEntries(meant.filter(([keyword, value]) => keeps(keyword, value)));
  return {
    // A value of another type than the schema allows could never be sent, and a provider stumbles over it.
    kept: Array.isArray(kept.enum)
      ? {
          ...kept,
          enum: listIn(kept, 'enum').filter((value) => kinds.includes(kindOf(value, kinds))),
        }
      : kept,
    unenforced: Object.fromEntries(meant.filter(([keyword, value]) => !keeps(keyword, value))),
  };
}

/** What a schema suggests rather than demands. */
export const hintsIn = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => keyword === 'default' || keyword === 'examples'),
  );

/** Title and description, the latter with the rules that nobody but the model can keep. */
export function describeWith(schema: JsonObject, unenforced: JsonObject): JsonObject {
  const { title, description } = schema;
  const rules =
    Object.keys(unenforced).length === 0
      ? []
      : [`Further rules, as JSON Schema: ${JSON.stringify(unenforced)}`];
  const texts = [
    ...(typeof description === 'string' && description !== '' ? [description] : []),
    ...rules,
  ];
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(texts.length === 0 ? {} : { description: texts.join('\n\n') }),
  };
}

/** The types a value may have, read off the schema where it does not say. `null` where anything goes, or an enum holds objects. */
export function kindsOf(flat: JsonObject): readonly string[] | null {
  const values = Object.hasOwn(flat, 'const') ? [flat.const ?? null] : listIn(flat, 'enum');
  if (values.some((value) => typeof value === 'object' && value !== null)) return null;
  const declared = declaredKinds(flat);
  if (values.length === 0) return declared.length > 0 ? declared : impliedKinds(flat);
  const kinds = [...new Set(values.map((value) => kindOf(value, declared)))];
  const fitting = declared.length === 0 ? kinds : kinds.filter((kind) => declared.includes(kind));
  return fitting.length > 0 ? fitting : null;
}

function declaredKinds(flat: JsonObject): readonly string[] {
  const type = ownMember(flat, 'type');
  const types = typeof type === 'string' ? [type] : listIn(flat, 'type');
  return [...new Set(types.filter((kind) => typeof kind === 'string'))];
}

function impliedKinds(flat: JsonObject): readonly string[] | null {
  if (isSchemaObject(ownMember(flat, 'properties'))) return ['object'];
  return Object.hasOwn(flat, 'items') || Object.hasOwn(flat, 'prefixItems') ? ['array'] : null;
}

function kindOf(value: JsonValue, declared: readonly string[]): string {
  if (value === null) return 'null';
  if (typeof value === 'number')
    return Number.isInteger(value) && !declared.includes('number') ? 'integer' : 'number';
  return typeof value;
}
