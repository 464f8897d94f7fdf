/** The command behind `npm run matrix`. */

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeThrown } from '../../../src/core/contract/errors.ts';
import { runKills } from './kill-upstream.ts';
import { CASES, FACTORS, runMatrix } from './matrix.ts';
import { pairwise } from './pairwise.ts';
import { alliumProxy } from './proxy-command.ts';
import type { Row } from './run-case.ts';
import { runFrames } from './run-frames.ts';

const HELP = `Connects real clients with real servers through allium proxy, in every way that makes sense, and looks at the results, the
effects and the receipts. Then sends hostile lines from both sides, and kills servers while calls are under way.

usage: npm run matrix -- [--pairwise] [--only TEXT] [--lanes N] [--frames N] [--kills N] [--seed S]

  --pairwise    only so many connections that every pair of values occurs
  --only TEXT   only rows whose line holds this text, e.g. "v1 dual deny"
  --lanes N     how many connections at once (default 2)
  --frames N    hostile lines from each side (default 10000)
  --kills N     how many servers are killed (default 50)
  --seed S      the same seed sends the same lines (default 1)

Exits with 1 when something was found, with 2 on a wrong option.
example: npm run matrix -- --pairwise --frames 0 --kills 0
`;

const values = readOptions();
if (values.help === true) {
  process.stdout.write(HELP);
  process.exit(0);
}
const [lanes, frames, kills, seed] = [
  wholeNumber('lanes', values.lanes ?? '2'),
  wholeNumber('frames', values.frames ?? '10000'),
  wholeNumber('kills', values.kills ?? '50'),
  wholeNumber('seed', values.seed ?? '1'),
];

function readOptions() {
  try {
    const [text, flag] = [{ type: 'string' } as const, { type: 'boolean' } as const];
    return parseArgs({
      options: {
        pairwise: flag,
        only: text,
        lanes: text,
        frames: text,
        kills: text,
        seed: text,
        help: flag,
      },
    }).values;
  } catch (error) {
    process.stderr.write(
      `${describeThrown(error)}\nnpm run matrix -- --help shows what there is\n`,
    );
    process.exit(2);
  }
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && text.trim() !== '') return value;
  process.stderr.write(`--${option} must be a whole number\n`);
  process.exit(2);
}

const caseLine = ({ client, server, behaviour, route }: (typeof CASES)[number]): string =>
  [client, server, behaviour, route].join(' ');

function rowLine(row: Row): string {
  const cells = [
    row.client.padEnd(9),
    row.server.padEnd(10),
    row.behaviour.padEnd(20),
    row.route.padEnd(6),
    row.era.padEnd(6),
  ];
  const problems = row.findings.map(({ about, problem }) => `${about}: ${problem}`).join('; ');
  return `${row.findings.length === 0 ? 'ok  ' : 'FAIL'} ${cells.join(' ')} ${String(row.durationMs).padStart(6)} ms  ${problems}`.trimEnd();
}

const startProxy = alliumProxy(resolve(import.meta.dirname, '../../../../src/cli/main.js'));
const dualFile = join(import.meta.dirname, 'dual-server.js');
const serverFile = join(import.meta.dirname, 'frame-server.js');
const { only = '' } = values;
const cases = (values.pairwise === true ? pairwise(CASES, FACTORS) : CASES).filter((each) =>
  caseLine(each).includes(only),
);

const onRow = (row: Row): void => void process.stdout.write(`${rowLine(row)}\n`);
const rows = await runMatrix({
  cases,
  startProxy,
  dualFile,
  concurrency: Math.max(1, lanes),
  onRow,
});
const failed = rows.filter(({ findings }) => findings.length > 0);
process.stdout.write(`${rows.length} connections, ${failed.length} with findings\n`);

const framed =
  frames === 0 ? null : await runFrames({ count: frames, seed, startProxy, serverFile });
const killed = kills === 0 ? null : await runKills({ kills, seed, startProxy, dualFile });
process.stdout.write(`${JSON.stringify({ seed, frames: framed, kills: killed }, null, 2)}\n`);
const hasKillFinding =
  killed !== null &&
  killed.unanswered + killed.answeredTwice + killed.twice + killed.lost + killed.problems.length >
    0;
if (
  failed.length > 0 ||
  hasKillFinding ||
  (framed !== null && Object.keys(framed.violations).length > 0)
)
  process.exitCode = 1;
