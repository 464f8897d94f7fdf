/** How much a value would weigh, without writing it down. */

import type { JsonObject, JsonValue } from '../../src/index.ts';

/** Whether a value takes more than `maxBytes` as JSON, roughly: quotes, commas and escapes are not counted. Stops counting there. */
export const isHeavierThan = (value: JsonValue, maxBytes: number): boolean =>
  weigh(value, maxBytes) < 0;

/** What is left of a budget; below zero as soon as it is spent. */
function weigh(value: JsonValue, budget: number): number {
  if (typeof value === 'string') return budget - Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return budget - 1;
  return Array.isArray(value)
    ? weighList(value, budget - 1)
    : weighMembers(value as JsonObject, budget - 1);
}

function weighList(list: readonly JsonValue[], budget: number): number {
  let left = budget;
  for (const item of list) {
    if (left < 0) break;
    left = weigh(item, left);
  }
  return left;
}

function weighMembers(members: JsonObject, budget: number): number {
  let left = budget;
  for (const key of Object.keys(members)) {
    if (left < 0) break;
    left = weigh(members[key] ?? null, left - Buffer.byteLength(key));
  }
  return left;
}
