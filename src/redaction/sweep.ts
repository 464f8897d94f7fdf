/** Cleans several surfaces of one call together: what is found on one of them is hidden on all. */

import type { JsonValue } from '../core/json/json-value.ts';
import { deepSpans } from './deep-secrets.ts';
import type { Finding, Span } from './detector.ts';
import { literalDetector, type Literals, removedValues } from './literals.ts';
import { type Family, labelOfName } from './names.ts';
import { rebuildTree } from './rebuild.ts';
import type { Rules } from './rules.ts';
import { scanAll, scanAtOnce, wait, type Work } from './scan.ts';
import { isShort, startOf, type Surface, surveyAll, surveyTree } from './survey.ts';

/** What was found. */
export interface Found {
  /** Where something was replaced, as the record has it. */
  readonly fields: readonly string[];
  /** How often what was found. */
  readonly counts: Readonly<Record<string, number>>;
  /** Something was found that must not get out in any form. */
  readonly blocked: boolean;
  /** What was hidden, to be hidden elsewhere too. */
  readonly literals: Literals;
}

export interface Sweep extends Omit<Found, 'fields'> {
  /** The surfaces in their order; each the very same value where there was nothing to hide. */
  readonly values: readonly JsonValue[];
  /** Where something was replaced, by surface; empty where nothing was. */
  readonly paths: readonly (readonly string[])[];
  /** The texts with markers in them, which need no second look. */
  readonly written: ReadonlySet<string>;
}

const NO_LITERALS: Literals = new Map();
const NO_COUNTS: Readonly<Record<string, number>> = Object.freeze({});
const NO_TEXTS: ReadonlySet<string> = new Set();

/** A detector's finding this short would hide half of an ordinary text along with it. */
const MIN_REPEATED = 6;
/**
 * One this long is a key in a form of its own, or a stretch that was hidden as a whole: it is found
 * again where it stands again.
 */
const MAX_REPEATED = 512;

/** What there is to say about surfaces that are clean. */
export const NOTHING_FOUND: Found = Object.freeze({
  fields: Object.freeze([]),
  counts: NO_COUNTS,
  blocked: false,
  literals: NO_LITERALS,
});

/**
 * Takes turns with the rest of the process where there is much to look at. `clean` are texts that
 * an earlier sweep wrote.
 */
export function* sweep(
  surfaces: readonly Surface[],
  rules: Rules,
  known: Literals = NO_LITERALS,
  clean: ReadonlySet<string> = NO_TEXTS,
): Work<Sweep> {
  const { texts: all, findings: named, literals } = survey(surfaces, rules, known);
  let texts: readonly string[] = clean.size === 0 ? all : all.filter((text) => !clean.has(text));
  // Most results are short, and done with at once.
  const seen = isShort(texts)
    ? scanAtOnce(texts, rules.detectors, rules.markers)
    : yield* scanAll(texts, rules.detectors, rules.markers);
  if (seen.size + named.length + literals.size === 0 && !rules.deep)
    return unchanged(surfaces, literals);
  const found = new Map(seen);
  if (found.size + named.length + literals.size > 0) {
    const looked = new Set([...clean, ...texts]);
    const covered = coveredTexts(surfaces, rules).filter((text) => !looked.has(text));
    for (const [text, spans] of yield* scanAll(covered, rules.detectors, rules.markers))
      found.set(text, spans);
    texts = [...new Set([...texts, ...covered])];
  }
  if (rules.deep)
    for (const [text, spans] of yield* wait(deepSpans(texts))) add(found, text, spans);
  const findings: readonly Finding[] = [...[...found.values()].flat(), ...named];
  const repeated = new Map(literals);
  for (const { value, label, group } of findings) {
    if (value.length >= MIN_REPEATED && value.length <= MAX_REPEATED && !repeated.has(value))
      repeated.set(value, { label, group });
  }
  if (repeated.size > 0) yield* findLiterals(texts, repeated, rules, found);
  if (findings.length === 0 && found.size === 0) return unchanged(surfaces, repeated);
  const paths = surfaces.map(() => new Set<string>());
  const cleaned = new Map<string, string>();
  for (const [text, spans] of found) cleaned.set(text, rules.markers.replace(text, spans));
  const values = surfaces.map((surface, index) =>
    rebuilt(surface, rules, found, cleaned, paths[index] ?? new Set()),
  );
  const every = [...findings, ...[...found.values()].flat()];
  const blocked = every.some(({ group }) => rules.markers.blocks(group));
  return {
    values,
    paths: paths.map((set) => [...set]),
    counts: countsOf(every),
    blocked,
    literals: repeated,
    written: new Set(cleaned.values()),
  };
}

