/** The built command in a folder of its own. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { MAIN, runInProcess, runWarm } from './warm-command.fixture.ts';

export { MAIN };

const TIMEOUT_MS = 50_000;

/** What a process left behind. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A folder with files, gone after the test. */
export function projectWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const envWith = (env: Readonly<Record<string, string>>) => ({
  PATH: process.env.PATH,
  HOME: tmpdir(),
  ...env,
});

/** Runs it to its end, in a process that stays or in one of its own. */
export function allium(
  cwd: string,
  args: readonly string[],
  {
    input = '',
    env = {},
    fresh = false,
  }: { input?: string; env?: Record<string, string>; fresh?: boolean } = {},
): Ended {
  return (fresh ? runInProcess : runWarm)({ cwd, args, input, env: envWith(env) }, TIMEOUT_MS);
}

/** Starts it; `shows` waits for a text on standard error. */
export function startAllium(cwd: string, args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: envWith({}),
    timeout: TIMEOUT_MS,
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (err += chunk));
  const ended = new Promise<Ended>((done) => child.on('close', (code) => done({ code, out, err })));
  return {
    ended,
    interrupt: () => child.kill('SIGINT'),
    shows: (text: string) =>
      new Promise<void>((done) => {
        const look = () => {
          if (err.includes(text)) done();
        };
        child.stderr.on('data', look);
        look();
      }),
  };
}
