/** Paths into JSON, and JSON built anew around what has to go. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { type Family, familyIn, isHidden } from './names.ts';

type Segment = { readonly name: string } | { readonly index: number } | '*' | '[*]' | '**';
export type Path = readonly Segment[];
/** How far the walk has come along one path. */
export interface Cursor {
  readonly path: Path;
  readonly at: number;
}

const SEGMENT = /\.?(\*\*|\*|[^.[\]*"']+)|\[(\*|\d{1,9})\]|\[(?:"([^"]+)"|'([^']+)')\]/y;

/** Reads a path; `null` where it is none. Names count without regard to case, as headers do. */
export function parsePath(text: string): Path | null {
  const path: Segment[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < text.length) {
    const from = SEGMENT.lastIndex;
    const match = SEGMENT.exec(text);
    const dotted = text.startsWith('.', from);
    if (match === null || (dotted ? from === 0 : from > 0 && !match[0].startsWith('[')))
      return null;
    path.push(segmentOf(match));
  }
  return path.length === 0 ? null : Object.freeze(path);
}

function segmentOf([, word, index, double, single]: RegExpExecArray): Segment {
  if (word === '*' || word === '**') return word;
  if (index === '*') return '[*]';
  if (index !== undefined) return { index: Number(index) };
  return { name: (word ?? double ?? single ?? '').toLowerCase() };
}

export const startOf = (paths: readonly Path[]): readonly Cursor[] =>
  paths.length === 0 ? NO_CURSORS : paths.map((path) => ({ path, at: 0 }));
const NO_CURSORS: readonly Cursor[] = Object.freeze([]);

/** Where the paths stand one member further down. */
export function advance(cursors: readonly Cursor[], step: string | number): readonly Cursor[] {
  if (cursors.length === 0) return cursors;
  const next: Cursor[] = [];
  for (const cursor of cursors) {
    const { path } = cursor;
    // `**` stands for any number of members, also for none, and several in a row for no more than
    // one.
    let here = cursor.at;
    for (; path[here] === '**'; here += 1)
      next.push(here === cursor.at ? cursor : { path, at: here });
    const segment = path[here];
    if (segment !== undefined && fits(segment, step)) next.push({ path, at: here + 1 });
  }
  return next;
}

function fits(segment: Segment, step: string | number): boolean {
  if (typeof segment === 'string') return segment !== '[*]' || typeof step === 'number';
  if ('index' in segment) return segment.index === step;
  return typeof step === 'string' && segment.name === step.toLowerCase();
}

/** Whether a path ends here. */
export const isHit = (cursors: readonly Cursor[]): boolean =>
  cursors.some(
    ({ path, at }) =>
      at > 0 && (at >= path.length || (path[at] === '**' && at === path.length - 1)),
  );

/** A path for the record: `headers.token`, `items[2]`. */
export const writePath = (steps: readonly (string | number)[]): string =>
  steps
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('');

/** Numbers from here on are looked at as text: a card number is one. */
const LONG_NUMBER = 1e6;

export const isLong = (value: number): boolean =>
  value >= LONG_NUMBER && Number.isSafeInteger(value);
export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

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
