/** The command behind `npm run fuzz`. */

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeThrown } from '../../../src/core/contract/errors.ts';
import { fuzzDispatch } from './fuzz-dispatch.ts';
import { type FramesFigures, fuzzFrames, hardlyRead } from './fuzz-frames.ts';
import { fuzzOnion } from './fuzz-onion.ts';
import { fuzzPolicies } from './fuzz-policies.ts';
import { fuzzRules } from './fuzz-rules.ts';
import { fuzzShells } from './fuzz-shells.ts';
import { checkThenOpen, raceJail } from './jail-race.ts';
import { EXPECTED_SHELLS } from './run-in-shells.ts';
import { oracleProblem, startOracle } from '../starlark/oracle.ts';
import { fuzzStarlark, type StarlarkFuzzFigures } from '../starlark/fuzz-starlark.ts';
import { runRedaction } from '../redaction/run-redaction.ts';

const HELP = `Sends random calls through random stacks, then through dispatchers with random stacks, and checks what must hold. Then opens files
in a jail while another process swaps links under it, and the same with an opener that checks first and opens then. Then asks random rules about random calls,
here and in Cedar, and compares the decisions. Then combines random pairs of policies, which may only tighten. Last runs random Starlark programs
here and in the native interpreter, where that can be built, and compares the outcomes. Before that sends hostile lines from both sides through the proxy,
and compares what readers of lines in Python, Java and here take for messages with what was sent.

With --shells nothing of that: runs random lines that commandPolicy allows in every shell of this machine, and compares what they run.

usage: npm run fuzz -- [--calls N] [--seed S] [--opens N] [--decisions N] [--pairs N] [--starlark N] [--frames N]
       npm run fuzz -- --secrets [--seed S]
       npm run fuzz -- --shells [--seconds N | --lines N] [--seed S]

  --calls N       calls of each kind (default 1000000)
  --seed S        the same seed gives the same run (default 1)
  --opens N       files opened in the jail (default 200000)
  --decisions N   decisions compared with Cedar (default 100000)
  --pairs N       pairs of policies (default 1000000)
  --starlark N    Starlark programs (default 20000); when this is the only number given, nothing else runs
  --frames N      hostile lines from each side of the proxy (default 20000); when this is the only number given, nothing else runs
  --secrets       measures the redaction layer instead: which kinds of secrets it misses, which ordinary documents it alters
  --shells        lines in shells, and nothing else
  --seconds N     how long lines are run in shells (default 600)
  --lines N       how many lines are run in shells, instead of a time

Exits with 1 on a violation, with 2 on a wrong option.
example: npm run fuzz -- --calls 50000 --seed 7
`;

const values = readOptions();
if (values.help === true) {
  process.stdout.write(HELP);
  process.exit(0);
}
const seed = wholeNumber('seed', values.seed ?? '1');
if (values.secrets === true) {
  const root = resolve(import.meta.dirname, '../../../../..');
  process.exit(
    (await runRedaction({ seed, root, print: (line) => process.stdout.write(`${line}\n`) }))
      ? 0
      : 1,
  );
}
if (values.shells === true) process.exit(compareShells());
const programs = wholeNumber('starlark', values.starlark ?? '20000');
const frames = wholeNumber('frames', values.frames ?? '20000');
if (
  values.frames !== undefined &&
  Object.keys(values).every((name) => name === 'frames' || name === 'seed')
) {
  const lines = await readFrames();
  process.stdout.write(`${JSON.stringify({ seed, frames: lines }, null, 2)}\n`);
  process.exit(hasDifference(lines) ? 1 : 0);
}
if (
  values.starlark !== undefined &&
  [values.calls, values.opens, values.decisions, values.pairs].every((value) => value === undefined)
) {
  const starlark = await comparePrograms();
  process.stdout.write(`${JSON.stringify({ seed, starlark }, null, 2)}\n`);
  process.exit(starlark === null || starlark.differences.length > 0 ? 1 : 0);
}
const calls = wholeNumber('calls', values.calls ?? '1000000');
const opens = wholeNumber('opens', values.opens ?? '200000');
const decisions = wholeNumber('decisions', values.decisions ?? '100000');
const pairs = wholeNumber('pairs', values.pairs ?? '1000000');

