/** Looks for everything to hide in a text: as it stands, unfolded, and decoded. */

import type { Detector, Span } from './detector.ts';
import { encodedRuns } from './encoded-runs.ts';
import { isFolded, unfold } from './unfold.ts';

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
  for (let start = WINDOW - OVERLAP; start + OVERLAP < text.length; start += WINDOW - OVERLAP) starts.push(start);
  return starts;
}

/** Everything found in one window, with positions in the whole text. */
export function scanWindow(text: string, start: number, detectors: readonly Detector[], found: Found): void {
  if (text.length <= WINDOW) return look(text, detectors, 0, found);
  look(text.slice(start, start + WINDOW), detectors, 0, (span) => {
    // What begins exactly at the cut may be the rest of something longer, which the window before has seen whole.
    if (start === 0 || span.start > 0) found({ ...span, start: span.start + start, end: span.end + start });
  });
}

/** Everything found in a text, in one go. */
export function scanText(text: string, detectors: readonly Detector[]): readonly Span[] {
  if (text.length <= WINDOW && isPlain(text, detectors)) return NOTHING;
  const spans: Span[] = [];
  for (const start of windowsOf(text)) scanWindow(text, start, detectors, (span) => spans.push(span));
  return spans;
}

const NOTHING: readonly Span[] = Object.freeze([]);

/** Nothing to find as it stands, and nothing to take off. Nearly every text ends here, and nothing was made for it. */
const isPlain = (text: string, detectors: readonly Detector[]): boolean =>
  !detectors.some(({ mayHold }) => mayHold(text)) && !isFolded(text) && encodedRuns(text).length === 0;

function look(text: string, detectors: readonly Detector[], depth: number, found: Found): void {
  for (const { group, mayHold, find } of detectors) {
    if (!mayHold(text)) continue;
    find(text, (start, end, label, own = group) => found({ start, end, label, group: own, value: text.slice(start, end) }));
  }
  if (depth === MAX_LAYERS) return;
  const view = isFolded(text) ? unfold(text) : null;
  if (view !== null) {
    look(view.text, detectors, depth + 1, (span) =>
      found({ ...span, start: view.origin[span.start] ?? 0, end: view.origin[span.end] ?? text.length }),
    );
  }
  for (const run of encodedRuns(text)) {
    look(run.text, detectors, depth + 1, (span) =>
      found({
        ...span,
        start: run.start + Math.floor(span.start / run.bytes) * run.unit,
        end: Math.min(run.end, run.start + Math.ceil(span.end / run.bytes) * run.unit),
      }),
    );
  }
}

/** Lets everybody else who is waiting go first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
