/** The command behind `npm run fuzz`. */

import { parseArgs } from 'node:util';
import { describeThrown } from '../../src/core/errors.ts';
import { fuzzDispatch } from './fuzz-dispatch.ts';
import { fuzzOnion } from './fuzz-onion.ts';

const HELP = `Sends random calls through random stacks, then through dispatchers with random stacks, and checks what must hold.

usage: npm run fuzz -- [--calls N] [--seed S]

  --calls N   calls of each kind (default 1000000)
  --seed S    the same seed gives the same run (default 1)

Exits with 1 on a violation, with 2 on a wrong option.
example: npm run fuzz -- --calls 50000 --seed 7
`;

const values = readOptions();
if (values.help === true) {
  process.stdout.write(HELP);
  process.exit(0);
}
const calls = wholeNumber('calls', values.calls ?? '1000000');
const seed = wholeNumber('seed', values.seed ?? '1');

function readOptions() {
  try {
    return parseArgs({ options: { calls: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } } }).values;
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

const step = Math.max(50, Math.floor(calls / 20));

/** Tells now and then how far a run is. */
function progressOf(what: string): (done: number) => void {
  const startedAt = performance.now();
  let shown = 0;
  return (done) => {
    if (done - shown < step) return;
    shown = done;
    process.stdout.write(`${what}: ${done} calls, ${Math.round((performance.now() - startedAt) / 1000)} s\n`);
  };
}

const onion = await fuzzOnion({ calls, seed, onProgress: progressOf('onion') });
const dispatch = await fuzzDispatch({ calls, seed, onProgress: progressOf('dispatch') });

process.stdout.write(`${JSON.stringify({ seed, onion, dispatch }, null, 2)}\n`);
if (Object.keys({ ...onion.violations, ...dispatch.violations }).length > 0) {
  process.stdout.write(`Repeat it with --seed ${seed} --calls ${calls}\n`);
  process.exitCode = 1;
}
