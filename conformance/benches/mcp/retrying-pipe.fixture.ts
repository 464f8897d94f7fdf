/**
 * What the runs must catch: a server that died is started again, and gets everything again that it
 * has not answered.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { readLines } from './read-lines.ts';

const [command = '', ...args] = process.argv.slice(2);
const open = new Map<unknown, string>();
const idOf = (line: string): unknown => (JSON.parse(line) as { readonly id?: unknown }).id;
let isOver = false;
let [hello, server] = ['', start()];

function start(): ChildProcessByStdio<Writable, Readable, null> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  readLines(child.stdout, (line) => {
    if (open.delete(idOf(line))) process.stdout.write(`${line}\n`);
  });
  child.once('exit', () => {
    if (isOver) return;
    server = start();
    server.stdin.write(`${hello}\n`);
    for (const line of open.values()) server.stdin.write(`${line}\n`);
  });
  return child;
}

readLines(process.stdin, (line) => {
  if (hello === '') hello = line;
  if (idOf(line) !== undefined) open.set(idOf(line), line);
  server.stdin.write(`${line}\n`);
});
process.stdin.on('end', () => {
  isOver = true;
  server.stdin.end();
});