function readOptions() {
  try {
    const text = { type: 'string' } as const;
    const options = {
      calls: text,
      seed: text,
      opens: text,
      decisions: text,
      pairs: text,
      starlark: text,
      frames: text,
      secrets: { type: 'boolean' },
      shells: { type: 'boolean' },
      seconds: text,
      lines: text,
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${describeThrown(error)}\nnpm run fuzz -- --help shows what there is\n`);
    process.exit(2);
  }
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`--${option} must be a whole number\n`);
  process.exit(2);
}

/** Tells now and then how far a run is. */
function progressOf(what: string, total: number): (done: number) => void {
  const step = Math.max(50, Math.floor(total / 20));
  const startedAt = performance.now();
  let shown = 0;
  return (done) => {
    if (done - shown < step) return;
    shown = done;
    process.stdout.write(
      `${what}: ${done}, ${Math.round((performance.now() - startedAt) / 1000)} s\n`,
    );
  };
}

function readFrames(): Promise<FramesFigures> {
  return fuzzFrames({ frames, seed, onProgress: progressOf('hostile lines', 2 * frames) });
}

/** Also where most lines of a quarter were not read: such a run says nothing about them. */
function hasDifference(figures: FramesFigures): boolean {
  const unread = hardlyRead(figures);
  for (const quarter of unread) process.stdout.write(`${quarter}\n`);
  return unread.length > 0 || Object.values(figures.differences).some((count) => count > 0);
}

/**
 * 1 where a shell runs something else than what was judged, or where a shell is not there to be
 * asked.
 */
function compareShells(): number {
  const limit =
    values.lines === undefined
      ? { seconds: wholeNumber('seconds', values.seconds ?? '600') }
      : { lines: wholeNumber('lines', values.lines) };
  const figures = fuzzShells({
    seed,
    ...limit,
    onProgress: progressOf('lines in shells', limit.lines ?? 20_000),
  });
  process.stdout.write(`${JSON.stringify({ seed, ...figures }, null, 2)}\n`);
  const missing = figures.missing.filter((name) => EXPECTED_SHELLS.includes(name));
  if (missing.length > 0)
    process.stdout.write(
      `Not on this machine: ${missing.join(', ')} (apt-get install dash busybox mksh yash)\n`,
    );
  return figures.differences.length > 0 || missing.length > 0 ? 1 : 0;
}

/** The differences themselves are printed as programs; a JSON text of them could not be read. */
async function comparePrograms(): Promise<StarlarkFuzzFigures | null> {
  const problem = oracleProblem();
  if (problem !== null) {
    process.stdout.write(`Starlark programs are not compared: ${problem}\n`);
    return null;
  }
  const oracle = await startOracle(resolve(import.meta.dirname, '../../../../..'));
  const figures = await fuzzStarlark({
    programs,
    seed,
    oracle,
    onProgress: progressOf('Starlark programs', programs),
  });
  await oracle.close();
  for (const difference of figures.differences) process.stdout.write(`${difference}\n\n`);
  return figures;
}

const onion = await fuzzOnion({
  calls,
  seed,
  onProgress: progressOf('calls through the onion', calls),
});
const dispatch = await fuzzDispatch({
  calls,
  seed,
  onProgress: progressOf('calls through dispatchers', calls),
});

const jailed = await raceJail({ opens, onProgress: progressOf('opens in the jail', opens) });
const naive = await raceJail({
  opens,
  opener: checkThenOpen,
  onProgress: progressOf('opens after a check', opens),
});
const rules = fuzzRules({
  decisions,
  seed,
  onProgress: progressOf('decisions of rules', decisions),
});
const policies = fuzzPolicies({ pairs, seed, onProgress: progressOf('pairs of policies', pairs) });
const lines = await readFrames();
const starlark = await comparePrograms();

process.stdout.write(
  `${JSON.stringify({ seed, onion, dispatch, jailed, naive, rules, policies, frames: lines, starlark }, null, 2)}\n`,
);
const hasLeft = jailed.escapes > 0 || jailed.outsideChanged;
// A race nobody loses proves nothing; a short one may go well by chance.
const isBlind = opens >= 100_000 && naive.escapes === 0;
if (isBlind)
  process.stdout.write(
    'Even an opener that checks first and opens then stayed inside: the race proves nothing.\n',
  );
const violations = { ...onion.violations, ...dispatch.violations, ...policies.violations };
const differences = [...rules.differences, ...(starlark?.differences ?? [])];
if (
  Object.keys(violations).length > 0 ||
  hasLeft ||
  isBlind ||
  differences.length > 0 ||
  hasDifference(lines)
) {
  process.stdout.write(
    `Repeat it with --seed ${seed} --calls ${calls} --opens ${opens} --decisions ${decisions} --pairs ${pairs} --starlark ${programs} --frames ${frames}\n`,
  );
  process.exitCode = 1;
}
