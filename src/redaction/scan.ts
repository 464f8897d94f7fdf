/**
 * Looks for everything to hide in a text: as it stands, unfolded, and decoded. At once where it is
 * short, in turns with the rest of the process where it is not.
 */

import type { Scrub } from '../core/contract/layer.ts';
import type { Detector, Emit, Group, Sight, SignPlaces, Span } from './detector.ts';
import { ODD, UNUSUAL } from './disguises.ts';
import { literalDetector, type Literals } from './literals.ts';
import { readRuns } from './long-runs.ts';
import type { Markers } from './markers.ts';
import { type Effort, layOut, startEffort } from './reading.ts';
import { unfold, type View } from './views.ts';

/** How many disguises on top of each other are taken off. */
const MAX_LAYERS = 3;
/** Long texts are looked at in windows, between which others get their turn. */
export const WINDOW = 65_536;
/** What two windows share, so that nothing up to this length is cut in two. */
const OVERLAP = 16_384;

/** Where the windows of a text begin. */
export function windowsOf(text: string): readonly number[] {
  const starts = [0];
  for (let start = WINDOW - OVERLAP; start + OVERLAP < text.length; start += WINDOW - OVERLAP)
    starts.push(start);
  return starts;
}

/**
 * What was found in the text that is being scanned; that text, or the view of it that detectors
 * look at, the group of the one that does, and the signs it saw. In one place for all texts:
 * nothing that runs from the first look at a text to the last comes from outside, so that no other
 * scan can begin in between.
 */
let found: Span[] = [];
let looked = '';
let finder: Group = 'secrets';
let signs: SignPlaces = null;

const emit: Emit = (start, end, label, group = finder) => {
  found.push({ start, end, label, group, value: looked.slice(start, end) });
};

/** Everything found in a text, in one go. */
export function scanText(text: string, detectors: readonly Detector[]): readonly Span[] {
  const effort = startEffort(atOnce);
  if (text.length > WINDOW)
    return windowsOf(text).flatMap((start) => scanWindow(text, start, detectors, effort));
  if (found.length > 0) found = [];
  look(text, detectors, 0, effort);
  return found.length > 0 ? found : NOTHING;
}

/** The effort of texts that are scanned in one go. */
const atOnce = startEffort();
const NOTHING: readonly Span[] = Object.freeze([]);

/**
 * Everything found in one window, with positions in the whole text. All windows of a text share its
 * effort, with all that is decoded from it.
 */
function scanWindow(
  text: string,
  start: number,
  detectors: readonly Detector[],
  effort: Effort,
): readonly Span[] {
  effort.origin = start;
  if (found.length > 0) found = [];
  look(text.slice(start, start + WINDOW), detectors, 0, effort);
  // What begins exactly at the cut may be the rest of something longer, which the window before has
  // seen whole if it ends there.
  return found
    .filter((span) => start === 0 || span.start > 0 || span.end > OVERLAP)
    .map((span) => ({ ...span, start: span.start + start, end: span.end + start }));
}

/**
 * Whether there is nothing to hide in a text and nothing in it is disguised or encoded, told by one
 * look at it as it stands.
 */
export function isPlain(text: string, detectors: readonly Detector[]): boolean {
  if (text.length > WINDOW) return false;
  if (found.length > 0) found = [];
  const hasViews = look(text, detectors, MAX_LAYERS, startEffort(atOnce));
  return !hasViews && found.length === 0;
}

/**
 * Looks at a text as it stands, and at what it hides up to `MAX_LAYERS`; answers whether it hides
 * anything.
 */
function look(
  text: string,
  detectors: readonly Detector[],
  depth: number,
  effort: Effort,
): boolean {
  layOut(text);
  looked = text;
  let sight: Sight | undefined;
  let hasSecrets = false;
  for (const { group, find } of detectors) {
    finder = group;
    hasSecrets ||= group === 'secrets';
    sight = find(text, emit, effort) ?? sight;
  }
  signs = sight?.signs ?? null;
  finder = 'secrets';
  const decoded = readRuns(text, hasSecrets ? emit : null, sight?.hints ?? NO_HINTS, effort);
  const isDisguised = isFolded(text, signs);
  if (depth < MAX_LAYERS) {
    const unfolded = isDisguised ? unfold(text, depth, signs) : null;
    if (unfolded !== null) lookInto(unfolded, detectors, depth + 1, effort);
    if (decoded !== null) lookInto(decoded, detectors, depth + 1, effort);
  }
  return isDisguised || decoded !== null;
}

