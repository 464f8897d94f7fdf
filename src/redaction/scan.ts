/**
 * Looks for everything to hide in a text: as it stands, unfolded, and decoded. At once where it is
 * short, in turns with the rest of the process where it is not.
 */

import type { Detector, Emit, Group, Sight, SignPlaces, Span } from './detector.ts';
import { isFolded } from './disguises.ts';
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
  // What begins exactly at the cut may be the rest of something longer, which the window before has
  // seen whole if it ends there.
  return scanAlone(text.slice(start, start + WINDOW), detectors, effort)
    .filter((span) => start === 0 || span.start > 0 || span.end > OVERLAP)
    .map((span) => ({ ...span, start: span.start + start, end: span.end + start }));
}

/** Everything found in a text, in one go. */
export function scanText(text: string, detectors: readonly Detector[]): readonly Span[] {
  const effort = startEffort(atOnce);
  return text.length <= WINDOW
    ? scanAlone(text, detectors, effort)
    : windowsOf(text).flatMap((start) => scanWindow(text, start, detectors, effort));
}

/** The effort of texts that are scanned in one go. */
const atOnce = startEffort();

function scanAlone(text: string, detectors: readonly Detector[], effort: Effort): readonly Span[] {
  found = null;
  look(text, detectors, 0, effort);
  return taken();
}

/**
 * Whether there is nothing to hide in a text and nothing in it is disguised or encoded, told by one
 * look at it as it stands.
 */
export function isPlain(text: string, detectors: readonly Detector[]): boolean {
  if (text.length > WINDOW) return false;
  found = null;
  const decoded = lookOnce(text, detectors, startEffort(atOnce));
  return taken().length === 0 && decoded === null && !isFolded(text, signs);
}

/**
 * What was found in the text that is being scanned, `null` as long as nothing was; that text or the
 * view of it that detectors look at, the group of the one that does, and what it saw. In one place
 * for all texts: nothing that runs from the first look at a text to the last comes from outside, so
 * that no other scan can begin in between.
 */
let found: Span[] | null = null;
let looked = '';
let finder: Group = 'secrets';
let signs: SignPlaces = null;

const emit: Emit = (start, end, label, group = finder) => {
  found ??= [];
  found.push({ start, end, label, group, value: looked.slice(start, end) });
};

/** What was found, which is not kept. */
function taken(): readonly Span[] {
  const spans = found ?? NOTHING;
  found = null;
  return spans;
}

const NOTHING: readonly Span[] = Object.freeze([]);

/** Looks at a text as it stands; answers what is encoded in it. */
function lookOnce(text: string, detectors: readonly Detector[], effort: Effort): View | null {
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
  return readRuns(text, hasSecrets ? emit : null, sight?.hints ?? NO_HINTS, effort);
}

const NO_HINTS: readonly number[] = Object.freeze([]);

function look(text: string, detectors: readonly Detector[], depth: number, effort: Effort): void {
  if (depth > 0) effort.origin = -Infinity;
  const decoded = lookOnce(text, detectors, effort);
  if (depth === MAX_LAYERS) return;
  const unfolded = isFolded(text, signs) ? unfold(text, depth, signs) : null;
  if (unfolded !== null) lookInto(unfolded, detectors, depth + 1, effort);
  if (decoded !== null) lookInto(decoded, detectors, depth + 1, effort);
}

/** What is found in a view stands in the text around it. */
function lookInto(view: View, detectors: readonly Detector[], depth: number, effort: Effort): void {
  const before = found?.length ?? 0;
  look(view.text, detectors, depth, effort);
  if (found === null) return;
  for (let index = before; index < found.length; index += 1) {
    const span = found[index];
    if (span !== undefined)
      found[index] = { ...span, start: view.startOf(span.start), end: view.endOf(span.end - 1) };
  }
}

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
