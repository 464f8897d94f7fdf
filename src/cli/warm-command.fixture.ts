/**
 * The built command, run to its end: in a process of its own, or in one that stays, which saves the
 * start for every line of a test. What is about the process itself (its signals, its terminal, that
 * it ends) is tested in processes of their own; `warm.test.ts` holds the two against each other.
 */

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';

export interface CommandRun {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly input: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface CommandEnded {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export const MAIN = resolve(import.meta.dirname, '../../dist/src/cli/main.js');

/** Standard input is a pipe, and there is no terminal, not even that of whoever runs the tests. */
export function runInProcess(
  { args, ...options }: CommandRun,
  timeout: number,
  nodeFlags: readonly string[] = [],
): CommandEnded {
  const how = { ...options, encoding: 'utf8', timeout, detached: true, maxBuffer: 1e9 } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...nodeFlags, MAIN, ...args],
    how,
  );
  return { code: status, out: stdout, err: stderr };
}

const RUN_CLI = pathToFileURL(
  resolve(import.meta.dirname, '../../dist/programs/src/cli/run-cli.js'),
).href;

/**
 * The process that stays: a line of JSON for every command on standard input, one for its end on
 * the fourth stream.
 */
const PROCESS = `
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { runCli } from ${JSON.stringify(RUN_CLI)};

const collected = () => {
  const chunks = [];
  const stream = new Writable({ write: (chunk, _, done) => (chunks.push(chunk), done()) });
  return { stream, text: () => Buffer.concat(chunks).toString() };
};

for await (const line of createInterface({ input: process.stdin })) {
  const { args, cwd, input, env } = JSON.parse(line);
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const [out, err] = [collected(), collected()];
  const streams = { stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]), stdout: out.stream, stderr: err.stream };
  const code = await runCli(args, { ...streams, cwd, env: process.env, signal: new AbortController().signal });
  process.chdir('/');
  const answer = Buffer.from(JSON.stringify({ code, out: out.text(), err: err.text() }) + '\\n');
  for (let at = 0; at < answer.length; ) at += writeSync(3, answer, at);
}
`;

/** Talks to that process while the test waits without turning. */
const BRIDGE = `
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { workerData: { port, flag, program } } = require('node:worker_threads');
const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore', 'pipe'] });
const tell = (text) => {
  port.postMessage(text);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
};
createInterface({ input: child.stdio[3] }).on('line', tell);
child.on('exit', (code) => tell(JSON.stringify({ failure: 'the process ended with ' + code })));
port.on('message', (run) => child.stdin.write(JSON.stringify(run) + '\\n'));
`;

let bridge: { readonly port: MessagePort; readonly flag: Int32Array } | undefined;

function startBridge() {
  const { port1: port, port2 } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { port: port2, flag, program: PROCESS };
  new Worker(BRIDGE, { eval: true, workerData, transferList: [port2], execArgv: [] }).unref();
  return { port, flag };
}

/**
 * The same in the process that stays. What is written past the streams of the command is not seen.
 */
export function runWarm(run: CommandRun, timeoutMs: number): CommandEnded {
  bridge ??= startBridge();
  const { port, flag } = bridge;
  Atomics.store(flag, 0, 0);
  port.postMessage(run);
  const state = Atomics.wait(flag, 0, 0, timeoutMs);
  const text =
    state === 'timed-out' ? undefined : (receiveMessageOnPort(port)?.message as string | undefined);
  if (text === undefined) {
    bridge = undefined;
    throw new Error(`allium ${run.args.join(' ')} does not end`);
  }
  const { failure, ...ended } = JSON.parse(text) as CommandEnded & { readonly failure?: string };
  if (failure !== undefined) bridge = undefined;
  if (failure !== undefined) throw new Error(failure);
  return ended;
}
