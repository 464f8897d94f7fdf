/** Telling the kinds of JSON apart. */

import type { JsonObject, JsonValue } from '../../src/index.ts';

/** Whether it is a list. `Array.isArray` forgets what is in it. */
export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] =>
  Array.isArray(value);

/** Whether it is an object, and no list. */
export const isRecord = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Text as it is, and everything else as JSON. */
export const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** The object that a line of text is as JSON. Nothing where it is something else. */
export function objectFrom(line: string): JsonObject {
  try {
    const value = JSON.parse(line) as JsonValue; // Whatever comes out of JSON is this.
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
