/** Pins: what a tool said of itself when it began to be trusted, and the port that keeps pins. */

import { isoTime } from '../core/time/clock.ts';
import { isObject } from '../core/json/json.ts';
import { hasFields, isText, isTime } from '../system/record-fields.ts';
import type { ToolSpec } from '../core/contract/layer.ts';
import { hashDefinition, PARTS } from './definition-hash.ts';
import type { Awaitable } from '../stores/claim-store.ts';

/** A definition that is trusted. */
export interface Pin {
  readonly toolName: string;
  /** Where the tool comes from, such as the name of an MCP server. */
  readonly source: string;
  /** `hashDefinition` of the definition. */
  readonly hash: string;
  /** The definition itself, so that a change can be shown. */
  readonly definition: ToolSpec;
  readonly pinnedAt: string;
  /** Who accepted it; `null` for one that was trusted because it was there first. */
  readonly acceptedBy: string | null;
}

/** A definition that was seen and waits to be accepted. */
export interface HeldDefinition {
  readonly toolName: string;
  readonly hash: string;
  readonly definition: ToolSpec;
  readonly seenAt: string;
}

/** All that is known about the tools of one source. Frozen; a change is another book. */
export interface PinBook {
  readonly source: string;
  readonly pins: readonly Pin[];
  readonly held: readonly HeldDefinition[];
  /** Names of pinned tools that were not there when tools were listed last. */
  readonly missing: readonly string[];
}

/** What one source may fill a store with. */
const MAX_PINS = 10_000;
const MAX_HELD = 1_000;

/** The pin of a tool, if it has one. */
export const pinOf = ({ pins }: PinBook, toolName: string): Pin | undefined =>
  pins.find((pin) => pin.toolName === toolName);

/** The definition of a tool that waits to be accepted, if there is one. */
export const heldOf = ({ held }: PinBook, toolName: string): HeldDefinition | undefined =>
  held.find((each) => each.toolName === toolName);

/**
 * The book with these definitions trusted, from now on and in the place of what was known of them.
 */
export function withPins(
  book: PinBook,
  definitions: readonly ToolSpec[],
  acceptedBy: string | null,
  now: number,
): PinBook {
  const { source } = book;
  const names = new Set(definitions.map(({ name }) => name));
  const added = definitions.map((definition) =>
    Object.freeze({
      toolName: definition.name,
      source,
      hash: hashDefinition(definition),
      definition,
      pinnedAt: isoTime(now),
      acceptedBy,
    }),
  );
  const pins = [...book.pins.filter(({ toolName }) => !names.has(toolName)), ...added];
  if (pins.length > MAX_PINS)
    throw new Error(`there are more than ${MAX_PINS} pins of one source; forget some`);
  return frozenBook({
    ...book,
    pins,
    held: book.held.filter(({ toolName }) => !names.has(toolName)),
  });
}

/**
 * The book with these definitions waiting. The last one of a tool counts; the ones that wait
 * longest make room.
 */
export function withHeld(book: PinBook, definitions: readonly ToolSpec[], now: number): PinBook {
  const names = new Set(definitions.map(({ name }) => name));
  const added = definitions.map((definition) =>
    Object.freeze({
      toolName: definition.name,
      hash: hashDefinition(definition),
      definition,
      seenAt: isoTime(now),
    }),
  );
  return frozenBook({
    ...book,
    held: [...book.held.filter(({ toolName }) => !names.has(toolName)), ...added].slice(-MAX_HELD),
  });
}

/**
 * What waits for a tool is trusted from now on. `null` where nothing waits, or something else than
 * `hash`.
 */
export function acceptPin(
  book: PinBook,
  toolName: string,
  by: { readonly acceptedBy: string; readonly hash?: string },
  now: number,
): PinBook | null {
  const held = heldOf(book, toolName);
  if (held === undefined || (by.hash !== undefined && by.hash !== held.hash)) return null;
  return withPins(book, [held.definition], by.acceptedBy, now);
}

