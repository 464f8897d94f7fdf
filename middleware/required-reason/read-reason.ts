/** What counts as a reason. */

import type { JsonObject, JsonSchema, JsonValue } from '../../src/index.ts';

/** A reason is a line: what is longer is an argument that found its way into the record. */
const MAX_LENGTH = 2_000;

/** The reason without the space around it, or `null` where there is none that counts. */
export function readReason(args: JsonObject, field: string, minLength: number): string | null {
  const value = Object.hasOwn(args, field) ? args[field] : undefined;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  // Characters nobody sees say nothing.
  if (text.replace(/[\p{Cc}\p{Cf}\p{Zs}]/gu, '') === '' || text.length < minLength) return null;
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return cut.toWellFormed();
}

/** Whether a tool's own field of that name can hold a text, as far as the top of its schema says. */
export function takesText(schema: JsonSchema | null, field: string): boolean {
  const member = memberOf(memberOf(schema, 'properties'), field);
  const type = memberOf(member, 'type');
  return (
    type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'))
  );
}

const memberOf = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const isRecord = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
