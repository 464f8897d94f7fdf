/** The command behind `npm run crash`. */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeThrown } from '../../../src/core/contract/errors.ts';
import { approvalRuns } from './approval-runs.ts';
import { crashRuns } from './crash-runs.ts';
import { flipSweep, type Share } from './flip-sweep.ts';

const HELP = `Kills processes while they write receipts, and checks that nothing they acknowledged is lost. Then kills processes while they
run calls that were approved, takes up what they left, and checks that nothing ran twice.

usage: npm run crash -- [--kills N] [--seed S] [--flips N [--share K/N]]

  --kills N   how many processes of each kind are killed (default 200)
  --seed S    the same seed waits for the same times before it kills (default 1)
  --flips N   also changes every single byte of N receipts, one after the other, and checks that each is found (default 0)
  --share K/N changes only the K-th of N shares of the bytes: a process each makes use of several cores (default 1/1)

Exits with 1 when something was lost, ran twice or was not found, with 2 on a wrong option.
examples: npm run crash -- --kills 50 --seed 7
          npm run crash -- --kills 0 --flips 1000 --share 1/2
`;

const values = readOptions();
if (values.help === true) {
  process.stdout.write(HELP);
  process.exit(0);
}
const kills = wholeNumber('kills', values.kills ?? '200');
const seed = wholeNumber('seed', values.seed ?? '1');
const flips = wholeNumber('flips', values.flips ?? '0');
const share = shareOf(values.share ?? '1/1');

function readOptions() {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({
      options: { kills: text, seed: text, flips: text, share: text, help: { type: 'boolean' } },
    }).values;
  } catch (error) {
    process.stderr.write(`${describeThrown(error)}\nnpm run crash -- --help shows what there is\n`);
    process.exit(2);
  }
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && text.trim() !== '') return value;
  process.stderr.write(`--${option} must be a whole number\n`);
  process.exit(2);
}

function shareOf(text: string): Share {
  const [nth = 0, of = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).slice(1).map(Number);
  if (nth >= 1 && nth <= of) return { nth, of };
  process.stderr.write('--share must be a number and how many there are, such as 1/2\n');
  process.exit(2);
}

const writerFile = join(import.meta.dirname, 'crash-writer.js');
const onProgress = (done: number): void => {
  if (done % 20 === 0) process.stdout.write(`${done} kills\n`);
};
const allium = await crashRuns({ kills, seed, kind: 'allium', writerFile, onProgress });
const buffered = await crashRuns({ kills: Math.min(kills, 5), seed, kind: 'buffered', writerFile });
const hostFile = join(import.meta.dirname, 'crash-host.js');
const approvals = await approvalRuns({ kills, seed, kind: 'allium', hostFile });
const forgetful = await approvalRuns({
  kills: Math.min(kills, 8),
  seed,
  kind: 'forgetful',
  hostFile,
});
const sweep =
  flips === 0
    ? null
    : await flipSweep(flips, share, (done, of) => process.stdout.write(`${done} of ${of} bytes\n`));

process.stdout.write(
  `${JSON.stringify({ seed, allium, buffered, approvals, forgetful, sweep }, null, 2)}\n`,
);
const isBlind = (kills >= 5 && buffered.lost === 0) || (kills >= 8 && forgetful.twice === 0);
if (isBlind)
  process.stdout.write(
    'The runs did not notice a writer that acknowledges too early, or a host that forgets: they prove nothing.\n',
  );
const isLost = allium.lost > 0 || allium.problems.length > 0;
const isTwice = approvals.twice > 0 || approvals.problems.length > 0;
if (isLost || isTwice || isBlind || (sweep !== null && sweep.missed > 0)) {
  process.stdout.write(`Repeat it with --seed ${seed} --kills ${kills}\n`);
  process.exitCode = 1;
}
