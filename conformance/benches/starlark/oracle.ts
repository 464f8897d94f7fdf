/**
 * The native interpreter as a process: built from `oracle/main.go` when Go and the Debian package
 * are there.
 */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Debian's sources of the native interpreter, with its test data below. Another place can be named.
 */
export const NATIVE_SOURCES =
  process.env.ALLIUM_STARLARK_SOURCES ?? '/usr/share/gocode/src/go.starlark.net';

/** What to run. The text of each request is plain JSON, as `oracle/main.go` reads it. */
export interface OracleRequest {
  readonly id: string;
  readonly file: string;
  readonly source: string;
  readonly predeclared?: readonly ('assert' | 'json' | 'M' | 'U')[];
  /** Parse and resolve only. */
  readonly compile?: boolean;
  readonly maxSteps?: number;
  /** A global to call once the globals are frozen, where there is one; its value is `$result`. */
  readonly then?: string;
  /** Of a benchmark: the function to call, and how often. */
  readonly call?: string;
  readonly times?: number;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** How a run failed. `panic` and `other` are troubles of the oracle itself. */
export interface OracleFailure extends Position {
  readonly kind: 'syntax' | 'resolve' | 'eval' | 'steps' | 'panic' | 'other';
  readonly text: string;
  /** Every error of the resolver, which goes on after the first. */
  readonly all?: readonly (Position & { readonly text: string })[];
  /** The calls inside the program's own file, innermost first. */
  readonly stack?: readonly (Position & { readonly name: string })[];
}

/** Every text has one character per byte. */
export interface OracleAnswer {
  readonly id: string;
  readonly ok: boolean;
  readonly globals?: Readonly<Record<string, string>>;
  readonly prints?: readonly string[];
  readonly reports?: readonly string[];
  readonly error?: OracleFailure;
  readonly nanoseconds?: number;
}

export interface Oracle {
  /** Answers in the order of the requests. */
  ask(requests: readonly OracleRequest[]): Promise<readonly OracleAnswer[]>;
  /** Ends the process and removes its file. */
  close(): Promise<void>;
}

/**
 * Why there can be no oracle on this machine, in a sentence for people; nothing when there can be
 * one.
 */
export function oracleProblem(): string | null {
  const advice = 'apt-get install golang-go golang-starlark-dev (as root, on Debian)';
  if (!existsSync(join(NATIVE_SOURCES, 'starlark')))
    return `there is no ${NATIVE_SOURCES}: ${advice}`;
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return null;
  } catch {
    return `there is no Go: ${advice}`;
  }
}

/**
 * Builds the oracle into a temporary folder and starts it. `root` is the folder of this repository.
 */
export async function startOracle(root: string): Promise<Oracle> {
  const folder = mkdtempSync(join(tmpdir(), 'allium-starlark-'));
  const program = join(folder, 'oracle');
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH: join(NATIVE_SOURCES, '..', '..'),
    GOFLAGS: '',
  };
  try {
    execFileSync('go', ['build', '-o', program, '.'], {
      cwd: join(root, 'conformance/benches/starlark/oracle'),
      env,
      stdio: 'pipe',
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const child = spawn(program, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const closed = once(child, 'close');
  return {
    async ask(requests) {
      child.stdin.write(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
      const answers: OracleAnswer[] = [];
      while (answers.length < requests.length) answers.push(await nextAnswer(lines));
      return answers;
    },
    async close() {
      child.stdin.end();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function nextAnswer(lines: AsyncIterator<string, unknown>): Promise<OracleAnswer> {
  const { value, done } = await lines.next();
  if (done === true || typeof value !== 'string')
    throw new Error('the oracle has ended before it answered');
  return JSON.parse(value) as OracleAnswer; // Written by our own program.
}
