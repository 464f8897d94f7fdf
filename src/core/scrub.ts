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

/** Runs every string of a JSON-like value through every cleaner, member names included. Answers the same value where all are clean. */
export function scrub<T>(value: T, scrubs: readonly Scrub[]): T {
  if (scrubs.length === 0) return value;
  return scrubbed(value, scrubs) as T;
}

/** The same for an object of which some members keep their names. */
export function scrubMembers<T extends object>(value: T, scrubs: readonly Scrub[], fixed: ReadonlySet<string> = NONE): T {
  for (const name of Object.keys(value)) {
    const item = (value as Readonly<Record<string, unknown>>)[name]; // Any object can be read by its own names.
    const isClean = (fixed.has(name) || scrubText(name, scrubs) === name) && scrubbed(item, scrubs) === item;
    if (!isClean) return rebuilt(value, scrubs, fixed);
  }
  return value;
}

const NONE: ReadonlySet<string> = new Set();

function rebuilt<T extends object>(value: T, scrubs: readonly Scrub[], fixed: ReadonlySet<string>): T {
  const members = Object.entries(value).map(([name, item]) => [fixed.has(name) ? name : scrubText(name, scrubs), scrubbed(item, scrubs)]);
  return Object.fromEntries(members) as T; // The members a type names keep their names.
}

function scrubbed(value: unknown, scrubs: readonly Scrub[]): unknown {
  if (typeof value === 'string') return scrubText(value, scrubs);
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return scrubMembers(value, scrubs);
  const isClean = value.every((item) => scrubbed(item, scrubs) === item);
  return isClean ? value : value.map((item) => scrubbed(item, scrubs));
}
