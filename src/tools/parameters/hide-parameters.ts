/** Takes hidden arguments out of a schema before anybody sees it. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import { isSchemaObject, resolveLocalRef } from './local-ref.ts';

/** The schema without these parameters, at the root and in everything the root is composed of. */
export function hideParameters(schema: JsonSchema, names: ReadonlySet<string>): JsonSchema {
  if (names.size === 0) return schema;
  return snapshotObject(withoutOrphans(hide(schema, names, schema, new Set())));
}

/** Members of an object schema that are keyed by, or list, parameter names. */
const KEYED = ['properties', 'dependentRequired', 'dependentSchemas', 'dependencies', 'default'];
const LISTED = ['required'];
const BRANCHES = ['allOf', 'anyOf', 'oneOf'];

function hide(
  schema: JsonObject,
  names: ReadonlySet<string>,
  root: JsonObject,
  open: ReadonlySet<JsonValue>,
): Record<string, unknown> {
  const { $ref, ...rest } = schema;
  const target = typeof $ref === 'string' ? resolve(root, $ref) : undefined;
  const hidden = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, hideMember(key, value, names, root, open)]),
  );
  if (target === undefined || open.has(target))
    return $ref === undefined ? hidden : { $ref, ...hidden };
  // The target may be used elsewhere with the parameter, so the root gets a copy of its own.
  return { ...hide(target, names, root, new Set([...open, target])), ...hidden };
}

function hideMember(
  key: string,
  value: JsonValue,
  names: ReadonlySet<string>,
  root: JsonObject,
  open: ReadonlySet<JsonValue>,
): unknown {
  if (KEYED.includes(key) && isObject(value))
    return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
  if (LISTED.includes(key) && Array.isArray(value))
    return value.filter((name) => !names.has(name as string));
  if (key === 'examples' && Array.isArray(value))
    return value.map((example: JsonValue) => hideMember('default', example, names, root, open));
  if (BRANCHES.includes(key) && Array.isArray(value))
    return value.map((branch: JsonValue) =>
      isObject(branch) ? hide(branch, names, root, open) : branch,
    );
  return value;
}

/** The schema itself counts as no target: it is being taken apart already. */
function resolve(root: JsonObject, ref: string): JsonObject | undefined {
  const target = resolveLocalRef(root, ref);
  return target === root || !isSchemaObject(target) ? undefined : target;
}

/** Definitions that only a hidden parameter used would still tell about it. */
function withoutOrphans(schema: Record<string, unknown>): Record<string, unknown> {
  const { $defs, definitions, ...body } = schema;
  const used = reachable(body, { $defs, definitions });
  const keep = (place: '$defs' | 'definitions', members: unknown) =>
    isObject(members)
      ? {
          [place]: Object.fromEntries(
            Object.entries(members).filter(([name]) => used.has(`#/${place}/${name}`)),
          ),
        }
      : {};
  return { ...body, ...keep('$defs', $defs), ...keep('definitions', definitions) };
}

function reachable(
  body: unknown,
  definitions: Readonly<Record<string, unknown>>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const queue: unknown[] = [body];
  while (queue.length > 0) {
    const node = queue.pop();
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      queue.push(value);
      if (key !== '$ref' || typeof value !== 'string') continue;
      const [, place = '', name = ''] = value.split('/');
      const root = `#/${place}/${name}`;
      if (!found.has(root))
        queue.push((definitions[place] as Record<string, unknown> | undefined)?.[name]);
      found.add(root);
    }
  }
  return found;
}
