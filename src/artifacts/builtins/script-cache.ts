/** What scripts keep from call to call: bounded, and each tool sees its own. */

import { LRUCache } from 'lru-cache';
import type { JsonValue } from '../../core/json/json-value.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { ScriptCache } from './builtin-use.ts';

interface ScriptCachesOptions {
  /** @default 1000 */
  readonly maxEntries?: number;
  /** Of all keys and values as JSON. @default 8388608 */
  readonly maxBytes?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

/** The caches of all tools of one loaded project. They share its limits. */
interface ScriptCaches {
  for(tool: string): ScriptCache;
}

/**
 * Values are kept as text, so that no script gets hold of what another call holds. Nothing outlives
 * the process.
 */
export function createScriptCaches(options: ScriptCachesOptions = {}): ScriptCaches {
  checkOptions('createScriptCaches', options, {
    maxEntries: expected.integer(1),
    maxBytes: expected.integer(1),
    clock: expected.object,
  });
  const {
    maxEntries: max = 1000,
    maxBytes: maxSize = 8 * 1024 * 1024,
    clock = systemClock,
  } = options;
  const sizeCalculation = (text: string, key: string): number => text.length + key.length;
  // It takes a start of zero for none.
  const perf = { now: () => clock.monotonic() + 1 };
  const kept = new LRUCache<string, string>({
    max,
    maxSize,
    sizeCalculation,
    perf,
    ttlResolution: 0,
  });
  return Object.freeze<ScriptCaches>({
    for(tool) {
      const full = (key: string): string => JSON.stringify([tool, key]);
      return Object.freeze<ScriptCache>({
        get(key) {
          const text = kept.get(full(key));
          return text === undefined ? undefined : (JSON.parse(text) as JsonValue); // Written below.
        },
        set(key, value, ttlMs) {
          kept.set(full(key), JSON.stringify(value), ttlMs === undefined ? {} : { ttl: ttlMs });
          return kept.has(full(key));
        },
        has: (key) => kept.has(full(key)),
        delete: (key) => kept.delete(full(key)),
      });
    },
  });
}
