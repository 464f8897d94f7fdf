/** Readers for single fields of a payload that a tool wrote. */

import { canonicalJson } from '../core/json/canonical.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { HANDOFF_LIMITS } from './handoff-record.ts';

/**
 * Takes a value as a field wants it: `null` where there is nothing in it, `undefined` where it
 * cannot be used.
 */
export type Read<T> = (value: JsonValue) => T | null | undefined;

/** An object of the payload, and the names of what could not be taken so far. */
export interface Source {
  readonly members: JsonObject;
  /** Where the object stands in the record, with a dot at the end; empty for the record itself. */
  readonly path: string;
  readonly leftOut: Set<string>;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What a field holds, or nothing. A value that cannot be used is noted under the field's own name,
 * never by its text.
 */
export function valueOf<T>(
  { members, path, leftOut }: Source,
  name: string,
  read: Read<T>,
): T | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : null;
  const taken = value === undefined || value === null ? null : read(value);
  if (taken === undefined) leftOut.add(path + name);
  return taken ?? undefined;
}

/** The field as a member to spread; absent where it holds nothing. */
export function field<K extends string, T>(
  source: Source,
  name: K,
  read: Read<T>,
): { readonly [P in K]?: T } {
  const value = valueOf(source, name, read);
  // A computed name makes the type too wide; it is the one name asked for.
  return (value === undefined ? {} : { [name]: value }) as { readonly [P in K]?: T };
}

/**
 * Control characters but for line break and tab, and those that turn the direction of text: they
 * deceive a reader.
 */
const DECEPTIVE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

function cleaned(value: JsonValue, max: number): string | null | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  if (trimmed.length > max) return undefined;
  // A lone surrogate has no canonical form, and the record has to be hashed.
  const clean = trimmed.toWellFormed().replace(DECEPTIVE, ' ').trim();
  return clean === '' ? null : clean;
}

/** Text with line breaks. */
export const textUpTo =
  (max: number): Read<string> =>
  (value) =>
    cleaned(value, max);

/** Text on one line. */
export const lineUpTo =
  (max: number): Read<string> =>
  (value) => {
    const text = cleaned(value, max);
    return typeof text === 'string' ? text.replace(/\s+/g, ' ') : text;
  };

export const amount: Read<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

export const share: Read<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : undefined;

/**
 * A list without blanks and repetitions, in its order. Entries that cannot be used, and those too
 * many, are noted.
 */
export function listIn<T extends JsonValue | object>(
  source: Source,
  name: string,
  read: Read<T>,
): readonly T[] {
  const items =
    valueOf(source, name, (value) =>
      Array.isArray(value) ? (value as readonly JsonValue[]) : undefined,
    ) ?? [];
  const kept = new Map<string, T>();
  for (const item of items) {
    const taken = item === null ? null : read(item);
    if (taken === null) continue;
    const isTooMuch = kept.size >= HANDOFF_LIMITS.entries;
    if (taken === undefined || isTooMuch) source.leftOut.add(source.path + name);
    else kept.set(canonicalJson(taken), kept.get(canonicalJson(taken)) ?? taken);
    if (isTooMuch) break;
  }
  return [...kept.values()];
}

/**
 * An object built from the members of one in the payload; `build` says `null` where nothing comes
 * of it.
 */
export const objectOf =
  <T extends object>(
    { path, leftOut }: Source,
    name: string,
    build: (members: Source) => T | null,
  ): Read<T> =>
  (value) =>
    isObject(value) ? build({ members: value, path: `${path}${name}.`, leftOut }) : undefined;

/** The object itself, or `null` where nothing is in it. */
export const unlessEmpty = <T extends object>(value: T): T | null =>
  Object.keys(value).length === 0 ? null : value;

/** Free-form JSON, as long as it is small, shallow and can be hashed. */
export const smallJson: Read<JsonObject> = (value) =>
  isObject(value) && isSmall(value) && isShallow(value, HANDOFF_LIMITS.depth) ? value : undefined;

export function isSmall(value: JsonValue): boolean {
  try {
    return canonicalJson(value).length <= HANDOFF_LIMITS.json;
  } catch {
    return false;
  }
}

/** Goes no deeper than it allows, so that no payload can exhaust the stack. */
const isShallow = (value: JsonValue, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((item: JsonValue) => isShallow(item, levels - 1)));
