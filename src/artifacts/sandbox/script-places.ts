/**
 * Who works on what: the workers of a pool, the scripts that have one, and those that wait for one.
 */

import { followAbort } from '../../core/time/abort.ts';
import { type FairLine, fairLine } from '../../dispatch/intake/fair-line.ts';
import { ScriptError } from './script-error.ts';
import { type LiveRun, type PreparedRun, type RunEnding, takeUp } from './script-run.ts';
import { type ScriptWorker, startWorker } from './script-worker.ts';

interface PlacesOptions {
  readonly size: number;
  readonly maxBytes: number;
  readonly idleMs: number;
  readonly maxWaiting: number;
}

interface Waiting {
  readonly run: PreparedRun;
  readonly start: () => void;
  readonly giveUp: (kind: 'cancelled' | 'busy', message: string) => void;
}

export interface Places {
  readonly options: PlacesOptions;
  readonly workers: Set<ScriptWorker>;
  readonly idle: Map<ScriptWorker, NodeJS.Timeout>;
  readonly ending: Set<Promise<void>>;
  readonly live: Set<LiveRun>;
  readonly line: FairLine<Waiting>;
  /**
   * How many run at each depth, and of those for whom: a script that another one waits for is one
   * deeper.
   */
  readonly running: Map<string, number>[];
  computing: number;
  isClosed: boolean;
}

/** Workers that sleep cost memory and nothing else. */
const SLEEPERS_PER_PLACE = 8;
/**
 * What the language counts is less than what the engine needs for it, and a list that grows is
 * there twice for a moment.
 */
const HEAP_PER_BYTE = 3;
const MIN_HEAP_MB = 128;

export const openPlaces = (options: PlacesOptions): Places => ({
  options,
  workers: new Set(),
  idle: new Map(),
  ending: new Set(),
  live: new Set(),
  line: fairLine(),
  running: [],
  computing: 0,
  isClosed: false,
});

export async function runInPlace(places: Places, run: PreparedRun): Promise<RunEnding['ended']> {
  // Behind those that wait: a place that is free for a moment is the next one's.
  if (places.line.size === 0 && hasPlace(places, run)) count(places, run, 1);
  else await placeFor(places, run);
  // It may have been closed between the word that there is a place and this line.
  if (places.isClosed) return new ScriptError('cancelled', CLOSED);
  const worker = takeIdle(places) ?? hire(places);
  let isComputing = true;
  const live = takeUp(worker, run, (isWaiting) => {
    isComputing = !isWaiting;
    places.computing += isWaiting ? -1 : 1;
    if (isWaiting) startWaiting(places);
  });
  places.live.add(live);
  const { ended, reusable } = await live.ending;
  places.live.delete(live);
  if (!isComputing) places.computing += 1;
  count(places, run, -1);
  if (reusable) rest(places, worker);
  else dismiss(places, worker);
  startWaiting(places);
  return ended;
}

function count(places: Places, { depth, owner }: PreparedRun, change: 1 | -1): void {
  places.computing += change;
  const owners = (places.running[depth] ??= new Map());
  const own = (owners.get(owner) ?? 0) + change;
  if (own === 0) owners.delete(owner);
  else owners.set(owner, own);
}

/** Ends everything, and resolves when no thread is left. */
export async function closePlaces(places: Places): Promise<void> {
  places.isClosed = true;
  for (const waiting of [...places.line]) waiting.giveUp('cancelled', CLOSED);
  for (const live of places.live) live.cancel(CLOSED);
  for (const worker of places.workers) dismiss(places, worker);
  await Promise.all(places.ending);
}

const CLOSED = 'the script pool was closed';

/**
 * Each depth has places of its own, so that those who wait can never keep out whom they wait for:
 * what computes comes to an end, and what waits does so for something deeper. Of the places of a
 * depth an owner may have as many as it leaves free: what sleeps may sleep for long.
 */
function hasPlace(
  { options: { size }, computing, running }: Places,
  { depth, owner }: PreparedRun,
): boolean {
  if (computing >= size) return false;
  const owners = running[depth] ?? NOBODY;
  const own = owners.get(owner) ?? 0;
  let taken = 0;
  for (const each of owners.values()) taken += each;
  const free = size * SLEEPERS_PER_PLACE - taken;
  return owner === '' ? free > 0 : own < free;
}

const NOBODY: ReadonlyMap<string, number> = new Map();

/** Scripts of one owner and one depth wait for the same places. */
const laneOf = ({ depth, owner }: PreparedRun): string => `${depth} ${owner}`;

function placeFor(places: Places, run: PreparedRun): Promise<void> {
  const { line, options } = places;
  return new Promise((resolve, reject) => {
    const lane = laneOf(run);
    const free = options.maxWaiting - line.size;
    if (free <= 0 || (run.owner !== '' && line.countOf(lane) >= free))
      return reject(new ScriptError('busy', 'too many scripts wait to be run; try again later'));
    let unfollow = () => {};
    const leave = (): void => {
      line.remove(lane, waiting);
      unfollow();
    };
    const giveUp: Waiting['giveUp'] = (kind, message) => {
      leave();
      reject(new ScriptError(kind, message));
    };
    const start = (): void => {
      leave();
      // Taken at once: the next in the line is looked at before this one goes on.
      count(places, run, 1);
      resolve();
    };
    const waiting: Waiting = { run, start, giveUp };
    line.add(lane, waiting);
    const { signal } = run;
    if (signal !== undefined)
      unfollow = followAbort(signal, () =>
        giveUp('cancelled', 'the script was cancelled before it began'),
      );
    // It may be that everybody else in the line waits for a place of another depth.
    startWaiting(places);
  });
}

function startWaiting(places: Places): void {
  const { line, options } = places;
  while (places.computing < options.size) {
    const next = line.next(({ run }) => hasPlace(places, run));
    if (next === null) return;
    next.start();
  }
}

function takeIdle(places: Places): ScriptWorker | null {
  const [idle] = places.idle;
  if (idle === undefined) return null;
  const [worker, timer] = idle;
  clearTimeout(timer);
  places.idle.delete(worker);
  return worker;
}

function hire(places: Places): ScriptWorker {
  const heapMb = Math.max(
    MIN_HEAP_MB,
    Math.ceil((places.options.maxBytes / 1024 / 1024) * HEAP_PER_BYTE),
  );
  const worker: ScriptWorker = startWorker({ heapMb }, () => forget(places, worker));
  places.workers.add(worker);
  return worker;
}

/** Keeps a worker for the next script. */
function rest(places: Places, worker: ScriptWorker): void {
  // It may have ended by itself since.
  if (!places.workers.has(worker)) return;
  if (places.isClosed || places.idle.size >= places.options.size * SLEEPERS_PER_PLACE)
    return dismiss(places, worker);
  places.idle.set(worker, setTimeout(() => dismiss(places, worker), places.options.idleMs).unref());
}

function dismiss(places: Places, worker: ScriptWorker): void {
  forget(places, worker);
  const ended = worker.terminate().finally(() => places.ending.delete(ended));
  places.ending.add(ended);
}

function forget(places: Places, worker: ScriptWorker): void {
  clearTimeout(places.idle.get(worker));
  places.idle.delete(worker);
  places.workers.delete(worker);
}
