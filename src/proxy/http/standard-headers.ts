/** Headers that repeat parts of a message for those on the way: what 2026-07-28 wants beside every request. */

import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { objectAt, paramsOf, type WireMessage } from '../wire.ts';

const NAME_SOURCES: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** The parameter that the `Mcp-Name` header repeats for a method. */
export const nameSourceOf = (method: string): string | undefined => NAME_SOURCES.get(method);

/** Text as a header can carry it: as it is, or as base64 of its UTF-8 in the marks that the protocol has for that. */
export function encodeHeaderValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;

/** What was meant by a header, or `null` for marks around something that is no base64. */
export function decodeHeaderValue(value: string): string | null {
  const trimmed = value.replace(/^[\t ]+|[\t ]+$/g, '');
  const [, inner] = ENCODED.exec(trimmed) ?? [];
  if (inner === undefined) return trimmed;
  const bytes = Buffer.from(inner, 'base64');
  // The decoder of Node skips what it cannot read, and somebody else's might not.
  return bytes.toString('base64') === inner ? bytes.toString('utf8') : null;
}

interface ParamHeader {
  readonly name: string;
  readonly path: readonly string[];
}

/** Parameters that a tool wants repeated as `Mcp-Param-…` headers, learned from the lists of tools that pass by. */
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
      const wanted = message.method === 'tools/call' && typeof params.name === 'string' ? known.get(params.name) : undefined;
      const headers = new Map<string, string>();
      for (const { name, path } of wanted ?? []) {
        const text = textOf(valueAt(objectAt(params, 'arguments'), path));
        if (text !== null) headers.set(`mcp-param-${name.toLowerCase()}`, encodeHeaderValue(text));
      }
      return headers;
    },
  };
}

/** As deep as an annotation is looked for. */
const MAX_DEPTH = 32;

function wantedHeaders(schema: JsonObject, path: readonly string[] = []): readonly ParamHeader[] {
  if (path.length > MAX_DEPTH) return [];
  return Object.entries(objectAt(schema, 'properties')).flatMap(([key, property]) => {
    if (!isObject(property)) return [];
    const name = property['x-mcp-header'];
    const own = typeof name === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/.test(name) ? [{ name, path: [...path, key] }] : [];
    return [...own, ...wantedHeaders(property, [...path, key])];
  });
}

function valueAt(root: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? String(value) : null;
}
