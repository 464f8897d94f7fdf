/** Values that were hidden in one place and must not be read in another. */

import type { JsonValue } from '../core/json.ts';
import { codesOf } from './characters.ts';
import type { Detector, Finding } from './detector.ts';

type Entry = Omit<Finding, 'value'>;
export type Literals = ReadonlyMap<string, Entry>;

/** Shorter values stand in every text by chance. */
const MIN_LITERAL = 4;

const PREFIX = MIN_LITERAL;
const FILTER = 0x1000;
/** Depends on the last four characters: of those before, nothing is left in twelve bits. */
const keyOf = (before: number, code: number): number => ((before << 3) ^ (code & 0xff)) & (FILTER - 1);

/** How often each character of a text may be compared with values that begin alike. */
const MAX_COMPARED = 4;

interface Stretch {
  readonly start: number;
  readonly entry: Entry;
  end: number;
}

/**
 * Finds the values letter by letter; in other encodings through the views of the scan. One pass for all of them: a result
 * can hold thousands, and looking for each in turn would stop the process.
 */
export function literalDetector(literals: Literals): Detector {
  const filter = new Uint8Array(FILTER);
  // By the first characters, then by length: what is to be compared is cut out and looked up.
  const byPrefix = new Map<string, Map<number, Map<string, Entry>>>();
  for (const [value, entry] of literals) {
    const prefix = value.slice(0, PREFIX);
    filter[codesKey(prefix)] = 1;
    const byLength = byPrefix.get(prefix) ?? new Map<number, Map<string, Entry>>();
    byPrefix.set(prefix, byLength);
    byLength.set(value.length, (byLength.get(value.length) ?? new Map<string, Entry>()).set(value, entry));
  }
  for (const [prefix, byLength] of byPrefix) byPrefix.set(prefix, new Map([...byLength].sort(([a], [b]) => b - a)));
  return {
    group: 'redactor',
    find(text, emit) {
      const codes = codesOf(text);
      const { length } = text;
      let key = 0;
      let budget = length * MAX_COMPARED;
      // What two values that overlap hide is told once: a text of one character would have as many findings as characters.
      let open: Stretch | null = null;
      const close = () => {
        if (open !== null) emit(open.start, open.end, open.entry.label, open.entry.group);
        open = null;
      };
      for (let index = 0; index < length; index += 1) {
        key = keyOf(key, codes[index] ?? 0);
        if (filter[key] === 0 || index < PREFIX - 1) continue;
        const start = index + 1 - PREFIX;
        for (const [size, values] of byPrefix.get(text.slice(start, start + PREFIX)) ?? []) {
          budget -= size;
          // Once the budget is spent, the first characters are enough: the longest value that begins so is taken to stand here.
          const entry = budget > 0 ? values.get(text.slice(start, start + size)) : values.values().next().value;
          const end = Math.min(length, start + size);
          if (entry === undefined || end <= (open?.end ?? 0)) continue;
          if (open === null || start >= open.end) {
            close();
            open = { start, end, entry };
          } else {
            open.end = end;
          }
          if (budget <= 0) break;
        }
      }
      close();
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
export function removedValues(value: JsonValue, found: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value === 'string' || typeof value === 'number') {
    if (String(value).length >= MIN_LITERAL) found.add(String(value));
  } else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value) as readonly JsonValue[]) removedValues(item, found);
  }
  return found;
}

/** What a redactor took out: the texts that are gone, and the part that is gone from a text it only changed. */
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
  } else if (typeof before === 'object' && before !== null && typeof after === 'object' && after !== null) {
    const shown = new Map(Object.entries(after) as readonly [string, JsonValue][]);
    for (const [name, item] of Object.entries(before) as readonly [string, JsonValue][]) changedParts(item, shown.get(name), gone);
  }
}

/** What is left of a text without what it shares with another at both ends. */
function middleOf(before: string, after: string): string {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < shorter - start && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end += 1;
  return before.slice(start, before.length - end);
}
