/**
 * Scripts on worker threads: a few threads for many scripts, each of which can be stopped at any
 * moment.
 */

import { AsyncResource } from 'node:async_hooks';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { snapshot, snapshotObject } from '../../core/json/json.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { describeTree } from './described.ts';
import type { Job } from './protocol.ts';
import { ScriptError } from './script-error.ts';
import { checkRequest, type ScriptOutcome, type ScriptRequest } from './script-request.ts';
import { nesting, type PreparedRun } from './script-run.ts';
import { closePlaces, openPlaces, type Places, runInPlace } from './script-places.ts';

export interface ScriptPoolOptions {
  /**
   * How many scripts compute at a time. Those that wait for the host do not count; of them there
   * are at most eight times as many.
   * @default 2
   */
  readonly size?: number;
  /**
   * Calls and loop iterations of one script.
   * @default 20000000
   */
  readonly maxSteps?: number;
  /**
   * Bytes one script may make, counted before they are made.
   * @default 268435456
   */
  readonly maxBytes?: number;
  /**
   * How long an unused worker is kept.
   * @default 30000
   */
  readonly idleMs?: number;
  /**
   * How many scripts wait for a place at most. One owner may have as many as it leaves free.
   * @default 10000
   */
  readonly maxWaiting?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

export interface ScriptPool {
  /** Rejects with `ERR_STARLARK` when the script comes to nothing; `details.kind` says why. */
  run(request: ScriptRequest): Promise<ScriptOutcome>;
  /** Cancels what runs and waits, and is done when no thread is left. */
  close(): Promise<void>;
  counts(): { readonly workers: number; readonly running: number; readonly waiting: number };
}

const EXPECTED: Readonly<Record<keyof ScriptPoolOptions, Expectation>> = Object.freeze({
  size: expected.integer(1),
  maxSteps: expected.integer(1),
  maxBytes: expected.integer(1),
  idleMs: expected.integer(0),
  maxWaiting: expected.integer(1),
  clock: expected.object,
});

const DEFAULTS = Object.freeze({
  size: 2,
  maxSteps: 20_000_000,
  maxBytes: 256 * 1024 * 1024,
  idleMs: 30_000,
  maxWaiting: 10_000,
});
/** Scripts that wait for scripts: a loop of tools that call each other ends here. */
const MAX_NESTING = 16;

interface Pool {
  readonly options: Required<ScriptPoolOptions>;
  readonly places: Places;
}

/**
 * A pool of workers. A worker is started when it is needed, takes one script at a time, and is
 * thrown away with a script that had to be stopped; the next script gets another. Workers without
 * work do not keep the process alive.
 */
export function createScriptPool(options: ScriptPoolOptions = {}): ScriptPool {
  checkOptions('createScriptPool', options, EXPECTED);
  const complete = { ...DEFAULTS, clock: systemClock, ...options };
  const places = openPlaces(complete);
  return Object.freeze<ScriptPool>({
    run: (request) => run({ options: complete, places }, request),
    close: () => closePlaces(places),
    counts: () => ({
      workers: places.workers.size,
      running: places.live.size,
      waiting: places.line.size,
    }),
  });
}

async function run(pool: Pool, request: ScriptRequest): Promise<ScriptOutcome> {
  if (pool.places.isClosed) throw new AlliumError('ERR_CLOSED', 'the script pool is closed');
  const prepared = prepare(pool, request);
  if (prepared.signal?.aborted === true)
    throw new ScriptError('cancelled', 'the script was cancelled before it began');
  const ended = await runInPlace(pool.places, prepared);
  if (ended instanceof ScriptError) throw ended;
  return ended;
}

function prepare({ options }: Pool, request: ScriptRequest): PreparedRun {
  checkRequest(request);
  const depth = nesting.getStore() ?? 0;
  if (depth > MAX_NESTING)
    throw new ScriptError('host_calls', `scripts call scripts deeper than ${MAX_NESTING}`);
  const { signal, onPrint, deadlineMs, owner = '' } = request;
  const { entry } = request;
  const tree = describeTree({
    ...request.predeclared,
    ...('expression' in entry ? entry.names : {}),
  });
  return {
    job: jobOf(request, tree.members, options),
    functions: tree.functions,
    clock: options.clock,
    deadlineMs,
    signal,
    onPrint,
    scope: new AsyncResource('AlliumScript'),
    depth,
    owner,
  };
}

function jobOf(
  request: ScriptRequest,
  predeclared: Job['predeclared'],
  options: Required<ScriptPoolOptions>,
): Job {
  const { entry } = request;
  const isExpression = 'expression' in entry;
  return {
    type: 'run',
    source: isExpression ? entry.expression : request.source,
    file: request.file,
    firstLine: request.firstLine ?? 1,
    firstColumn: request.firstColumn ?? 1,
    entry: entryOf(request),
    wantsGlobals: !isExpression && entry.globals === true,
    predeclared,
    libraries: request.libraries ?? [],
    plain: request.plain ?? false,
    maxSteps: request.maxSteps ?? options.maxSteps,
    maxBytes: request.maxBytes ?? options.maxBytes,
    maxHostCalls: request.maxHostCalls ?? 1000,
    maxPrintBytes: request.maxPrintBytes ?? 65_536,
  };
}

function entryOf({ entry }: ScriptRequest): Job['entry'] {
  if ('expression' in entry) return { expression: true };
  if (!('call' in entry)) return null;
  // A list stays one.
  return {
    call: entry.call,
    args: snapshot(entry.args) as readonly unknown[],
    kwargs: snapshotObject(entry.kwargs ?? {}),
  };
}
