/**
 * The same random programs run here and by the native interpreter: both must come to the same
 * outcome.
 */

import { compareOutcomes, type Difference, saysNothing } from './compare-outcomes.ts';
import { ENTRY, generateProgram } from './generate-program.ts';
import type { Oracle } from './oracle.ts';
import { fromAnswer, type Outcome } from './outcome.ts';
import { runHere } from './run-here.ts';
import { shrinkProgram } from './shrink-program.ts';

/**
 * What is compared with the native interpreter: the outcome of a source, `main` called when there
 * is one.
 */
export type StarlarkSubject = (source: string) => Outcome;

export interface StarlarkFuzzOptions {
  readonly programs: number;
  readonly seed: number;
  readonly oracle: Oracle;
  /** What is put to the test. @default the interpreter of this package */
  readonly subject?: StarlarkSubject;
  /** Told after every batch how many programs are compared. */
  readonly onProgress?: (done: number) => void;
}

export interface StarlarkFuzzFigures {
  programs: number;
  /** The native interpreter came to its own limits. */
  leftOut: number;
  /** How programs ended in the native interpreter. */
  readonly byEnding: Record<'ok' | 'syntax' | 'resolve' | 'eval', number>;
  /** The first few that differ, each with its number, the shrunk program and both outcomes. */
  readonly differences: string[];
}

const BATCH = 250;
const MAX_DIFFERENCES = 3;
const FILE = 'program.star';
const bundled: StarlarkSubject = (source) => runHere(source, { file: FILE, then: ENTRY });

/** Compares until so many programs were run, or a few differ. The same seed gives the same run. */
export async function fuzzStarlark({
  programs,
  seed,
  oracle,
  subject = bundled,
  onProgress,
}: StarlarkFuzzOptions): Promise<StarlarkFuzzFigures> {
  const figures: StarlarkFuzzFigures = {
    programs: 0,
    leftOut: 0,
    byEnding: { ok: 0, syntax: 0, resolve: 0, eval: 0 },
    differences: [],
  };
  while (figures.programs < programs && figures.differences.length < MAX_DIFFERENCES) {
    const numbers = Array.from(
      { length: Math.min(BATCH, programs - figures.programs) },
      (_, index) => figures.programs + index,
    );
    const sources = numbers.map((number) => generateProgram(seedOf(seed, number)));
    const outcomes = await askNative(oracle, sources);
    for (const [index, source] of sources.entries()) {
      const native = outcomes[index];
      if (native === undefined || !isCounted(figures, native)) continue;
      if (
        compareOutcomes(native, subject(source)).length === 0 ||
        figures.differences.length >= MAX_DIFFERENCES
      )
        continue;
      figures.differences.push(
        await reportOn(source, `program ${numbers[index] ?? 0} of seed ${seed}`, oracle, subject),
      );
    }
    figures.programs += sources.length;
    onProgress?.(figures.programs);
  }
  return figures;
}

/** Programs of neighbouring seeds are not to be the same ones. */
const seedOf = (seed: number, number: number): number =>
  (Math.imul(seed, 1_000_003) + number) >>> 0;

async function askNative(oracle: Oracle, sources: readonly string[]): Promise<readonly Outcome[]> {
  const answers = await oracle.ask(
    sources.map((source, index) => ({ id: String(index), file: FILE, source, then: ENTRY })),
  );
  return answers.map(fromAnswer);
}

function isCounted(figures: StarlarkFuzzFigures, native: Outcome): boolean {
  const ending = native.ok ? 'ok' : native.error?.kind;
  if (saysNothing(native) || ending === undefined || !(ending in figures.byEnding)) {
    figures.leftOut += 1;
    return false;
  }
  figures.byEnding[ending as keyof typeof figures.byEnding] += 1; // One of its keys, as was just asked.
  return true;
}

async function reportOn(
  source: string,
  title: string,
  oracle: Oracle,
  subject: StarlarkSubject,
): Promise<string> {
  const differencesOf = async (candidate: string): Promise<readonly Difference[]> => {
    const [native] = await askNative(oracle, [candidate]);
    return native === undefined || saysNothing(native)
      ? []
      : compareOutcomes(native, subject(candidate));
  };
  const [first] = await differencesOf(source);
  const about = first?.about.replace(/^global .*/, 'global');
  const small = await shrinkProgram(source, async (candidate) =>
    (await differencesOf(candidate)).some(
      (one) => one.about.replace(/^global .*/, 'global') === about,
    ),
  );
  const found = await differencesOf(small);
  return [
    `${title}:`,
    small,
    ...found.map((one) => `${one.about}\n  native: ${one.native}\n  here:   ${one.here}`),
  ].join('\n');
}
