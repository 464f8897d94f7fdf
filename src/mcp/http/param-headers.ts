/**
 * Arguments of a call that its tool wants repeated in `Mcp-Param-…` headers, for those on the way
 * who do not read bodies.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { METHODS, objectAt, paramsOf, type WireMessage } from '../wire.ts';
import { decodeHeaderValue, encodeHeaderValue } from './standard-headers.ts';

/** How the names of all these headers begin. */
export const PARAM_PREFIX = 'mcp-param-';

interface ParamHeader {
  /** In lower case. */
  readonly name: string;
  readonly path: readonly string[];
}

/** What tools want, learned from the lists of tools that pass by. */
export interface ParamHeaders {
  /** Reads a response. What is not a list of tools is not looked at any further. */
  learn(message: WireMessage): void;
  /** The headers of a call, by lower-case name; none for a tool that was never listed. */
  of(message: WireMessage): ReadonlyMap<string, string>;
}

/** How many tools are remembered. Beyond that the list is somebody's attempt to fill the memory. */
const MAX_TOOLS = 10_000;

export function paramHeaders(): ParamHeaders {
  const known = new Map<string, readonly ParamHeader[]>();
  return {
    learn(message) {
      const { tools } = objectAt(message, 'result');
      if (!Array.isArray(tools)) return;
      for (const tool of tools as readonly JsonValue[]) {
        if (!isObject(tool) || typeof tool.name !== 'string') continue;
        const wanted = wantedHeaders(objectAt(tool, 'inputSchema'));
        known.delete(tool.name);
        if (wanted.length > 0 && known.size < MAX_TOOLS) known.set(tool.name, wanted);
      }
    },
    of(message) {
      const params = paramsOf(message);
      const wanted =
        message.method === METHODS.callTool && typeof params.name === 'string'
          ? known.get(params.name)
          : undefined;
      const headers = new Map<string, string>();
      for (const { name, path } of wanted ?? []) {
        const text = textOf(valueAt(objectAt(params, 'arguments'), path));
        if (text !== null) headers.set(name, encodeHeaderValue(text));
      }
      return headers;
    },
  };
}

/**
 * What is wrong with the headers of a call to a tool with this schema, or `null`. Whoever routes or
 * limits by a header must not be told something else than what runs: so it has to be there where
 * the body has a value, to say the same, and not to be there where it has none.
 */
export function misfitOfParams(
  params: JsonObject,
  sent: ReadonlyMap<string, string>,
  schema: JsonObject,
): string | null {
  for (const { name, path } of wantedHeaders(schema)) {
    const value = valueAt(objectAt(params, 'arguments'), path);
    const header = sent.get(name);
    if (header === undefined && textOf(value) !== null) return `the ${name} header is missing`;
    if (header !== undefined && !isSame(decodeHeaderValue(header), value))
      return `the ${name} header says something else than the body`;
  }
  return null;
}

/** Numbers are compared as numbers: `42.0` is `42`. */
function isSame(said: string | null, value: JsonValue | undefined): boolean {
  if (said === null) return false;
  if (textOf(value) === said) return true;
  return (
    textOf(value) !== null &&
    typeof value === 'number' &&
    /^-?\d+(?:\.\d+)?$/.test(said) &&
    Number(said) === value
  );
}

/** As deep as an annotation is looked for. */
const MAX_DEPTH = 32;

function wantedHeaders(schema: JsonObject, path: readonly string[] = []): readonly ParamHeader[] {
  if (path.length > MAX_DEPTH) return [];
  return Object.entries(objectAt(schema, 'properties')).flatMap(([key, property]) => {
    if (!isObject(property)) return [];
    const name = property['x-mcp-header'];
    const isName = typeof name === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/.test(name);
    const own = isName
      ? [{ name: `${PARAM_PREFIX}${name.toLowerCase()}`, path: [...path, key] }]
      : [];
    return [...own, ...wantedHeaders(property, [...path, key])];
  });
}

function valueAt(root: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const key of path)
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? String(value)
    : null;
}
