/** From what is pinned and what is there to what is pinned next. */

import type { ToolSpec } from '../../core/layer.ts';
import { pinnable } from './definition-hash.ts';
import { judgeDefinition } from './judge-definition.ts';
import { emptyBook, frozenBook, heldOf, type PinBook, withHeld, withPins } from './pin-book.ts';

/** What was seen. */
export interface SeenTools {
  readonly source: string;
  /** Own definitions, one a name. */
  readonly tools: readonly ToolSpec[];
  /** Whether tools that were never pinned are pinned now. The first ones of a source always are. */
  readonly pinsNew: boolean;
  /** The names of all tools of the source; `null` where nobody listed them. */
  readonly listed: readonly string[] | null;
  readonly now: number;
}

/** The same book where nothing is to be written down. All tools are held to the book as it was: they do not vouch for each other. */
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
