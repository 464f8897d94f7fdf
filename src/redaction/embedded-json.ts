/** Texts that are JSON documents: path rules hold for them as for the value they write out. */

import type { JsonValue } from '../core/json.ts';

export interface EmbeddedJson {
  readonly text: string;
  readonly value: JsonValue;
}

/** Larger documents are not read: parsing cannot take turns. What a path hides in the value is still hidden in them. */
const MAX_JSON = 1_000_000;
/** As deep as the framework goes; deeper ones would end the walk and with it the call. */
const MAX_DEPTH = 256;

export function embeddedJson(texts: readonly string[]): readonly EmbeddedJson[] {
  return [...new Set(texts)].flatMap((text) => {
    if (text.length > MAX_JSON || !/^\s*[[{]/.test(text)) return [];
    try {
      const value = JSON.parse(text) as JsonValue; // JSON, whatever it holds.
      return isDeep(value, MAX_DEPTH) ? [] : [{ text, value }];
    } catch {
      return [];
    }
  });
}

function isDeep(value: JsonValue, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    room === 0 ||
    (Object.values(value) as readonly JsonValue[]).some((item) => isDeep(item, room - 1))
  );
}

/** The documents that changed, written out again with the indentation they had. */
export function cleanedJson(
  embedded: readonly EmbeddedJson[],
  values: readonly JsonValue[],
): ReadonlyMap<string, string> {
  return new Map(
    embedded.flatMap(({ text, value }, index) => {
      const cleaned = values[index] ?? null;
      if (cleaned === value) return [];
      const [, indent = ''] = /^\s*[[{]\n( +|\t)/.exec(text) ?? [];
      return [[text, JSON.stringify(cleaned, null, indent)] as const];
    }),
  );
}
