/**
 * What the runs must catch: every line is parsed and written again, whatever it is, and a broken
 * one ends the process.
 */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
createInterface({ input: process.stdin }).on('line', (line) =>
  child.stdin.write(`${JSON.stringify(JSON.parse(line))}\n`),
);
createInterface({ input: child.stdout }).on('line', (line) => process.stdout.write(`${line}\n`));
process.stdin.on('end', () => child.stdin.end());
