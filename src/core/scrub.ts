/** Cleaning of text before a sink sees it. Fails closed: what cannot be cleaned is withheld. */

export type Scrub = (text: string) => string;

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

/** Runs every string of a JSON-like value through every cleaner, member names included. Returns a copy. */
export function scrub<T>(value: T, scrubs: readonly Scrub[]): T {
  if (scrubs.length === 0) return value;
  return scrubbed(value, scrubs) as T;
}

function scrubbed(value: unknown, scrubs: readonly Scrub[]): unknown {
  if (typeof value === 'string') return scrubText(value, scrubs);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, scrubs));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [scrubText(key, scrubs), scrubbed(item, scrubs)]));
}
