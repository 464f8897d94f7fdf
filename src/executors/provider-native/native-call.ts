/**
 * A call that a provider has made itself, in the form that `observe` takes, and what is common to
 * all who read one.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject, snapshot } from '../../core/json/json.ts';
import { toolFailure, toolOutput, type ToolRequest } from '../../tools/tool.ts';

export interface NativeCall {
  readonly request: ToolRequest;
  /** What the tool answered, or an error that says how far it is known to have come. */
  readonly output: unknown;
}

/** A part of a response that was not taken for a call. It quotes no value of the response. */
export interface SkippedItem {
  /** Where it stands in the response. */
  readonly path: string;
  /** The kind of item, as far as it names one. */
  readonly kind: string;
  readonly why: string;
}

export type Skip = (item: SkippedItem) => void;

/** An item of a response, copied so that it can be read more than once. */
export interface Item {
  readonly kind: string;
  readonly path: string;
  readonly fields: JsonObject;
}

/** Ids are for joining records; what is longer than any of them would only weigh on every one. */
const MAX_ID = 256;

/** The call with an id where there is a usable one. */
export function nativeCall(
  name: string,
  args: JsonObject | string,
  id: JsonValue | undefined,
  output: unknown,
): NativeCall {
  const isUsable = typeof id === 'string' && id !== '' && id.length <= MAX_ID;
  return Object.freeze({
    request: Object.freeze({ name, arguments: args, ...(isUsable ? { id } : {}) }),
    output,
  });
}

/** Members of an item under their own names, without those it does not have. */
export const pick = (fields: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) =>
      isGiven(fields[name]) && Object.hasOwn(fields, name) ? [[name, fields[name]]] : [],
    ),
  );

const isGiven = (value: JsonValue | undefined): value is JsonValue =>
  value !== undefined && value !== null;

export const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

export const objectOf = (value: JsonValue | undefined): JsonObject =>
  isObject(value) ? value : {};

/** An error that the provider's tool has answered with. */
export const errorOutput = (error: JsonValue | undefined): unknown =>
  toolOutput({ content: [{ type: 'text', text: errorText(error) }], isError: true });

/** From a text, or from an object with a code or a message, as providers have both. */
function errorText(error: JsonValue | undefined): string {
  if (typeof error === 'string' && error !== '') return error;
  const { message, error_message: longer, error_code: code, type } = objectOf(error);
  const parts = [code, message ?? longer].flatMap((part) => textOf(part) ?? []);
  if (parts.length > 0) return parts.join(': ');
  return textOf(type) ?? 'The provider reported that the tool failed.';
}

/** For a call whose end is not in the response. It may still be going on. */
export const noOutput = (): unknown =>
  toolFailure(
    'The provider began this call, and the response does not say how it ended. Check before you repeat it.',
    { executed: 'unknown' },
  );

/** The name of an MCP server's tool, as `registry.prefix(server)` would make it. */
export const serverTool = (server: JsonValue | undefined, tool: string): string => {
  const prefix = textOf(server);
  return prefix === null ? tool : `${prefix}_${tool}`;
};

const MAX_ITEMS = 10_000;

function countOf(list: unknown): number {
  try {
    return Array.isArray(list) ? list.length : 0;
  } catch {
    return 0;
  }
}

/**
 * The items of a list, each copied. What cannot be read is reported, and the others are read all
 * the same.
 */
export function itemsIn(
  list: unknown,
  path: string,
  skip: Skip,
  kindOf: (raw: Record<string, unknown>) => string | null,
): readonly Item[] {
  const items: Item[] = [];
  const count = countOf(list);
  if (count > MAX_ITEMS)
    skip({
      path,
      kind: 'list',
      why: `it has more than ${MAX_ITEMS} items; the others are not read`,
    });
  for (let index = 0; index < Math.min(count, MAX_ITEMS); index += 1) {
    const at = `${path}[${index}]`;
    try {
      const raw: unknown = Reflect.get(Object(list), index);
      const kind = isObject(raw) ? kindOf(raw) : 'unknown';
      if (kind === null) continue;
      const fields = snapshot(raw);
      if (isObject(fields)) items.push({ kind, path: at, fields });
      else skip({ path: at, kind, why: 'it is no object' });
    } catch {
      skip({ path: at, kind: 'unknown', why: 'it cannot be read' });
    }
  }
  return items;
}

/** The kind of an item that names it in `type`; `null` for one that is nobody's call. */
export const typedItem =
  (ignored: ReadonlySet<string>) =>
  ({ type }: Record<string, unknown>): string | null => {
    if (typeof type !== 'string') return 'unknown';
    return ignored.has(type) ? null : type.slice(0, 64);
  };
