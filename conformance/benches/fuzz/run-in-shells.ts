/**
 * Runs lines in every shell of this machine, where nothing but programs that write down how they
 * were called can be found.
 */

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Shell {
  readonly name: string;
  /**
   * It splits words, finds files or runs the end of a pipe in its own way: what it runs has to be
   * judged, but may be less.
   */
  readonly isOwnWay: boolean;
}

/** What became of one line. */
export interface LineRun {
  readonly line: string;
  /** Programs and their arguments, by shell. */
  readonly started: ReadonlyMap<string, readonly (readonly string[])[]>;
  readonly hasTouchedFiles: boolean;
  readonly hasHung: boolean;
}

export interface ShellRunner {
  readonly shells: readonly Shell[];
  readonly missing: readonly string[];
  run(lines: readonly string[]): readonly LineRun[];
  close(): void;
}

const KNOWN: readonly (Shell & { readonly words: readonly string[] })[] = [
  { name: 'bash', words: ['bash'], isOwnWay: false },
  { name: 'bash --posix', words: ['bash', '--posix'], isOwnWay: false },
  { name: 'dash', words: ['dash'], isOwnWay: false },
  { name: 'busybox sh', words: ['busybox', 'sh'], isOwnWay: false },
  { name: 'mksh', words: ['mksh'], isOwnWay: false },
  { name: 'yash', words: ['yash'], isOwnWay: false },
  { name: 'ksh93', words: ['ksh93'], isOwnWay: true },
  { name: 'posh', words: ['posh'], isOwnWay: false },
  { name: 'zsh', words: ['zsh', '-f'], isOwnWay: true },
];

/** Without these, lines are not compared with enough. */
export const EXPECTED_SHELLS: readonly string[] = [
  'bash',
  'bash --posix',
  'dash',
  'busybox sh',
  'mksh',
  'yash',
];

const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin'];
const locate = (program: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, program)).find((path) => existsSync(path));

/** The recorder that fails; the others end well. */
export const FAILS = 'pf';
const RECORDERS = ['pa', 'pb', 'pc', 'px', 'pu', FAILS];
const FIELD = '\x1f';
const RECORD = '\x1e';
/** A long time for what takes a hundredth of it. */
const MS_PER_RUN = 1000;

/**
 * Makes a folder with the recorders. Lines are run by `dash`, one shell for each line, without
 * input and with a search path that holds nothing but the recorders. Run only lines that reach no
 * harmful builtin.
 */
export function openShells(): ShellRunner {
  const home = mkdtempSync(join(tmpdir(), 'allium-shells-'));
  const driver = locate('dash') ?? '/bin/sh';
  const found = KNOWN.flatMap((shell) => {
    const path = locate(shell.words[0] ?? '');
    return path === undefined
      ? []
      : [{ ...shell, command: [path, ...shell.words.slice(1)].join(' ') }];
  });
  mkdirSync(join(home, 'bin'));
  for (const name of RECORDERS) {
    const script = `#!${driver}\ntrap '' PIPE\nprintf '%s${FIELD}' "$ID" '${name}' "$@" '${RECORD}' >>"$LOG"\nprintf 'o1 o2\\n'\nexit ${name === FAILS ? 1 : 0}\n`;
    writeFileSync(join(home, 'bin', name), script, { mode: 0o755 });
  }
  return {
    shells: found,
    missing: KNOWN.map(({ name }) => name).filter(
      (name) => !found.some((shell) => shell.name === name),
    ),
    run: (lines) => runLines(home, driver, found, lines),
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

type Found = Shell & { readonly command: string };

/** A batch that hangs or touches a file is run again in halves, until the line is found. */
function runLines(
  home: string,
  driver: string,
  shells: readonly Found[],
  lines: readonly string[],
): readonly LineRun[] {
  const work = join(home, 'work');
  rmSync(work, { recursive: true, force: true });
  rmSync(join(home, 'log'), { force: true });
  mkdirSync(work);
  for (const name of ['f1', 'f2']) writeFileSync(join(work, name), name);
  const jobs = lines.flatMap((line, index) =>
    shells.map(
      ({ command }, shell) =>
        `ID=${index}.${shell} ${command} -c ${quoted(line)} </dev/null >/dev/null 2>&1`,
    ),
  );
  writeFileSync(join(home, 'driver'), `ulimit -c 0 -f 2048 -t 60\n${jobs.join('\n')}\n`);
  const { error } = spawnSync(driver, [join(home, 'driver')], {
    cwd: work,
    env: {
      PATH: join(home, 'bin'),
      LOG: join(home, 'log'),
      HOME: '/nowhere',
      LC_ALL: 'C.UTF-8',
      x: 'v w',
    },
    // Whatever is started holds the pipe: this is over when all programs are, also those that their
    // shell did not wait for.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    timeout: MS_PER_RUN * Math.max(10, jobs.length / 10),
    killSignal: 'SIGKILL',
  });
  const hasHung = error !== undefined;
  const names = readdirSync(work).sort();
  const hasTouchedFiles =
    names.join() !== 'f1,f2' ||
    names.some((name) => readFileSync(join(work, name), 'utf8') !== name);
  const half = Math.ceil(lines.length / 2);
  if ((hasHung || hasTouchedFiles) && lines.length > 1)
    return [lines.slice(0, half), lines.slice(half)].flatMap((part) =>
      runLines(home, driver, shells, part),
    );
  const started = readLog(join(home, 'log'));
  const ofLine = (index: number) =>
    new Map(shells.map(({ name }, shell) => [name, started.get(`${index}.${shell}`) ?? []]));
  return lines.map((line, index) => ({ line, started: ofLine(index), hasTouchedFiles, hasHung }));
}

const quoted = (line: string): string => `'${line.replaceAll('\0', '').replaceAll("'", "'\\''")}'`;

function readLog(path: string): ReadonlyMap<string, readonly (readonly string[])[]> {
  const started = new Map<string, (readonly string[])[]>();
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  for (const record of text.split(`${RECORD}${FIELD}`)) {
    const [id = '', ...words] = record.split(FIELD).slice(0, -1);
    if (words.length > 0) started.set(id, [...(started.get(id) ?? []), words]);
  }
  return started;
}