/** Nothing is known about a tool any more: it is a new one. `null` where nothing was known. */
export function forgetPin(book: PinBook, toolName: string): PinBook | null {
  if (pinOf(book, toolName) === undefined && heldOf(book, toolName) === undefined) return null;
  const without = <T extends { readonly toolName: string }>(list: readonly T[]) =>
    list.filter((each) => each.toolName !== toolName);
  return frozenBook({
    ...book,
    pins: without(book.pins),
    held: without(book.held),
    missing: book.missing.filter((name) => name !== toolName),
  });
}

/** The book of a source of which nothing is known yet. */
export const emptyBook = (source: string): PinBook =>
  frozenBook({ source, pins: [], held: [], missing: [] });

/** A book with its lists copied and frozen. */
export const frozenBook = ({ source, pins, held, missing }: PinBook): PinBook =>
  Object.freeze({
    source,
    pins: Object.freeze([...pins]),
    held: Object.freeze([...held]),
    missing: Object.freeze([...missing]),
  });

/**
 * Whether a value is a book, to the last field: what a file holds may have been written by any
 * program, or by half.
 */
export function isPinBook(value: unknown): value is PinBook {
  if (!hasFields(value, ['source', 'pins', 'held', 'missing'])) return false;
  const { source, pins, held, missing } = value;
  if (
    typeof source !== 'string' ||
    !Array.isArray(pins) ||
    !Array.isArray(held) ||
    !Array.isArray(missing)
  )
    return false;
  return (
    pins.every((pin) => isPin(pin, source)) &&
    held.every(isHeld) &&
    isDistinct(pins) &&
    isDistinct(held) &&
    missing.every((name) => isText(name))
  );
}

function isPin(value: unknown, source: string): boolean {
  if (!hasFields(value, ['toolName', 'source', 'hash', 'definition', 'pinnedAt', 'acceptedBy']))
    return false;
  const { acceptedBy } = value;
  return (
    value.source === source &&
    isTime(value.pinnedAt) &&
    (acceptedBy === null || isText(acceptedBy)) &&
    isDefined(value)
  );
}

const isHeld = (value: unknown): boolean =>
  hasFields(value, ['toolName', 'hash', 'definition', 'seenAt']) &&
  isTime(value.seenAt) &&
  isDefined(value);

/** A hash that is not that of the definition would show one thing and trust another. */
function isDefined({ toolName, hash, definition }: Record<string, unknown>): boolean {
  if (
    !isText(toolName) ||
    !isObject(definition) ||
    !Object.keys(definition).every((key) => PARTS.includes(key))
  )
    return false;
  const { name, description, inputSchema, outputSchema, annotations } = definition;
  if (
    name !== toolName ||
    typeof description !== 'string' ||
    !isObject(inputSchema) ||
    !isObject(annotations)
  )
    return false;
  if (outputSchema !== undefined && !isObject(outputSchema)) return false;
  try {
    // All of its parts were just looked at.
    return hashDefinition(definition as unknown as ToolSpec) === hash;
  } catch {
    return false;
  }
}

const isDistinct = (list: readonly { readonly toolName: string }[]): boolean =>
  new Set(list.map(({ toolName }) => toolName)).size === list.length;

/**
 * Answers the next book, the same one for no change, or `null` where there is none and none is to
 * be made.
 */
export type ChangePins = (book: PinBook | null) => PinBook | null;

/**
 * Keeps a book for each source. One that cannot be read throws: then no tool of the source is what
 * it was.
 */
export interface PinStore {
  /** At once, because tools are listed without waiting. `null` where nothing was ever pinned. */
  read(source: string): PinBook | null;
  /**
   * Reads, decides and keeps in one step, also between processes; answers what is kept then.
   * `change` may be called again.
   */
  update(source: string, change: ChangePins): Awaitable<PinBook | null>;
}
