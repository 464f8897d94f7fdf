import { describe, expect, it } from 'vitest';
import { joinedFindings } from './detector.ts';
import { A_FINDING, A_WORD, passOver, spend, startEffort } from './reading.ts';

/** How many words of a text can be looked at, one at every `distance` characters. */
function looked(distance: number, words: number): number {
  const effort = startEffort();
  return Array.from({ length: words }, (_, word) => spend(effort, word * distance, A_WORD)).filter(
    Boolean,
  ).length;
}

describe('the effort that a text may ask for', () => {
  it('is never spent where words stand as far apart as in ordinary text', () => {
    expect(looked(30, 100_000)).toBe(100_000);
  });

  it('grows with the length of a text and not with the number of its words', () => {
    const [few, many] = [looked(1, 100_000), looked(0.5, 200_000)];

    expect(few).toBeLessThan(40_000);
    expect(many).toBeLessThanOrEqual(few);
  });

  it('does not add up where it is not used', () => {
    const fresh = startEffort();
    const rested = startEffort();
    spend(rested, 1_000_000, A_WORD);

    expect(rested.left).toBe(fresh.left - A_WORD);
  });
});

describe('a text that is read in windows', () => {
  it('earns once for what two of them share', () => {
    const [whole, windows] = [startEffort(), startEffort()];
    for (const effort of [whole, windows]) spend(effort, 0, 2_000);
    spend(whole, 60_000, 0);
    for (const origin of [0, 10_000, 20_000]) {
      windows.origin = origin;
      for (const at of [0, 40_000, 0, 40_000]) spend(windows, at, 0);
    }

    expect(windows.left).toBeCloseTo(whole.left);
  });

  it('earns nothing for what was decoded from it', () => {
    const effort = startEffort();
    spend(effort, 0, 2_000);
    const { left } = effort;
    effort.origin = -Infinity;
    spend(effort, 60_000, 0);

    expect(effort.left).toBe(left);
  });
});

describe('what was hidden unread', () => {
  it('adds nothing to the effort', () => {
    const [spent, passed] = [startEffort(), startEffort()];
    for (const effort of [spent, passed]) spend(effort, 0, 1_000);
    passOver(passed, 50_000);

    expect(spend(passed, 50_000, 0) && passed.left).toBe(startEffort().left - 1_000);
    expect(spend(spent, 50_000, 0) && spent.left).toBeGreaterThan(passed.left);
  });
});

describe('findings', () => {
  const told = (
    places: readonly (readonly [number, number])[],
  ): readonly (readonly [number, number])[] => {
    const spans: (readonly [number, number])[] = [];
    const findings = joinedFindings(startEffort(), (start, end) => spans.push([start, end]));
    for (const [start, end] of places) findings.tell(start, end, 'secret');
    findings.end();
    return spans;
  };

  it('are told as they are, and together where they overlap', () => {
    expect(
      told([
        [0, 5],
        [3, 9],
        [10, 12],
      ]),
    ).toEqual([
      [0, 9],
      [10, 12],
    ]);
  });

  it('hide everything between them once the effort is spent, and leave nothing out', () => {
    const places = Array.from(
      { length: 5_000 },
      (_, place) => [place * 10, place * 10 + 6] as const,
    );
    const spans = told(places);

    expect(spans.length).toBeLessThan(5_000 / A_FINDING);
    expect(
      places.every(([start, end]) => spans.some(([from, to]) => from <= start && end <= to)),
    ).toBe(true);
  });
});
