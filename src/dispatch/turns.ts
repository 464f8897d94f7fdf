/** Which tools each turn was shown. A call in a turn can reach nothing else. */

import { LRUCache } from 'lru-cache';
import type { Turn } from '../core/call.ts';

const MAX_TURNS = 10_000;

export interface TurnMemory {
  remember(turn: Turn, names: readonly string[]): void;
  /** Whether a call in this turn may name this tool. A turn nobody advertised for has no list of its own. */
  allows(turn: Turn, name: string): boolean;
}

export function createTurnMemory(maxTurns = MAX_TURNS): TurnMemory {
  let forgotten = false;
  const shown = new LRUCache<string, ReadonlySet<string>>({
    // Counted as size: with `max` the whole cache would be laid out when a dispatcher is made.
    maxSize: maxTurns,
    sizeCalculation: () => 1,
    dispose: (_names, _key, reason) => {
      if (reason === 'evict') forgotten = true;
    },
  });
  return {
    remember: (turn, names) => void shown.set(keyOf(turn), new Set(names)),
    // Once a list had to be forgotten, an unknown turn may be that one: it gets nothing rather than everything.
    allows: (turn, name) => (shown.size === 0 ? undefined : shown.get(keyOf(turn))?.has(name)) ?? !forgotten,
  };
}

const keyOf = ({ turnId, sessionId, iteration }: Turn): string => JSON.stringify(turnId === undefined ? [sessionId, iteration] : [turnId]);
