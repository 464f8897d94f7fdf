/** Builds JSON anew around what has to go. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { type Family, familyIn, isHidden } from './names.ts';
import { advance, type Cursor, isHit, isList, isLong } from './survey.ts';

/** A path for the record: `headers.token`, `items[2]`. */
export const writePath = (steps: readonly (string | number)[]): string =>
  steps
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('');

/**
 * What is replaced. Each answers with what it was given where there is nothing to
 * hide.
 */
export interface Rebuild {
  text(value: string): string;
  path(value: JsonValue): JsonValue;
  named(value: string, family: Family): string;
  readonly names: boolean;
  /** Told where something was replaced. */
  onChange(path: string): void;
}

type Steps = readonly (string | number)[];

/**
 * The same value where nothing was replaced; otherwise a copy of what stands above the replaced
 * parts, and only of that.
 */
export function rebuildTree(
  value: JsonValue,
  cursors: readonly Cursor[],
  rebuild: Rebuild,
  steps: Steps = [],
): JsonValue {
  if (typeof value === 'string') return told(value, rebuild.text(value), rebuild, steps);
  if (typeof value === 'number')
    return isLong(value) ? rebuiltNumber(value, rebuild, steps) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (!isList(value)) return rebuildObject(value, cursors, rebuild, steps);
  const items = value.map((item, index) =>
    rebuildMember(item, index, cursors, rebuild, [...steps, index]),
  );
  return items.some((item, index) => item !== value[index]) ? items : value;
}

function rebuildObject(
  value: JsonObject,
  cursors: readonly Cursor[],
  rebuild: Rebuild,
  steps: Steps,
): JsonObject {
  const taken = new Set<string>();
  let changed = false;
  const members = Object.keys(value).map((name) => {
    const member = value[name] ?? null;
    const shown = unique(rebuild.text(name), taken);
    const below = [...steps, shown];
    const family = rebuild.names && typeof member === 'string' ? familyIn(value, name) : null;
    const item =
      family !== null &&
      typeof member === 'string' &&
      isHidden(family, member) &&
      !isHit(advance(cursors, name))
        ? told(member, rebuild.named(member, family), rebuild, below)
        : rebuildMember(member, name, cursors, rebuild, below);
    if (shown !== name) rebuild.onChange(writePath(below));
    changed ||= shown !== name || item !== member;
    return [shown, item] as const;
  });
  // `fromEntries` defines members, so that one called `__proto__` stays a member.
  return changed ? Object.fromEntries(members) : value;
}

function rebuildMember(
  member: JsonValue,
  step: string | number,
  cursors: readonly Cursor[],
  rebuild: Rebuild,
  steps: Steps,
): JsonValue {
  const below = advance(cursors, step);
  return isHit(below)
    ? told(member, rebuild.path(member), rebuild, steps)
    : rebuildTree(member, below, rebuild, steps);
}

function rebuiltNumber(value: number, rebuild: Rebuild, steps: Steps): JsonValue {
  const text = String(value);
  const shown = rebuild.text(text);
  return shown === text ? value : told(value, shown, rebuild, steps);
}

function told<T extends JsonValue>(before: JsonValue, after: T, rebuild: Rebuild, steps: Steps): T {
  if (before !== after) rebuild.onChange(writePath(steps));
  return after;
}

/** Two names that are hidden behind the same marker stay two members. */
function unique(name: string, taken: Set<string>): string {
  let shown = name;
  for (let count = 2; taken.has(shown); count += 1) shown = `${name}#${count}`;
  taken.add(shown);
  return shown;
}
