/** The one rule by which tools are listed, called and explained. */

import type { ToolSpec } from '../core/contract/layer.ts';
import { foldName } from '../tools/names.ts';
import { definitionChanges, hashDefinition, pinnable } from './definition-hash.ts';
import {
  emptyBook,
  frozenBook,
  heldOf,
  type Pin,
  type PinBook,
  pinOf,
  withHeld,
  withPins,
} from './pin-book.ts';

/**
 * `pinned`: as it was accepted. `first`: nothing of its source was ever pinned. `new`: its source
 * is known, the tool is not. `changed`: not as it was accepted. `look_alike`: new, with a name that
 * can be taken for a pinned one. `renamed`: new, with the description of a pinned one.
 * `unreadable`: it has no canonical form and can never be pinned.
 */
export type PinVerdict =
  | 'pinned'
  | 'first'
  | 'new'
  | 'changed'
  | 'look_alike'
  | 'renamed'
  | 'unreadable';

/** What is to be said about a definition. */
export interface PinJudgement {
  readonly verdict: PinVerdict;
  readonly toolName: string;
  /** `null` for a definition without canonical form. */
  readonly hash: string | null;
  /** The pin it is held to: its own, or that of the tool it resembles. */
  readonly pin: Pin | null;
}

/**
 * Holds a definition to what is pinned. Nothing is written and nothing is decided: a host says what
 * becomes of new ones.
 */
export function judgeDefinition(book: PinBook | null, tool: ToolSpec): PinJudgement {
  const hash = hashOrNull(tool);
  const judged = (verdict: PinVerdict, pin: Pin | null = null): PinJudgement =>
    Object.freeze({ verdict, toolName: tool.name, hash, pin });
  if (hash === null)
    return judged('unreadable', book === null ? null : (pinOf(book, tool.name) ?? null));
  if (book === null) return judged('first');
  const own = pinOf(book, tool.name);
  if (own !== undefined) return judged(own.hash === hash ? 'pinned' : 'changed', own);
  const alike = book.pins.find((pin) => folded(pin.toolName) === folded(tool.name));
  if (alike !== undefined) return judged('look_alike', alike);
  const copied = book.pins.find((pin) => isSameText(pin.definition.description, tool.description));
  return copied === undefined ? judged('new') : judged('renamed', copied);
}

/**
 * What differs from the pin that a definition is held to, line by line; nothing where there is
 * none.
 */
export const changesFromPin = ({ pin, hash }: PinJudgement, tool: ToolSpec): readonly string[] =>
  pin === null || hash === null ? [] : definitionChanges(pin.definition, tool);

function hashOrNull(tool: ToolSpec): string | null {
  try {
    return hashDefinition(tool);
  } catch {
    return null;
  }
}

const folded = (name: string): string => foldName(name.normalize('NFKC'));

/** An empty description is the same as no other: it tells no tool from another. */
const isSameText = (a: string, b: string): boolean => a.trim() !== '' && a.trim() === b.trim();

/** What was seen. */
export interface SeenTools {
  readonly source: string;
  /** Own definitions, one a name. */
  readonly tools: readonly ToolSpec[];
  /** Whether tools that were never pinned are pinned now. The first ones of a source always are. */
  readonly pinsNew: boolean;
  /** The names of all tools of the source; `null` where they were not listed. */
  readonly listed: readonly string[] | null;
  readonly now: number;
}

/**
 * The same book where nothing is to be written down. All tools are held to the book as it was: they
 * do not vouch for each other.
 */
export function reconcilePins(
  book: PinBook | null,
  { source, tools, pinsNew, listed, now }: SeenTools,
): PinBook | null {
  const trusted: ToolSpec[] = [];
  const waiting: ToolSpec[] = [];
  const settled: string[] = [];
  for (const tool of tools) {
    const { verdict, hash } = judgeDefinition(book, tool);
    if (verdict === 'pinned') settled.push(tool.name);
    else if (verdict === 'first' || (verdict === 'new' && pinsNew)) trusted.push(pinnable(tool));
    else if (hash !== null && (book === null || heldOf(book, tool.name)?.hash !== hash))
      waiting.push(pinnable(tool));
  }
  if (book === null && trusted.length === 0) return null;
  const before = book ?? emptyBook(source);
  let after = before;
  if (trusted.length > 0) after = withPins(after, trusted, null, now);
  if (waiting.length > 0) after = withHeld(after, waiting, now);
  // A tool that went back to what was accepted has nothing to accept.
  if (settled.some((name) => heldOf(after, name) !== undefined))
    after = frozenBook({
      ...after,
      held: after.held.filter(({ toolName }) => !settled.includes(toolName)),
    });
  return listed === null ? after : withMissing(after, new Set(listed));
}

function withMissing(book: PinBook, listed: ReadonlySet<string>): PinBook {
  const missing = book.pins.map(({ toolName }) => toolName).filter((name) => !listed.has(name));
  const isSame =
    missing.length === book.missing.length && missing.every((name) => book.missing.includes(name));
  return isSame ? book : frozenBook({ ...book, missing });
}
