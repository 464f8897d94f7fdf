import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchorFinder } from './anchors.ts';
import { startEffort, startReading } from './reading.ts';
import { ODD_SIGNS } from './disguises.ts';
import { isFolded } from './scan.ts';
import { unfold } from './views.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

/** What stands in a text, and what is seen of it. */
const PIECES: readonly (readonly [written: string, seen: string])[] = [
  ...['a', 'key', ' = ', '&', '%', '%4', '&amp', '\\', 'é', '語'].map(
    (plain) => [plain, plain] as const,
  ),
  ...([
    ['&amp;', '&'],
    ['&#65;', 'A'],
    ['%41', 'A'],
    ['\\x41', 'A'],
    ['\\u0041', 'A'],
    ['\\n', '\n'],
    ['\u200b', ''],
    ['\u001b[31m', ''],
    ['=\n', ''],
    ['\uff21', 'A'],
    ['\u{1d400}', 'A'],
  ] as const),
];

interface Seen {
  readonly char: string;
  readonly start: number;
  readonly end: number;
}

/** Every character with its place, one after another. A backspace takes the last one away. */
function naive(pieces: readonly (readonly [string, string])[]): readonly Seen[] {
  const seen: Seen[] = [];
  let at = 0;
  for (const [written, shown] of pieces) {
    const isPlain = written === shown;
    if (written === '\b') seen.pop();
    for (let index = 0; index < shown.length; index += 1) {
      const start = isPlain ? at + index : at;
      seen.push({
        char: shown.charAt(index),
        start,
        end: isPlain ? start + 1 : at + written.length,
      });
    }
    at += written.length;
  }
  return seen;
}

const pieces = fc
  .array(fc.constantFrom(...PIECES, ['\b', ''] as const), { maxLength: 40 })
  .map((all) =>
    // A dot after each, so that two pieces do not make a third.
    all.flatMap((piece) => [piece, ['.', '.'] as const]),
  );

describe('unfold', () => {
  it('shows what is seen of a text, and knows where every character came from', () => {
    fc.assert(
      fc.property(pieces, (all) => {
        const text = all.map(([written]) => written).join('');
        const expected = naive(all);
        const view = unfold(text, 0);
        const shown = view?.text ?? text;
        const placeOf = (index: number) =>
          view === null
            ? { start: index, end: index + 1 }
            : { start: view.startOf(index), end: view.endOf(index) };
        expect(
          Array.from({ length: shown.length }, (_, index) => ({
            char: shown.charAt(index),
            ...placeOf(index),
          })),
        ).toEqual(expected);
      }),
      { numRuns: howMany(500, 2_000) },
    );
  });

  it('shows the same where it is told the places of all signs', () => {
    const finder = anchorFinder([], ODD_SIGNS);
    fc.assert(
      fc.property(pieces, (all) => {
        const text = all.map(([written]) => written).join('');
        const { codes, pairs } = startReading(text, startEffort());
        const signs = finder.find(text, codes, pairs, () => 0);
        const [told, own] = [unfold(text, 0, signs), unfold(text, 1)];
        const placesIn = (view: typeof own) =>
          Array.from(view?.text ?? '', (_, index) => [view?.startOf(index), view?.endOf(index)]);

        expect([told?.text, ...placesIn(told)]).toEqual([own?.text, ...placesIn(own)]);
        expect(isFolded(text, signs)).toBe(isFolded(text, null));
      }),
    );
  });

  it('makes room for a text that is longer than all before it', () => {
    const view = unfold(`${'x'.repeat(10_000)}%41${'y'.repeat(10_000)}`, 0);
    expect([
      view?.text.length,
      view?.startOf(10_000),
      view?.endOf(10_000),
      view?.startOf(10_001),
    ]).toEqual([20_001, 10_000, 10_003, 10_003]);
  });
});