const NO_HINTS: readonly number[] = Object.freeze([]);

/** Whether a text may hold disguises. */
export const isFolded = (text: string, places: SignPlaces): boolean =>
  (places === null ? ODD.test(text) : places.length > 0) ||
  (Buffer.byteLength(text) !== text.length && UNUSUAL.test(text));

/** What is found in a view stands in the text around it. A view earns no effort of its own. */
function lookInto(view: View, detectors: readonly Detector[], depth: number, effort: Effort): void {
  const before = found.length;
  effort.origin = -Infinity;
  look(view.text, detectors, depth, effort);
  const inside = found.splice(before);
  for (const span of inside)
    found.push({ ...span, start: view.startOf(span.start), end: view.endOf(span.end - 1) });
}

/** What texts are cleaned with. */
export interface TextRules {
  readonly detectors: readonly Detector[];
  readonly markers: Markers;
  /** Short texts in which nothing was found: names and codes stand in every record. */
  readonly plain: Set<string>;
}

/** Cleans one text at once: for the audit record and for progress, which cannot wait. */
export function textCleaner({ detectors, markers, plain }: TextRules, literals?: Literals): Scrub {
  const isFixed = literals === undefined || literals.size === 0;
  let all = isFixed ? detectors : null;
  return (text) => {
    if (isFixed && plain.has(text)) return text;
    // Made with the first text: most calls report nothing.
    all ??= [...detectors, literalDetector(literals ?? new Map())];
    const spans = scanText(text, all);
    if (spans.length > 0) return markers.replace(text, spans);
    // A text with digits in it is the name of one thing, and does not come again.
    if (isFixed && text.length <= MAX_PLAIN && !/\d/.test(text)) {
      if (plain.size >= MAX_REMEMBERED) plain.clear();
      plain.add(text);
    }
    return text;
  };
}

const MAX_PLAIN = 24;
const MAX_REMEMBERED = 512;

export type Spans = ReadonlyMap<string, readonly Span[]>;

/** Spans by text, for the texts that have any. */
export function scanAtOnce(
  texts: readonly string[],
  detectors: readonly Detector[],
  markers: Markers,
): Spans {
  const found = new Map<string, readonly Span[]>();
  let last = '';
  for (const text of texts) {
    // The text of a result stands on several surfaces, one after another.
    if (text === last) continue;
    last = text;
    const spans = scanText(text, detectors);
    const settled = spans.length === 0 ? spans : markers.settle(text, spans);
    if (settled.length > 0) found.set(text, settled);
  }
  return found;
}

/** The same in turns. */
export function* scanAll(
  texts: readonly string[],
  detectors: readonly Detector[],
  markers: Markers,
): Work<Spans> {
  const found = new Map<string, readonly Span[]>();
  let spent = 0;
  for (const text of new Set(texts)) {
    spent += text.length;
    const spans =
      text.length <= WINDOW ? scanText(text, detectors) : yield* scanInTurns(text, detectors);
    if (spent >= WINDOW) {
      spent = 0;
      yield nextTurn();
    }
    const settled = markers.settle(text, spans);
    if (settled.length > 0) found.set(text, settled);
  }
  return found;
}

function* scanInTurns(text: string, detectors: readonly Detector[]): Work<readonly Span[]> {
  const spans: Span[] = [];
  const effort = startEffort();
  for (const start of windowsOf(text)) {
    if (start > 0) yield nextTurn();
    for (const span of scanWindow(text, start, detectors, effort)) spans.push(span);
  }
  return spans;
}

/** Work in steps. What it yields is waited for; work that yields nothing was done at once. */
export type Work<T> = Generator<Promise<unknown>, T, unknown>;

/** Waits for one answer in the midst of such work. */
export function* wait<T>(answer: Promise<T>): Work<T> {
  return (yield answer) as T; // `finish` hands back what the promise came to.
}

/** Lets everybody else who is waiting go first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The outcome of the work, or a promise of it where the work had to wait. */
export function finish<T>(work: Work<T>): T | Promise<T> {
  const first = work.next();
  return first.done === true ? first.value : goOn(work, first.value);
}

async function goOn<T>(work: Work<T>, first: Promise<unknown>): Promise<T> {
  for (let waiting = first; ; ) {
    const step = work.next(await waiting);
    if (step.done === true) return step.value;
    waiting = step.value;
  }
}
