/**
 * The checks behind `npm test`: those of a lane one after the other, the lanes side by side. A
 * failure ends its lane and no other, so that nothing is cut off in the middle; the exit code is
 * not 0 then.
 */

import { spawn } from 'node:child_process';

/** Linting needs no build, and takes about as long. The build checks the types. */
const LANES = [['check:lint'], ['check:format', 'build', 'check:tests', 'check:package']];

/** What the first lane writes comes in one piece, not among the lines of the other. */
const results = await Promise.all(LANES.map((lane, index) => runLane(lane, index > 0)));
process.exitCode = results.every(Boolean) ? 0 : 1;

async function runLane(lane, isLive) {
  for (const script of lane) if (!(await runScript(script, isLive))) return false;
  return true;
}

/** One script of `package.json`; whether it went well. */
function runScript(script, isLive) {
  // npm is a batch file on Windows, which only a shell can start. The names are our own.
  const child = spawn(`npm run ${script}`, {
    shell: true,
    stdio: ['ignore', ...Array(2).fill(isLive ? 'inherit' : 'pipe')],
  });
  const output = [];
  child.stdout?.on('data', (chunk) => output.push(chunk));
  child.stderr?.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve) =>
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(output));
      if (code !== 0) console.error(`${script} failed`);
      resolve(code === 0);
    }),
  );
}
