/** Work under way in this process: whoever wants the same waits for it instead of doing it again. */

import { isAborted, type ToolCall } from '../../src/index.ts';

/** Why a waiter goes on: there is an outcome, it is its turn to try, the one at work was called off, or it was itself. */
export type Woken<T> = { readonly outcome: T } | 'lead' | 'deserted' | 'left';

/** Plain data: nearly every flight ends before anybody waits for it. */
export interface Flight<T> {
  readonly fingerprint: string;
  /** The call at work. */
  leader: ToolCall;
  /** Made with the first one who waits. */
  waiters: Waiters<T> | null;
}

interface Waiters<T> {
  readonly wakes: Set<(woken: Woken<T>) => void>;
  /** Told when the call at work is called off. One listener for all, and only while somebody waits. */
  readonly desert: () => void;
}

/** Nobody may wait between looking for a flight and opening one: two would lead. */
export type Flights<T> = Map<string, Flight<T>>;

export function openFlight<T>(
  flights: Flights<T>,
  key: string,
  fingerprint: string,
  leader: ToolCall,
): Flight<T> {
  const flight: Flight<T> = { fingerprint, leader, waiters: null };
  flights.set(key, flight);
  return flight;
}

/** The one at work was called off: it may take any time to come to an end. */
export const isDeserted = <T>({ leader }: Flight<T>): boolean => isAborted(leader);

export function waitFor<T>(flight: Flight<T>, signal: AbortSignal): Promise<Woken<T>> {
  const { wakes, desert } = (flight.waiters ??= createWaiters());
  if (wakes.size === 0) flight.leader.signal.addEventListener('abort', desert);
  return new Promise((resolve) => {
    const leave = () => wake('left');
    const wake = (woken: Woken<T>) => {
      wakes.delete(wake);
      signal.removeEventListener('abort', leave);
      if (wakes.size === 0) flight.leader.signal.removeEventListener('abort', desert);
      resolve(woken);
    };
    wakes.add(wake);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
  });
}

function createWaiters<T>(): Waiters<T> {
  const wakes: Waiters<T>['wakes'] = new Set();
  const desert = () => {
    for (const wake of wakes) wake('deserted');
  };
  return { wakes, desert };
}

/** Takes over the work after being woken with `lead`. */
export function takeOver<T>(flight: Flight<T>, leader: ToolCall): void {
  unwatch(flight);
  flight.leader = leader;
  if (isAwaited(flight)) leader.signal.addEventListener('abort', flight.waiters.desert);
}

/** Everybody gets the outcome. */
export function land<T>(flights: Flights<T>, key: string, flight: Flight<T>, outcome: T): void {
  unwatch(flight);
  close(flights, key, flight);
  for (const wake of flight.waiters?.wakes ?? []) wake({ outcome });
}

/** Nothing came of it: the next in line tries, and the others go on waiting. */
export function handOver<T>(flights: Flights<T>, key: string, flight: Flight<T>): void {
  const [next] = flight.waiters?.wakes ?? [];
  if (next === undefined) close(flights, key, flight);
  else next('lead');
}

const isAwaited = <T>(flight: Flight<T>): flight is Flight<T> & { readonly waiters: Waiters<T> } =>
  flight.waiters !== null && flight.waiters.wakes.size > 0;

function unwatch<T>(flight: Flight<T>): void {
  if (isAwaited(flight)) flight.leader.signal.removeEventListener('abort', flight.waiters.desert);
}

/** A flight that was deserted may have a successor, which stays. */
function close<T>(flights: Flights<T>, key: string, flight: Flight<T>): void {
  if (flights.get(key) === flight) flights.delete(key);
}
