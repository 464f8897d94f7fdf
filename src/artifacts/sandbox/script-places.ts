/** Who works on what: the workers of a pool, the scripts that have one, and those that wait for one. */

import { followAbort } from '../../core/signal.ts';
import { ScriptError } from './script-error.ts';
import { type LiveRun, type PreparedRun, type RunEnding, takeUp } from './script-run.ts';
import { type ScriptWorker, startWorker } from './script-worker.ts';

export interface PlacesOptions {
  readonly size: number;
  readonly maxBytes: number;
  readonly idleMs: number;
}

interface Waiting {
  readonly depth: number;
  readonly start: () => void;
  readonly giveUp: (message: string) => void;
}

export interface Places {
  readonly options: PlacesOptions;
  readonly workers: Set<ScriptWorker>;
  readonly idle: Map<ScriptWorker, NodeJS.Timeout>;
  readonly ending: Set<Promise<void>>;
  readonly live: Set<LiveRun>;
  readonly waiting: Set<Waiting>;
  /** How many run at each depth: a script that another one waits for is one deeper. */
  readonly running: number[];
  computing: number;
  isClosed: boolean;
}

/** Workers that sleep cost memory and nothing else. */
const SLEEPERS_PER_PLACE = 8;
/** What the language counts is less than what the engine needs for it, and a list that grows is there twice for a moment. */
const HEAP_PER_BYTE = 3;
const MIN_HEAP_MB = 128;

export const openPlaces = (options: PlacesOptions): Places => ({
  ...{ options, workers: new Set(), idle: new Map(), ending: new Set(), live: new Set(), waiting: new Set() },
  ...{ running: [], computing: 0, isClosed: false },
});

export async function runInPlace(places: Places, run: PreparedRun): Promise<RunEnding['ended']> {
  if (hasPlace(places, run.depth)) count(places, run.depth, 1);
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
  count(places, run.depth, -1);
  if (reusable) rest(places, worker);
  else dismiss(places, worker);
  startWaiting(places);
  return ended;
}

function count(places: Places, depth: number, change: 1 | -1): void {
  places.computing += change;
  places.running[depth] = (places.running[depth] ?? 0) + change;
}

/** Ends everything, and resolves when no thread is left. */
export async function closePlaces(places: Places): Promise<void> {
  places.isClosed = true;
  for (const waiting of places.waiting) waiting.giveUp(CLOSED);
  for (const live of places.live) live.cancel(CLOSED);
  for (const worker of places.workers) dismiss(places, worker);
  await Promise.all(places.ending);
}

const CLOSED = 'the script pool was closed';

/**
 * Each depth has places of its own, so that those who wait can never keep out whom they wait for: what computes comes to an end, and
 * what waits does so for something deeper.
 */
const hasPlace = ({ options: { size }, computing, running }: Places, depth: number): boolean =>
  computing < size && (running[depth] ?? 0) < size * SLEEPERS_PER_PLACE;

function placeFor(places: Places, { depth, signal }: PreparedRun): Promise<void> {
  return new Promise((resolve, reject) => {
    let unfollow = () => {};
    const leave = (): void => {
      places.waiting.delete(waiting);
      unfollow();
    };
    const giveUp = (message: string): void => {
      leave();
      reject(new ScriptError('cancelled', message));
    };
    const start = (): void => {
      leave();
      // Taken at once: the next in the line is looked at before this one goes on.
      count(places, depth, 1);
      resolve();
    };
    const waiting: Waiting = { depth, start, giveUp };
    places.waiting.add(waiting);
    if (signal !== undefined) unfollow = followAbort(signal, () => giveUp('the script was cancelled before it began'));
  });
}

function startWaiting(places: Places): void {
  for (const waiting of places.waiting) {
    if (hasPlace(places, waiting.depth)) waiting.start();
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
  const heapMb = Math.max(MIN_HEAP_MB, Math.ceil((places.options.maxBytes / 1024 / 1024) * HEAP_PER_BYTE));
  const worker: ScriptWorker = startWorker({ heapMb }, () => forget(places, worker));
  places.workers.add(worker);
  return worker;
}

/** Keeps a worker for the next script. */
function rest(places: Places, worker: ScriptWorker): void {
  // It may have ended by itself since.
  if (!places.workers.has(worker)) return;
  if (places.isClosed || places.idle.size >= places.options.size * SLEEPERS_PER_PLACE) return dismiss(places, worker);
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
