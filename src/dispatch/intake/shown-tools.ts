/**
 * The tools as the model sees them, which a host may replace while calls are under way, and which
 * of them a turn may use.
 */

import { hash } from 'node:crypto';
import type { ToolLayer, ToolSpec } from '../../core/contract/layer.ts';
import { specOf } from '../../tools/own-definition.ts';
import { createRegistry, type Registry, transformed } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Turn } from '../../core/contract/call.ts';
import { fairTable } from '../../stores/fair-table.ts';

export interface ShownTools {
  readonly names: readonly string[];
  readonly specs: readonly ToolSpec[];
  get(name: string): Tool | undefined;
  /**
   * Shows these instead. Throws where one of them cannot be used, and shows what it showed before.
   */
  replace(tools: Registry | Iterable<Tool>): void;
}

/**
 * `judge` throws for a tool that the host has no means to run, and answers whether the host is who
 * shows it.
 */
export function showTools(
  given: Registry | Iterable<Tool>,
  layers: readonly ToolLayer[],
  judge: (tool: Tool) => boolean,
): ShownTools {
  const show = (
    tools: Registry | Iterable<Tool>,
  ): { registry: Registry; specs: readonly ToolSpec[] } => {
    const registry = createRegistry(
      throughLayers(isRegistry(tools) ? tools : createRegistry(tools), layers),
      { names: 'mcp' },
    );
    return { registry, specs: Object.freeze([...registry].filter(judge).map(specOf)) };
  };
  let shown = show(given);
  return {
    get names() {
      return shown.registry.names;
    },
    get specs() {
      return shown.specs;
    },
    get: (name) => shown.registry.get(name),
    replace(tools) {
      shown = show(tools);
    },
  };
}

/** Every transform of the stack, innermost first, so that the outermost has the last word. */
function throughLayers(registry: Iterable<Tool>, layers: readonly ToolLayer[]): readonly Tool[] {
  const transforms = layers.flatMap((layer) => layer.schemaTransform ?? []).reverse();
  return [...registry].flatMap(
    (tool) =>
      transforms.reduce<Tool | null>(
        (shown, transform) => shown && transformed(shown, transform),
        tool,
      ) ?? [],
  );
}

const isRegistry = (tools: Registry | Iterable<Tool>): tools is Registry =>
  'asCapabilities' in tools;

const MAX_TURNS = 10_000;

export interface TurnMemory {
  remember(turn: Turn, names: readonly string[]): void;
  /**
   * Whether a call in this turn may name this tool. A turn that was not advertised for has no list
   * of its own.
   */
  allows(turn: Turn, name: string): boolean;
}

/**
 * When there are too many lists, the session with the most of them loses the one it was shown
 * longest ago.
 */
export function createTurnMemory(maxTurns = MAX_TURNS): TurnMemory {
  const shown = fairTable<ReadonlySet<string>>();
  let forgotten: KeyMarks | null = null;
  return {
    remember(turn, names) {
      const key = keyOf(turn);
      shown.set(key, turn.sessionId, new Set(names));
      const loser = shown.size > maxTurns ? shown.loser() : null;
      if (loser === null) return;
      shown.delete(loser.key);
      forgotten ??= keyMarks();
      forgotten.add(loser.key);
    },
    allows(turn, name) {
      if (shown.size === 0) return true;
      const key = keyOf(turn);
      // A turn whose list is gone gets nothing rather than everything; one that never had a list is
      // not to suffer for it.
      return shown.get(key)?.has(name) ?? !(forgotten?.has(key) ?? false);
    },
  };
}

const keyOf = ({ turnId, sessionId, iteration }: Turn): string =>
  JSON.stringify(turnId === undefined ? [sessionId, iteration] : [turnId]);

interface KeyMarks {
  add(key: string): void;
  /** `true` for every key that was added, and by chance for a few others. */
  has(key: string): boolean;
}

const MARK_BYTES = 2 ** 20;
const MARKS_PER_KEY = 4;

/**
 * Any number of keys in one fixed piece of memory, a Bloom filter. Of keys that were never added it
 * takes one in 200 000 for added after a hundred thousand, one in 50 after a million, and in the
 * end all: that errs to the safe side.
 */
function keyMarks(): KeyMarks {
  const bits = new Uint8Array(MARK_BYTES);
  const placesOf = (key: string): readonly number[] => {
    const digest = hash('sha256', key, 'buffer');
    return Array.from(
      { length: MARKS_PER_KEY },
      (_, nth) => digest.readUInt32LE(nth * 4) % (MARK_BYTES * 8),
    );
  };
  return {
    add: (key) =>
      placesOf(key).forEach(
        (place) => void (bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))),
      ),
    has: (key) =>
      placesOf(key).every((place) => ((bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0),
  };
}
