/**
 * Uses files while another process swaps directories for links, and counts what came from outside
 * of the root.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Jail, jail } from '../../../src/jail/jail.ts';

/** The part of a jail that is raced; anything that opens files below a root can stand in for it. */
export type FileOpener = Pick<Jail, 'open'>;

export interface JailRaceOptions {
  readonly opens: number;
  /** What opens the files; a jail unless told otherwise. */
  readonly opener?: (root: string) => FileOpener;
  readonly onProgress?: (done: number) => void;
}

/**
 * `escapes` counts reads that brought what only lies outside; `outsideChanged` says that something
 * was written there.
 */
export interface JailRaceFigures {
  readonly opens: number;
  readonly inside: number;
  readonly refused: number;
  readonly escapes: number;
  readonly outsideChanged: boolean;
}

const [INSIDE, OUTSIDE] = ['inside', 'outside'];

/**
 * Runs in a process of its own: swaps a directory and a file for links to what lies outside, and
 * back, as fast as it can.
 */
const FLIPPER = `
const { renameSync } = require('node:fs');
process.stdin.on('end', () => process.exit()).resume();
const [folder] = process.argv.slice(-1);
const swap = (name) => {
  renameSync(folder + '/' + name, folder + '/' + name + '.real');
  renameSync(folder + '/' + name + '.link', folder + '/' + name);
  renameSync(folder + '/' + name, folder + '/' + name + '.link');
  renameSync(folder + '/' + name + '.real', folder + '/' + name);
};
const flip = () => {
  for (let turn = 0; turn < 100; turn += 1) { swap('dir'); swap('file.txt'); }
  setImmediate(flip);
};
process.stdout.write('ready');
flip();
`;

/**
 * Opens for reading mostly, and now and then for writing and making, with the swapped directory and
 * the swapped file by turns.
 */
export async function raceJail(options: JailRaceOptions): Promise<JailRaceFigures> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'allium-race-')));
  const [root, outside] = [join(base, 'root'), join(base, 'outside')];
  layOut(root, outside);
  const before = textOf(outside);
  const flipper = await startFlipper(root);
  try {
    const counts = await useFiles((options.opener ?? jail)(root), options);
    return { opens: options.opens, ...counts, outsideChanged: textOf(outside) !== before };
  } finally {
    await stop(flipper);
    rmSync(base, { recursive: true, force: true });
  }
}

function layOut(root: string, outside: string): void {
  for (const [folder, text] of [
    [join(root, 'dir'), INSIDE],
    [outside, OUTSIDE],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'file.txt'), text);
  }
  writeFileSync(join(root, 'file.txt'), INSIDE);
  symlinkSync(outside, join(root, 'dir.link'));
  symlinkSync(join(outside, 'file.txt'), join(root, 'file.txt.link'));
}

const textOf = (folder: string): string =>
  JSON.stringify(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

async function startFlipper(root: string): Promise<ChildProcess> {
  const flipper = spawn(process.execPath, ['-e', FLIPPER, root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    flipper.stdout.once('data', () => resolve());
    flipper
      .once('error', reject)
      .once('exit', () => reject(new Error('the process that swaps links did not start')));
  });
  return flipper;
}

async function stop(flipper: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => flipper.once('exit', resolve));
  if (flipper.exitCode === null && flipper.signalCode === null) {
    flipper.kill('SIGKILL');
    await exited;
  }
}

async function useFiles(files: FileOpener, { opens, onProgress }: JailRaceOptions) {
  const counts = { inside: 0, refused: 0, escapes: 0 };
  for (let done = 1; done <= opens; done += 1) {
    const path = done % 3 === 0 ? 'file.txt' : 'dir/file.txt';
    const outcome =
      done % 10 === 0
        ? await write(files, done % 20 === 0 ? path : 'dir/made.txt')
        : await read(files, path);
    counts[outcome] += 1;
    onProgress?.(done);
  }
  return counts;
}

async function read(files: FileOpener, path: string): Promise<'inside' | 'refused' | 'escapes'> {
  const file = await files.open(path, 'r').catch(() => null);
  if (file === null) return 'refused';
  try {
    return (await file.readFile('utf8')) === OUTSIDE ? 'escapes' : 'inside';
  } finally {
    await file.close();
  }
}

async function write(files: FileOpener, path: string): Promise<'inside' | 'refused'> {
  const file = await files.open(path, 'w').catch(() => null);
  if (file === null) return 'refused';
  try {
    await file.writeFile(INSIDE);
  } finally {
    await file.close();
  }
  return 'inside';
}

/**
 * What looks safe and is not: resolves the path, checks it, and opens it then. For telling whether
 * a race proves anything.
 */
export function checkThenOpen(root: string): FileOpener {
  return {
    async open(path, flags = 'r') {
      const real = await realpath(join(root, path));
      if (!real.startsWith(`${root}/`)) throw new Error('outside of the root');
      return open(real, flags);
    },
  };
}
