/**
 * Looks for everything to hide in a text: as it stands, unfolded, and decoded. At once where it is
 * short, in turns with the rest of the process where it is not.
 */

import { layOut } from './characters.ts';
import {
  type Detector,
  type Emit,
  type Sight,
  type Span,
  type Effort,
  startEffort,
} from './detector.ts';
import { isFolded } from './disguises.ts';
import { readRuns } from './long-runs.ts';
import type { Markers } from './markers.ts';
import { unfold } from './views.ts';

/** How many disguises on top of each other are taken off. */
const MAX_LAYERS = 3;
/** Long texts are looked at in windows, between which others get their turn. */
export const WINDOW = 65_536;
/** What two windows share, so that nothing up to this length is cut in two. */
const OVERLAP = 16_384;

type Found = (span: Span) => void;

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
  found: Found,
): void {
  effort.origin = start;
  look(text.slice(start, start + WINDOW), detectors, 0, effort, (span) => {
    // What begins exactly at the cut may be the rest of something longer, which the window before
    // has seen whole if it ends there.
    if (start === 0 || span.start > 0 || span.end > OVERLAP)
      found({ ...span, start: span.start + start, end: span.end + start });
  });
}

/** Everything found in a text, in one go. */
export function scanText(text: string, detectors: readonly Detector[]): readonly Span[] {
  let spans: Span[] | null = null;
  const found: Found = (span) => (spans ??= []).push(span);
  const effort = startEffort();
  if (text.length <= WINDOW) look(text, detectors, 0, effort, found);
  else for (const start of windowsOf(text)) scanWindow(text, start, detectors, effort, found);
  return spans ?? NOTHING;
}

const NOTHING: readonly Span[] = Object.freeze([]);

let isSeen = false;
const see = (): void => void (isSeen = true);

/**
 * Whether there is nothing to hide in a text and nothing in it is disguised or encoded, told by one
 * look at it as it stands.
 */
export function isPlain(text: string, detectors: readonly Detector[]): boolean {
  if (text.length > WINDOW) return false;
  const effort = startEffort();
  layOut(text);
  isSeen = false;
  let sight: Sight | undefined;
  for (const { find } of detectors) sight = find(text, see, effort) ?? sight;
  return (
    !isSeen &&
    !isFolded(text, sight?.signs ?? null) &&
    readRuns(text, see, sight?.hints ?? NO_HINTS, effort) === null &&
    !isSeen
  );
}

const NO_HINTS: readonly number[] = Object.freeze([]);

function look(
  text: string,
  detectors: readonly Detector[],
  depth: number,
  effort: Effort,
  found: Found,
): void {
  if (depth > 0) effort.origin = -Infinity;
  layOut(text);
  let sight: Sight | undefined;
  let bareKeys: Emit | null = null;
  for (const { group, find } of detectors) {
    const emit: Emit = (start, end, label, own = group) =>
      found({ start, end, label, group: own, value: text.slice(start, end) });
    sight = find(text, emit, effort) ?? sight;
    if (group === 'secrets') bareKeys = emit;
  }
  const decoded = readRuns(text, bareKeys, sight?.hints ?? NO_HINTS, effort);
  if (depth === MAX_LAYERS) return;
  const signs = sight?.signs ?? null;
  const unfolded = isFolded(text, signs) ? unfold(text, depth, signs) : null;
  for (const view of [unfolded, decoded]) {
    if (view === null) continue;
    look(view.text, detectors, depth + 1, effort, (span) =>
      found({ ...span, start: view.startOf(span.start), end: view.endOf(span.end - 1) }),
    );
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
    scanWindow(text, start, detectors, effort, (span) => spans.push(span));
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
