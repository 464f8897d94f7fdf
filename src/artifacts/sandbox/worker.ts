/**
 * The program of a worker: takes one job after another, and sleeps while the main side does
 * something for it.
 */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import {
  callValue,
  compileStarlark,
  newThread,
  type Program,
  runProgram,
  StarlarkError,
  type Thread,
  toStarlark,
  type Value,
} from '../../starlark/index.ts';
import { encodeText } from '../../starlark/bytes.ts';
import { plainValue, predeclaredValues, setMember } from './script-values.ts';
import type { FromWorker, HostAnswer, Job, JobEnding, WorkerSetup } from './protocol.ts';
import type { ScriptErrorKind } from './script-error.ts';

const programs = new LRUCache<string, Program>({
  max: 256,
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: (_program, key) => key.length,
});
const keys = new WeakMap<Program, string>();

/** A program holds nothing of a run: every run makes its own module of it. */
function compiled(job: Job, predeclared: readonly string[]): Program {
  const { source, file, firstLine, firstColumn, entry } = job;
  const mode = entry !== null && 'expression' in entry ? 'expression' : 'module';
  const key = JSON.stringify([mode, file, firstLine, firstColumn, predeclared, source]);
  const known = programs.get(key);
  if (known !== undefined) return known;
  const program = compileStarlark(source, { file, firstLine, firstColumn, predeclared, mode });
  programs.set(key, program);
  keys.set(program, key);
  return program;
}

function forgetProgram(program: Program): void {
  const key = keys.get(program);
  if (key !== undefined) programs.delete(key);
}

/** The main side as a job sees it. */
interface MainSide {
  print(text: string): void;
  /** Blocks until the main side has answered. */
  ask(host: number, args: readonly unknown[], kwargs: object): HostAnswer;
}

/**
 * A job while it runs. Nothing in the language catches an error, so what is noted here before
 * throwing is how it ends.
 */
interface Run {
  readonly job: Job;
  readonly main: MainSide;
  readonly thread: Thread;
  printed: number;
  calls: number;
  stopped: { readonly kind: ScriptErrorKind; readonly message: string } | null;
  /** Ended by the host with a value. */
  answered: { readonly value: unknown } | null;
}

function runJob(job: Job, main: MainSide): JobEnding {
  const { maxSteps, maxBytes } = job;
  const run: Run = {
    job,
    main,
    printed: 0,
    calls: 0,
    stopped: null,
    answered: null,
    thread: newThread({ maxSteps, maxBytes, print: (text) => print(run, text) }),
  };
  let program: Program | null = null;
  try {
    const predeclared = predeclaredValues(job, run.thread, (host, name, args, kwargs) =>
      callHost(run, host, name, args, kwargs),
    );
    program = compiled(job, [...predeclared.keys()]);
    const globals = runProgram(program, { predeclared, thread: run.thread });
    return done(run, valueOf(run, globals), job.wantsGlobals ? globalsOf(run, globals) : null);
  } catch (thrown) {
    // What a program that was left in the middle of itself still holds is not worth finding out.
    if (program !== null) forgetProgram(program);
    return run.answered === null ? failure(run, thrown) : done(run, run.answered.value, null);
  }
}

const done = ({ thread }: Run, value: unknown, globals: object | null): JobEnding => ({
  type: 'done',
  value,
  globals,
  steps: thread.steps,
  bytes: thread.bytes,
});

function valueOf(run: Run, globals: ReadonlyMap<string, Value>): unknown {
  const { job, thread } = run;
  if (job.entry === null) return null;
  if ('expression' in job.entry) return plainValue(globals.get('$value') ?? null, taking(run));
  const { call, args, kwargs } = job.entry;
  const callee = globals.get(call);
  if (callee === undefined) throw new StarlarkError(`the script has no function ${call}`);
  const named = Object.entries(kwargs).map(
    ([name, value]) => [name, toStarlark(value, thread)] as const,
  );
  return plainValue(
    callValue(
      thread,
      callee,
      args.map((value) => toStarlark(value, thread)),
      named.length === 0 ? null : new Map(named),
    ),
    taking(run),
  );
}

