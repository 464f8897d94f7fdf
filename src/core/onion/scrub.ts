/** Cleaning of text before a sink sees it. Fails closed: what cannot be cleaned is withheld. */

import type { Scrub } from '../contract/layer.ts';
import { stateOf } from './own-call.ts';
import type { ToolCall } from '../contract/call.ts';

export const WITHHELD = '[withheld: a scrub failed]';

/** Runs one text through every cleaner. */
export function scrubText(text: string, scrubs: readonly Scrub[]): string {
  let clean = text;
  for (const scrub of scrubs) {
    try {
      clean = scrub(clean);
    } catch {
      return WITHHELD;
    }
    if (typeof clean !== 'string') return WITHHELD;
  }
  return clean;
}

/**
 * Runs every string of a JSON-like value through every cleaner, member names included. Answers the
 * same value where all are clean.
 */
export function scrub<T>(value: T, scrubs: readonly Scrub[]): T {
  if (scrubs.length === 0) return value;
  return scrubbed(value, scrubs) as T;
}

/** The same for an object of which some members keep their names. */
export function scrubMembers<T extends object>(
  value: T,
  scrubs: readonly Scrub[],
  fixed: ReadonlySet<string> = NONE,
): T {
  // Any object can be read by its own names.
  const items = value as Readonly<Record<string, unknown>>;
  // Made with the first member that is not clean. Looked at once: cleaning again what was found
  // unclean would double with every level.
  let members: [string, unknown][] | null = null;
  let before = 0;
  for (const name in items) {
    if (!Object.hasOwn(items, name)) continue;
    const cleanName = fixed.has(name) ? name : scrubText(name, scrubs);
    const clean = scrubbed(items[name], scrubs);
    if (members === null && (cleanName !== name || clean !== items[name]))
      members = Object.entries(items).slice(0, before);
    members?.push([cleanName, clean]);
    before += 1;
  }
  // The members a type names keep their names.
  return members === null ? value : (Object.fromEntries(members) as T);
}

const NONE: ReadonlySet<string> = new Set();

function scrubbed(value: unknown, scrubs: readonly Scrub[]): unknown {
  if (typeof value === 'string') return scrubText(value, scrubs);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? scrubbedList(value, scrubs) : scrubMembers(value, scrubs);
}

function scrubbedList(list: readonly unknown[], scrubs: readonly Scrub[]): readonly unknown[] {
  let cleaned: unknown[] | null = null;
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index];
    const clean = scrubbed(item, scrubs);
    if (cleaned === null && clean !== item) cleaned = list.slice(0, index);
    cleaned?.push(clean);
  }
  return cleaned ?? list;
}

/**
 * A copy of a value with every string, member names included, run through each `scrub` of the stack
 * the call is in. For layers that send parts of a call elsewhere. It knows text only: a redactor
 * that masks by path has to have done so before.
 */
export const scrubFor = <T>(call: ToolCall, value: T): T => scrub(value, stateOf(call).scrubs);
