/**
 * The real command in a process of its own: in a pipe, in a pseudo-terminal, or with commands that
 * misbehave.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { MAIN, runWarm } from './warm-command.fixture.ts';

/** Where its parts are, each in a file of its own. */
const parts = resolve(import.meta.dirname, '../../dist/programs/src/cli');
const timeout = 30_000;

const {
  FORCE_COLOR: _force,
  NO_COLOR: _none,
  NODE_OPTIONS: _options,
  ALLIUM_DEBUG: _debug,
  ...env
} = process.env;

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder that goes away with the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the real command in a pipe. */
export const allium = (...args: readonly string[]): Ended => alliumIn(process.cwd(), ...args);

/** The same in a folder. */
export function alliumIn(cwd: string, ...args: readonly string[]): Ended {
  const { code, out, err } = runWarm({ cwd, args, input: '', env }, timeout);
  return { code, signal: null, stdout: out, stderr: err };
}

/** Commands that wait, flood and break, on the wiring of the real one. */
const COMMANDS = `
import { readFile } from 'node:fs/promises';
import { runProcess } from ${JSON.stringify(pathToFileURL(join(parts, 'run-cli.js')).href)};
import { writeLine } from ${JSON.stringify(pathToFileURL(join(parts, 'io/io.js')).href)};
const wait = (io, heeds) => new Promise((resolve) => {
  const timer = setInterval(() => {}, 1000);
  io.signal.addEventListener('abort', () => {
    io.stderr.write('asked to end\\n');
    if (!heeds) return;
    clearInterval(timer);
    resolve(0);
  });
  io.stdout.write('ready\\n');
});
const flood = async (io) => {
  while (!io.signal.aborted) await writeLine(io.stdout, 'x'.repeat(1000));
  io.stderr.write('asked to end\\n');
  return 1;
};
const fail = () => { throw new Error('broken\\u001b[2J\\nsecond line'); };
await runProcess([(program, io, run) => {
  const add = (name, action) => program.command(name).action(() => run(action));
  add('wait', () => wait(io, true));
  add('ignore', () => wait(io, false));
  add('flood', () => flood(io));
  add('flood-and-fail', () => flood(io).then(fail));
  add('fail', fail);
  add('fail-later', () => new Promise(() => setTimeout(fail, 1)));
  add('read', () => readFile('/there/is\\u001bnothing'));
}]);
`;

/** Starts one of the commands that misbehave. Its output is read as it comes. */
export function misbehaving(command: string, more: NodeJS.ProcessEnv = {}) {
  const file = join(tempFolder(), 'commands.mjs');
  writeFileSync(file, COMMANDS);
  return watched(spawn(process.execPath, [file, command], { env: { ...env, ...more }, timeout }));
}

const PTY = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

/**
 * The same, or the real command, at a terminal of so many columns, which also is the one that
 * Ctrl-C is pressed at.
 */
export function atTerminal(
  columns: number,
  args: readonly string[],
  script = MAIN,
  cwd = process.cwd(),
) {
  const shell = [
    'sh',
    '-c',
    `stty cols ${columns} rows 24; exec "$@"`,
    'sh',
    process.execPath,
    script,
    ...args,
  ];
  return watched(
    spawn('python3', ['-c', PTY, ...shell], { cwd, env: { ...env, TERM: 'xterm' }, timeout }),
  );
}

/** The real command at a terminal of eighty columns, in a folder. */
export const atTerminalIn = (cwd: string, ...args: readonly string[]) =>
  atTerminal(80, args, MAIN, cwd);

/** The file of the commands that misbehave, for a terminal. */
export function misbehavingFile(): string {
  const file = join(tempFolder(), 'commands.mjs');
  writeFileSync(file, COMMANDS);
  return file;
}

function watched(child: ChildProcess) {
  const seen = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => void (seen[name] += chunk));
  }
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  return {
    child,
    /** What was written so far. */
    seen: () => `${seen.stdout}${seen.stderr}`,
    /** Waits until a text was written. */
    async shows(text: string): Promise<void> {
      while (!`${seen.stdout}${seen.stderr}`.includes(text)) {
        await Promise.race([
          closed,
          ...[child.stdout, child.stderr].map((stream) => once(stream ?? child, 'data')),
        ]);
        if (child.exitCode !== null && !`${seen.stdout}${seen.stderr}`.includes(text))
          throw new Error(`ended without "${text}"`);
      }
    },
    async ended(): Promise<Ended> {
      const [code, signal] = await closed;
      return { code, signal, ...seen };
    },
  };
}
