/** Back-pressure towards the client: one server that reads slowly slows the client down, one that reads nothing does not stop it. */

import type { Clock } from '../../core/clock.ts';

export interface DrainGate {
  /** A server takes no more, or takes more again. */
  readonly congested: (server: object, isCongested: boolean) => void;
  isOpen(): boolean;
  /** Tells once when the gate is open again. */
  onDrain(listener: () => void): void;
  close(): void;
}

/** After `patienceMs` a server counts as stuck: the others are not held for it any longer. */
export function drainGate(clock: Clock, patienceMs: number): DrainGate {
  const waiting = new Map<object, () => void>();
  let drained: (() => void) | null = null;
  const release = (server: object): void => {
    const takeBack = waiting.get(server);
    if (takeBack === undefined) return;
    takeBack();
    waiting.delete(server);
    if (waiting.size > 0) return;
    const listener = drained;
    drained = null;
    listener?.();
  };
  return {
    congested(server, isCongested) {
      if (!isCongested) release(server);
      else if (!waiting.has(server))
        waiting.set(
          server,
          clock.after(patienceMs, () => release(server)),
        );
    },
    isOpen: () => waiting.size === 0,
    onDrain: (listener) => void (drained = listener),
    close() {
      for (const takeBack of waiting.values()) takeBack();
      waiting.clear();
    },
  };
}
