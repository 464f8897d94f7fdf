/** Work under way in this process: whoever wants the same waits for it instead of doing it again. */

/** Why a waiter goes on: there is an outcome, it is its turn to try, the one at work was called off, or it was itself. */
export type Woken<T> = { readonly outcome: T } | 'lead' | 'deserted' | 'left';

export interface Flight<T> {
  readonly fingerprint: string;
  /** The one at work was called off: it may take any time to come to an end. */
  readonly deserted: boolean;
  wait(signal: AbortSignal): Promise<Woken<T>>;
  /** Takes over the work after being woken with `lead`. */
  lead(signal: AbortSignal): void;
  /** Everybody gets the outcome. */
  land(outcome: T): void;
  /** Nothing came of it: the next in line tries, and the others go on waiting. */
  handOver(): void;
}

export interface Flights<T> {
  get(key: string): Flight<T> | undefined;
  /** Nobody may wait between `get` and this: two would lead. */
  open(key: string, fingerprint: string, signal: AbortSignal): Flight<T>;
}

export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Flight<T>>();
  return {
    get: (key) => flights.get(key),
    open(key, fingerprint, signal) {
      const flight = createFlight<T>(fingerprint, signal, () => {
        if (flights.get(key) === flight) flights.delete(key);
      });
      flights.set(key, flight);
      return flight;
    },
  };
}

function createFlight<T>(fingerprint: string, first: AbortSignal, gone: () => void): Flight<T> {
  const waiters = new Set<(woken: Woken<T>) => void>();
  let leader = first;
  const wakeAll = (woken: Woken<T>) => {
    for (const wake of waiters) wake(woken);
  };
  const desert = () => wakeAll('deserted');
  const end = () => {
    leader.removeEventListener('abort', desert);
    gone();
  };

  return {
    fingerprint,
    get deserted() {
      return leader.aborted;
    },
    wait(signal) {
      // One listener for all who wait, and none for a flight that nobody waits for.
      if (waiters.size === 0) leader.addEventListener('abort', desert);
      return new Promise((resolve) => {
        const leave = () => wake('left');
        const wake = (woken: Woken<T>) => {
          waiters.delete(wake);
          signal.removeEventListener('abort', leave);
          if (waiters.size === 0) leader.removeEventListener('abort', desert);
          resolve(woken);
        };
        waiters.add(wake);
        if (signal.aborted) leave();
        else signal.addEventListener('abort', leave);
      });
    },
    lead(signal) {
      leader.removeEventListener('abort', desert);
      leader = signal;
      if (waiters.size > 0) leader.addEventListener('abort', desert);
    },
    land(outcome) {
      end();
      wakeAll({ outcome });
    },
    handOver() {
      const [next] = waiters;
      if (next === undefined) end();
      else next('lead');
    },
  };
}
