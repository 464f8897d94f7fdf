/** Values that were hidden in one place and must not be read in another. */

import type { JsonValue } from '../core/json/json-value.ts';
import { type Detector, type Finding, joinedFindings } from './detector.ts';
import { A_GLANCE, A_JUDGEMENT, codesOf, spend } from './reading.ts';

type Entry = Omit<Finding, 'value'>;

/**
 * Values of one length that begin alike, and the characters they end in: most places are told from
 * them by that one.
 */
interface SameLength {
  readonly lasts: Set<number>;
  readonly values: Map<string, Entry>;
}
export type Literals = ReadonlyMap<string, Entry>;

/** Shorter values stand in every text by chance. */
const MIN_LITERAL = 4;

const PREFIX = MIN_LITERAL;
const FILTER = 0x10000;
/** Depends on the last four characters: of those before, nothing is left in sixteen bits. */
const keyOf = (before: number, code: number): number =>
  ((before << 4) ^ (code & 0xff)) & (FILTER - 1);

/** So many characters are compared in a microsecond. */
const COMPARED = 500;
/** Where the effort is spent, so many characters are hidden at a time. */
const STEP = 64;

/**
 * Finds the values letter by letter; in other encodings through the views of the scan. One pass for
 * all of them: a result can hold thousands, and looking for each in turn would stop the process.
 */
export function literalDetector(literals: Literals): Detector {
  const filter = new Uint8Array(FILTER);
  const byPrefix = new Map<string, Map<number, SameLength>>();
  for (const [value, entry] of literals) {
    const prefix = value.slice(0, PREFIX);
    filter[codesKey(prefix)] = 1;
    const byLength = byPrefix.get(prefix) ?? new Map<number, SameLength>();
    byPrefix.set(prefix, byLength);
    const same = byLength.get(value.length) ?? { lasts: new Set(), values: new Map() };
    byLength.set(value.length, same);
    same.lasts.add(value.charCodeAt(value.length - 1));
    same.values.set(value, entry);
  }
  for (const [prefix, byLength] of byPrefix)
    byPrefix.set(prefix, new Map([...byLength].sort(([a], [b]) => b - a)));
  return {
    group: 'redactor',
    find(text, emit, effort) {
      const codes = codesOf(text);
      const { length } = text;
      let key = 0;
      const findings = joinedFindings(effort, emit);
      for (let index = 0; index < length; index += 1) {
        key = keyOf(key, codes[index] ?? 0);
        if (filter[key] === 0 || index < PREFIX - 1) continue;
        const start = index + 1 - PREFIX;
        const byLength = byPrefix.get(text.slice(start, start + PREFIX));
        for (const [size, { lasts, values }] of byLength ?? []) {
          if (!lasts.has(codes[start + size - 1] ?? 0) && spend(effort, start, A_GLANCE)) continue;
          // Once the effort is spent, the first characters are enough: the longest value that
          // begins so is taken to stand here.
          const isSpent = !spend(effort, start, A_JUDGEMENT + size / COMPARED);
          const entry = isSpent
            ? values.values().next().value
            : values.get(text.slice(start, start + size));
          const end = Math.min(length, start + (isSpent ? Math.max(size, STEP) : size));
          if (entry !== undefined) findings.tell(start, end, entry.label, entry.group);
          if (!isSpent) continue;
          index = end - 1;
          break;
        }
      }
      findings.end();
      return undefined;
    },
  };
}

function codesKey(prefix: string): number {
  let key = 0;
  for (let index = 0; index < prefix.length; index += 1) key = keyOf(key, prefix.charCodeAt(index));
  return key;
}

/** The texts and numbers in a value, as they would stand in a text. */
export function removedValues(
  value: JsonValue,
  found: Set<string> = new Set(),
): ReadonlySet<string> {
  if (typeof value === 'string' || typeof value === 'number') {
    if (String(value).length >= MIN_LITERAL) found.add(String(value));
  } else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value) as readonly JsonValue[]) removedValues(item, found);
  }
  return found;
}

/**
 * What a redactor took out: the texts that are gone, and the part that is gone from a text it only
 * changed.
 */
export function removedBetween(before: JsonValue, after: JsonValue): ReadonlySet<string> {
  const kept = removedValues(after);
  const gone = new Set([...removedValues(before)].filter((value) => !kept.has(value)));
  changedParts(before, after, gone);
  return gone;
}

function changedParts(before: JsonValue, after: JsonValue | undefined, gone: Set<string>): void {
  if (before === after || after === undefined) return;
  if (typeof before === 'string' && typeof after === 'string') {
    const part = middleOf(before, after);
    if (part.length >= MIN_LITERAL) gone.add(part);
  } else if (
    typeof before === 'object' &&
    before !== null &&
    typeof after === 'object' &&
    after !== null
  ) {
    const shown = new Map(Object.entries(after) as readonly [string, JsonValue][]);
    for (const [name, item] of Object.entries(before) as readonly [string, JsonValue][])
      changedParts(item, shown.get(name), gone);
  }
}

/** What is left of a text without what it shares with another at both ends. */
function middleOf(before: string, after: string): string {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let end = 0;
  while (
    end < shorter - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  )
    end += 1;
  return before.slice(start, before.length - end);
}
