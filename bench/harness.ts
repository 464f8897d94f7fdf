/**
 * Runs cases against each other in one process, round robin, so that every round gives pairs of
 * samples taken under the same conditions.
 *
 * What it guards against: one function literal shared by several cases becomes megamorphic and the
 * result depends on the order of the cases (`distinct`); results that nobody keeps are optimised
 * away (each case has a ring of its own); a loop that only awaits never reaches timers and
 * finalizers (every sample is followed by a turn of the event loop); short warm-ups measure the
 * compiler (more than a second per case, in several passes, so that code shared by cases settles
 * with all of them); on a shared machine the wall clock measures the neighbours (samples are
 * processor time of this process, collector included).
 *
 * What it does not do: say how long anything takes in your program. Hot loops flatter; only ratios
 * inside one run hold.
 */

import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** Something to be measured: `run` does the work `times` times, one after another. */
export interface Case {
  readonly name: string;
  /** Cases of one group are compared with each other. */
  readonly group: string;
  readonly run: (times: number) => Promise<void>;
}

/**
 * Nanoseconds of processor time per operation, one sample per round. Sample `i` of every case was
 * taken in the same round.
 */
export interface Measured {
  readonly name: string;
  readonly group: string;
  readonly samples: readonly number[];
}

export interface MeasureOptions {
  readonly rounds: number;
  /** Called with a line for people; never with results. */
  readonly onProgress: (line: string) => void;
  /**
   * Processor time per case and pass before anything counts. Large stacks take some thousand calls
   * to settle. @default 300
   */
  readonly warmUpPassMs?: number;
}

export const WARM_UP_PASSES = 4;
const SAMPLE_MS = 10;
const RING_SIZE = 256;

let sources = 0;

/**
 * Evaluates the source of a function with the given names in scope, as a literal of its own. The
 * running number matters: V8 caches evaluated sources by their text and would let two equal ones
 * share their call-site feedback.
 */
export function distinct<T>(source: string, scope: Readonly<Record<string, unknown>> = {}): T {
  sources += 1;
  const make = new Function(
    ...Object.keys(scope),
    `return (${source}) /* literal ${sources} */;`,
  ) as (...values: unknown[]) => T; // The text is the caller's own.
  return make(...Object.values(scope));
}

/**
 * A loop of its own around an operation: one call after another, inputs in turn, every result kept
 * for a while.
 */
export function loopOver<Input>(
  operation: (input: Input) => unknown,
  inputs: readonly Input[],
): Case['run'] {
  const ring = new Array<unknown>(RING_SIZE).fill(null);
  const source = `async (times) => {
    for (let i = 0; i < times; i++) ring[i % ${RING_SIZE}] = await operation(inputs[i % ${inputs.length}]);
  }`;
  return distinct(source, { operation, inputs, ring });
}

/** Warms every case up, then takes one sample of each per round. */
export async function measure(
  cases: readonly Case[],
  { rounds, onProgress, warmUpPassMs = 300 }: MeasureOptions,
): Promise<readonly Measured[]> {
  if (cases.length === 0) return [];
  const groups = [...new Set(cases.map(({ group }) => group))].join('; ');
  onProgress(
    `${groups}: warming up ${cases.length} cases, ${(WARM_UP_PASSES * warmUpPassMs) / 1000} s each`,
  );
  const entries = cases.map((subject) => ({ subject, times: 1, samples: new Array<number>() }));
  for (let pass = 0; pass < WARM_UP_PASSES; pass++) {
    for (const entry of entries) entry.times = await warmUp(entry.subject, warmUpPassMs);
  }
  onProgress(`${groups}: measuring ${rounds} rounds`);
  for (let round = 0; round < rounds; round++) {
    // Another one begins each round, so that nobody always runs behind the same neighbour's
    // garbage.
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[(round + i) % entries.length];
      if (entry !== undefined) entry.samples.push(await sampleOf(entry.subject, entry.times));
    }
  }
  return entries.map(({ subject: { name, group }, samples }) => ({ name, group, samples }));
}

/** Milliseconds of processor time this process has used, on all its threads. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs a case for a while and says how many operations make one sample. */
export async function warmUp({ run }: Pick<Case, 'run'>, passMs: number): Promise<number> {
  let times = 1;
  let elapsed = 0;
  const startedAt = usedMs();
  while (usedMs() - startedAt < passMs) {
    const before = usedMs();
    await run(times);
    elapsed = usedMs() - before;
    if (elapsed < SAMPLE_MS / 2) times *= 2;
    await turnOfTheLoop();
  }
  return Math.max(1, Math.round((times * SAMPLE_MS) / elapsed));
}

/** Nanoseconds of processor time per operation. */
export async function sampleOf({ run }: Pick<Case, 'run'>, times: number): Promise<number> {
  const startedAt = usedMs();
  await run(times);
  const elapsed = usedMs() - startedAt;
  await turnOfTheLoop();
  return (elapsed * 1e6) / times;
}
