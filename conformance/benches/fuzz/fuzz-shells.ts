/**
 * Random lines, and whether the shells of this machine run what `commandPolicy` judged when it
 * allowed one of them.
 */

import { commandPolicy } from '../../../src/permissions/command/command-policy.ts';
import type { CommandWord } from '../../../src/permissions/command/command-word.ts';
import { readCommand } from '../../../src/permissions/command/read-command.ts';
import type { PermissionAnswer, PermissionRequest } from '../../../src/permissions/permission.ts';
import { createRandom } from './random.ts';
import { randomLine } from './random-lines.ts';
import { FAILS, type LineRun, openShells, type ShellRunner } from './run-in-shells.ts';

/** The commands of a line that is allowed, program first; `null` for a line that is not. */
export type LineJudge = (line: string) => readonly (readonly CommandWord[])[] | null;

export interface FuzzShellsOptions {
  readonly seed: number;
  /** Ends when so many lines were run. @default no limit */
  readonly lines?: number;
  /** Ends after so many seconds. @default no limit */
  readonly seconds?: number;
  /** What is put to the test. @default commandPolicy */
  readonly judge?: LineJudge;
  /** Told now and then how many lines were run. */
  readonly onProgress?: (done: number) => void;
}

export interface ShellFigures {
  /** Lines that were judged, and those of them that were allowed and run. */
  judged: number;
  allowed: number;
  /** How many programs the shells started, and how many lines differed, by shell. */
  readonly shells: Record<string, { started: number; differences: number }>;
  /** Shells that are not on this machine. */
  readonly missing: readonly string[];
  /** Each once: the shell, what it did, the line. Not more than `MAX_SHOWN`. */
  readonly differences: string[];
}

const MAX_SHOWN = 50;
const BATCH = 25;
/** Lines in a row that are not allowed before a run of a judge that allows nothing ends. */
const MAX_REFUSED = 1_000_000;

const POLICY = commandPolicy({ allow: ['pa', 'pb', 'pc', FAILS], deny: ['px'] });

/** What `commandPolicy` judged where it allows the recorders and no other program. */
export const judgedLine: LineJudge = (line) => {
  // The policy looks at nothing else of a request.
  const answer = POLICY.evaluate({
    kind: 'process.command',
    command: line,
  } as PermissionRequest) as PermissionAnswer;
  return answer.decision === 'allow'
    ? readCommand({ command: line }).invocations.map(({ words }) => words)
    : null;
};

/**
 * Runs allowed lines in every shell and compares. Never throws for what it finds; look at
 * `differences`.
 */
export function fuzzShells(options: FuzzShellsOptions): ShellFigures {
  const {
    seed,
    lines = Number.POSITIVE_INFINITY,
    seconds = Number.POSITIVE_INFINITY,
    judge = judgedLine,
    onProgress,
  } = options;
  const random = createRandom(seed);
  const seen = new Set<string>();
  const endsAt = performance.now() + seconds * 1000;
  return withShells((runner, figures) => {
    while (figures.allowed < lines && performance.now() < endsAt) {
      const batch: string[] = [];
      for (
        let tries = 0;
        batch.length < Math.min(BATCH, lines - figures.allowed) && tries < MAX_REFUSED;
        tries += 1
      ) {
        const line = randomLine(random);
        if (seen.has(line)) continue;
        figures.judged += 1;
        if (judge(line) === null) continue;
        seen.add(line);
        batch.push(line);
      }
      if (batch.length === 0) break;
      compareBatch(batch, judge, runner, figures);
      onProgress?.(figures.allowed);
    }
  });
}

/** The same for lines of one's own. */
export function compareLines(
  lines: readonly string[],
  judge: LineJudge = judgedLine,
): ShellFigures {
  return withShells((runner, figures) => {
    figures.judged = lines.length;
    compareBatch(
      lines.filter((line) => judge(line) !== null),
      judge,
      runner,
      figures,
    );
  });
}

function withShells(work: (runner: ShellRunner, figures: ShellFigures) => void): ShellFigures {
  const runner = openShells();
  const shells = Object.fromEntries(
    runner.shells.map(({ name }) => [name, { started: 0, differences: 0 }]),
  );
  const figures: ShellFigures = {
    judged: 0,
    allowed: 0,
    shells,
    missing: runner.missing,
    differences: [],
  };
  try {
    work(runner, figures);
    return figures;
  } finally {
    runner.close();
  }
}

/** Holds lines that were allowed against what the shells do with them. */
function compareBatch(
  batch: readonly string[],
  judge: LineJudge,
  runner: ShellRunner,
  figures: ShellFigures,
): void {
  figures.allowed += batch.length;
  for (const run of runner.run(batch)) {
    const commands = judge(run.line) ?? [];
    const [reference = []] = run.started.values();
    for (const { name, isOwnWay } of runner.shells) {
      const started = run.started.get(name) ?? [];
      const shell = figures.shells[name];
      if (shell === undefined) continue;
      shell.started += started.length;
      const problem =
        problemOf(run, commands, started) ??
        (isOwnWay ? null : shortfallOf(run.line, commands, started, reference));
      if (problem === null) continue;
      shell.differences += 1;
      if (figures.differences.length < MAX_SHOWN)
        figures.differences.push(`${name} ${problem}: ${JSON.stringify(run.line)}`);
    }
  }
}

type Started = readonly (readonly string[])[];

type Commands = readonly (readonly CommandWord[])[];

/** What a shell did that was not judged. */
function problemOf(
  { hasTouchedFiles, hasHung }: LineRun,
  commands: Commands,
  started: Started,
): string | null {
  if (hasHung) return 'does not end';
  if (hasTouchedFiles) return 'writes a file';
  const other = started.find((words) => !commands.some((command) => fits(command, words)));
  return other === undefined ? null : `runs ${JSON.stringify(other)}`;
}

/** What was judged and a shell did not do, or did in another way than the first shell. */
function shortfallOf(
  line: string,
  commands: Commands,
  started: Started,
  reference: Started,
): string | null {
  if (!isSame(started, reference)) return 'runs other words';
  const expected = commands.filter(([program]) => /^p.$/.test(program?.literal ?? '')).length;
  return isStraight(line) && started.length !== expected
    ? `runs ${started.length} programs and not ${expected}`
    : null;
}

/** Nothing decides which of its commands run, so that all of them do, once. */
const isStraight = (line: string): boolean =>
  !/\|\||\bif\b|\bfor\b|exec|</.test(line) && !line.includes(FAILS);

/**
 * Whether a program and its arguments are what was judged; a word that was not known may have
 * become any number of words.
 */
function fits(command: readonly CommandWord[], words: readonly string[]): boolean {
  const [first, ...rest] = command;
  if (first === undefined) return words.length === 0;
  if (first.literal !== null) return words[0] === first.literal && fits(rest, words.slice(1));
  return fits(rest, words) || (words.length > 0 && fits(command, words.slice(1)));
}

/** In any order: the programs of a pipe start at once. */
const isSame = (some: Started, others: Started): boolean => textOf(some) === textOf(others);
const textOf = (started: Started): string =>
  JSON.stringify(started.map((words) => JSON.stringify(words)).sort());
