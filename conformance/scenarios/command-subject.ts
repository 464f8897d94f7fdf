/**
 * A subject in another process, in any language: it reads one JSON object a line and answers with
 * one a line.
 *
 * | request | answer |
 * |---|---|
 * | `{ id, method: 'open', params: { tools?, layers?, host? } }` | `{ id, result: {} }`, or `{ id, error: { code?, message } }` where the stack cannot be put together |
 * | `{ id, method: 'do', params: step }` | `{ id, result: reply }` |
 * | `{ id, method: 'finish' }` | `{ id, result: traces }` |
 *
 * There is one scenario at a time: `open`, then steps, then `finish`. What it writes to standard
 * error is for people.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { AlliumError, type JsonObject } from '../../src/index.ts';
import { objectFrom, textOf } from './json-parts.ts';
import type { Reply, Subject, Traces } from './subject.ts';

/** How the process is run. */
export interface CommandSubjectOptions {
  /** @default the working directory */
  readonly cwd?: string;
  /** How long it may take to answer. @default 30000 */
  readonly timeoutMs?: number;
  /** What it writes to standard error goes here, or `'inherit'`. @default 'inherit' */
  readonly stderr?: 'inherit' | 'ignore';
}

/** What a subject says when the stack cannot be put together. */
export class SubjectError extends Error {
  override readonly name = 'SubjectError';
  readonly code: string | undefined;
  constructor({ code, message }: JsonObject) {
    super(textOf(message));
    this.code = typeof code === 'string' ? code : undefined;
  }
}

interface Connection {
  readonly ask: (method: string, params?: object) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/**
 * A subject that is a command, run by the shell. The process starts with the first scenario and
 * serves all of them.
 */
export function commandSubject(command: string, options: CommandSubjectOptions = {}): Subject {
  let connection: Connection | null = null;
  return {
    name: command,
    async open(setup) {
      connection ??= connect(command, options);
      const { ask } = connection;
      await ask('open', setup);
      return {
        // What answers is judged afterwards: whatever it is, it either matches or it does not.
        do: async (step) => (await ask('do', step)) as Reply,
        finish: async () => tracesFrom(await ask('finish')),
      };
    },
    async close() {
      await connection?.close();
      connection = null;
    },
  };
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

function connect(
  command: string,
  { cwd = process.cwd(), timeoutMs = 30_000, stderr = 'inherit' }: CommandSubjectOptions,
): Connection {
  // A group of its own, so that what the shell has started ends with it.
  const child = spawn(command, {
    cwd,
    shell: true,
    stdio: ['pipe', 'pipe', stderr],
    detached: process.platform !== 'win32',
  });
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let ended: Error | null = null;
  const end = (reason: string): void => {
    ended ??= broken(reason);
    for (const [id, { reject, timer }] of waiting) {
      clearTimeout(timer);
      waiting.delete(id);
      reject(ended);
    }
  };
  child.on('error', (error) => end(`cannot be started: ${error.message}`));
  child.on('exit', (code, signal) =>
    end(`ended with ${signal ?? `code ${String(code)}`} before it answered`),
  );
  // A process that has gone takes no input. That it has gone is what counts, and is told next.
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, ...answer } = objectFrom(line);
    const one = waiting.get(Number(id));
    if (one === undefined) return end(`answered what was not asked: ${line.slice(0, 200)}`);
    waiting.delete(Number(id));
    clearTimeout(one.timer);
    if (typeof answer.error === 'object' && answer.error !== null)
      one.reject(new SubjectError(answer.error as JsonObject)); // Just looked at.
    else one.resolve(answer.result);
  });
  return {
    ask(method, params) {
      if (ended !== null) return Promise.reject(ended);
      const id = (asked += 1);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => end(`did not answer "${method}" in ${timeoutMs} ms`),
          timeoutMs,
        );
        waiting.set(id, { resolve, reject, timer });
        child.stdin.write(`${JSON.stringify({ id, method, ...(params && { params }) })}\n`);
      });
    },
    close: () => stop(child),
  };
}

const broken = (reason: string): AlliumError =>
  new AlliumError('ERR_SUBJECT', `the subject ${reason}`);

const GRACE_MS = 1_000;

/**
 * Closes its input, which is how it is asked to end. One that stays is killed with all it has
 * started.
 */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  child.stdin?.end();
  const timer = setTimeout(() => kill(child), GRACE_MS);
  await gone;
  clearTimeout(timer);
}

function kill(child: ChildProcess): void {
  try {
    if (process.platform === 'win32' || child.pid === undefined) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Whatever is missing counts as nothing: then nothing that was expected is there. */
function tracesFrom(value: unknown): Traces {
  const given = typeof value === 'object' && value !== null ? (value as Partial<Traces>) : {}; // Judged afterwards.
  return {
    received: [],
    events: [],
    sinks: {},
    logs: [],
    files: null,
    outputs: [],
    timers: 0,
    unused: [],
    unexpected: [],
    ...given,
  };
}
