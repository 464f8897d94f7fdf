/** `node run-fuzz.js [--calls N] [--seed S]`: prints figures, exits with 1 on a violation. */

import { parseArgs } from 'node:util';
import { fuzzDispatch } from './fuzz-dispatch.ts';
import { fuzzOnion } from './fuzz-onion.ts';

const { values } = parseArgs({ options: { calls: { type: 'string' }, seed: { type: 'string' } } });
const calls = wholeNumber('calls', values.calls ?? '1000000');
const seed = wholeNumber('seed', values.seed ?? '1');

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