const NO_PATHS: Sweep['paths'] = Object.freeze([]);
const unchanged = (surfaces: readonly Surface[], literals: Literals): Sweep => ({
  values: surfaces.map(({ value }) => value),
  paths: NO_PATHS,
  counts: NO_COUNTS,
  blocked: false,
  literals,
  written: NO_TEXTS,
});

/** The texts to look into, and what the shape alone gives away. */
function survey(surfaces: readonly Surface[], { names, minText, markers }: Rules, known: Literals) {
  const texts: string[] = [];
  const findings: Finding[] = [];
  let literals = known;
  const onPath = (hidden: JsonValue) => {
    const finding = { label: 'path', group: 'paths' } as const;
    if (markers.whole(hidden, finding) === hidden) return;
    findings.push({ ...finding, value: '' });
    const removed = [...removedValues(hidden)].map((text) => [text, finding] as const);
    literals = new Map([...literals, ...removed]);
  };
  const onNamed = (value: string, family: Family) => {
    const finding = { label: labelOfName(family), group: 'secrets' } as const;
    if (markers.whole(value, finding) !== value) findings.push({ ...finding, value });
  };
  surveyAll(surfaces, texts, { texts, names, minText, onPath, onNamed });
  return { texts, findings, literals };
}

/** The texts of the surfaces that need no look as long as nothing was found. */
function coveredTexts(surfaces: readonly Surface[], { minText }: Rules): readonly string[] {
  const texts: string[] = [];
  const shape = { texts, names: false, minText, onPath: () => {}, onNamed: () => {} };
  for (const { value, paths, isCovered } of surfaces)
    if (isCovered === true) surveyTree(value, startOf(paths), shape);
  return texts;
}

const add = (found: Map<string, readonly Span[]>, text: string, spans: readonly Span[]) =>
  found.set(text, [...(found.get(text) ?? []), ...spans]);

/**
 * Adds the places of the literals to those that were found. What is hidden already is not looked
 * into again.
 */
function* findLiterals(
  texts: readonly string[],
  literals: Literals,
  rules: Rules,
  found: Map<string, readonly Span[]>,
): Work<void> {
  let longest = 0;
  for (const value of literals.keys()) longest = Math.max(longest, value.length);
  const shown = new Map(
    [...new Set(texts)].map((text) => [text, withoutInsides(text, found.get(text) ?? [], longest)]),
  );
  const places = yield* scanAll([...shown.values()], [literalDetector(literals)], rules.markers);
  for (const [text, own] of shown) if (places.has(own)) add(found, text, places.get(own) ?? []);
}

/**
 * The text with blanks for what lies in long spans. So much of them is left at both ends as a
 * literal may share with one.
 */
function withoutInsides(text: string, spans: readonly Span[], longest: number): string {
  let shown = '';
  let last = 0;
  for (const { start, end } of spans) {
    if (end - start <= 2 * longest) continue;
    shown += text.slice(last, start + longest) + ' '.repeat(end - start - 2 * longest);
    last = end - longest;
  }
  return last === 0 ? text : shown + text.slice(last);
}

function rebuilt(
  { value, paths }: Surface,
  { names, markers }: Rules,
  found: ReadonlyMap<string, readonly Span[]>,
  cleaned: ReadonlyMap<string, string>,
  changed: Set<string>,
): JsonValue {
  return rebuildTree(value, startOf(paths), {
    names,
    text: (text) => cleaned.get(text) ?? text,
    path: (hidden) => markers.whole(hidden, { label: 'path', group: 'paths' }),
    named: (text, family) => {
      // A token says more about itself than the name it goes by.
      const spans = found.get(text) ?? [];
      const isWhole = spans.some(({ start, end }) => start === 0 && end === text.length);
      return isWhole
        ? (cleaned.get(text) ?? text)
        : markers.whole(text, { label: labelOfName(family), group: 'secrets' });
    },
    onChange: (path) => changed.add(path),
  });
}

/**
 * How many different values of a kind were found. A value that was found in several ways counts as
 * the first.
 */
function countsOf(findings: readonly Finding[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  for (const { label, value } of findings) {
    if (value !== '' && seen.has(value)) continue;
    seen.add(value);
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
