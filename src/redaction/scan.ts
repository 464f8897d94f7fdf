/** Looks for everything to hide in a text: as it stands, unfolded, and decoded. */

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
export function scanWindow(
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