const taking = ({ thread, job }: Run) => ({ thread, plain: job.plain, values: 0 });

/** Functions and the like have no form outside. */
function globalsOf(run: Run, globals: ReadonlyMap<string, Value>): object {
  const members: Record<string, unknown> = {};
  for (const [name, value] of globals) {
    try {
      setMember(members, name, plainValue(value, taking(run)));
    } catch (thrown) {
      if (!(thrown instanceof StarlarkError) || thrown.kind !== 'eval') throw thrown;
    }
  }
  return members;
}

function print(run: Run, text: string): void {
  const { maxPrintBytes } = run.job;
  run.printed += Buffer.byteLength(text) + 1;
  if (run.printed > maxPrintBytes)
    stop(run, 'output', `the script printed more than ${maxPrintBytes} bytes`);
  run.main.print(text);
}

function callHost(
  run: Run,
  host: number,
  name: string,
  args: readonly Value[],
  kwargs: ReadonlyMap<string, Value> | null,
): Value {
  const { maxHostCalls } = run.job;
  run.calls += 1;
  if (run.calls > maxHostCalls)
    stop(
      run,
      'host_calls',
      `the script called built-ins of the host more than ${maxHostCalls} times`,
    );
  const strict = { thread: run.thread, plain: false, values: 0 };
  const named: Record<string, unknown> = {};
  for (const [key, value] of kwargs ?? [])
    setMember(named, String(plainValue(key, strict)), plainValue(value, strict));
  const answer = run.main.ask(
    host,
    args.map((value) => plainValue(value, strict)),
    named,
  );
  if (answer.type === 'answer') return toStarlark(answer.value, run.thread);
  if (answer.type === 'stop') run.answered = { value: answer.value };
  // Texts of the language are bytes, those of its errors too.
  throw new StarlarkError(
    encodeText(answer.type === 'error' ? answer.message : `${name} ended the script`),
  );
}

function stop(run: Run, kind: ScriptErrorKind, message: string): never {
  run.stopped = { kind, message };
  throw new StarlarkError(message);
}

/**
 * Of an error that is none of the language's only what kind it is: its text may tell of the inside.
 */
function failure({ stopped }: Run, thrown: unknown): JobEnding {
  if (thrown instanceof StarlarkError) {
    const { kind, message, line, column, traceback } = thrown;
    return { type: 'failed', kind: stopped?.kind ?? kind, message, line, column, traceback };
  }
  const nowhere = { line: 0, column: 0, traceback: [] };
  if (stopped !== null) return { type: 'failed', ...stopped, ...nowhere };
  if (!(thrown instanceof RangeError))
    return { type: 'failed', kind: 'crashed', message: 'the script engine failed', ...nowhere };
  // V8's own limits: of its stack, and of the length of a text, a list or a number.
  return /stack/.test(thrown.message)
    ? { type: 'failed', kind: 'eval', message: 'the script nests too deep', ...nowhere }
    : {
        type: 'failed',
        kind: 'memory',
        message: 'the script made a value that is too large',
        ...nowhere,
      };
}

// Only ever started as a worker, with what the main side made for it.
const port = parentPort as NonNullable<typeof parentPort>;
const bell = new Int32Array((workerData as WorkerSetup).bell);

const say = (message: FromWorker): void => port.postMessage(message);

/**
 * The main side puts its answer into the port and rings then: once this wakes up, the answer is
 * there.
 */
function ask(host: number, args: readonly unknown[], kwargs: object): HostAnswer {
  Atomics.store(bell, 0, 0);
  say({ type: 'call', host, args, kwargs });
  Atomics.wait(bell, 0, 0);
  // While a job runs, the main side says nothing but answers.
  return receiveMessageOnPort(port)?.message as HostAnswer;
}

port.on('message', (job: Job) => {
  say(runJob(job, { print: (text) => say({ type: 'print', text }), ask }));
});
say({ type: 'ready' });
