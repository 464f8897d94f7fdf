/**
 * Takes from a chunk what the native interpreter itself refuses in our dialect, so that the rest
 * can be asked for.
 */

import { type Chunk, type Complaint, complaintsAbout } from './chunks.ts';
import type { Outcome } from './outcome.ts';

/** A chunk that the native interpreter passes in our dialect, and what had to go for it. */
export interface TrimmedChunk {
  readonly chunk: Chunk;
  /**
   * Statements of the top level that were left out, by line, with the native interpreter's reason.
   */
  readonly removed: readonly Removed[];
}

export interface Removed {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

const MAX_ROUNDS = 200;

/**
 * Leaves statements out until the native interpreter passes the rest. `null` when nothing that says
 * anything is left.
 */
export async function trimChunk(
  chunk: Chunk,
  runNative: (chunk: Chunk) => Promise<Outcome>,
): Promise<TrimmedChunk | null> {
  let current = chunk;
  const removed: Removed[] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const complaints = complaintsAbout(current, await runNative(current));
    if (complaints.length === 0)
      return hasStatements(current.source) ? { chunk: current, removed } : null;
    const before = current;
    for (const complaint of complaints) current = withoutStatementAt(current, complaint, removed);
    if (current === before) return null;
  }
  return null;
}

const hasStatements = (source: string): boolean =>
  source.split('\n').some((line) => !/^\s*(#|$)/.test(line));

function withoutStatementAt(chunk: Chunk, { line, text }: Complaint, removed: Removed[]): Chunk {
  const lines = chunk.source.split('\n');
  if ((lines[line - 1] ?? '').trim() === '') return chunk;
  const { from, to } = statementAt(lines, line);
  removed.push({ from, to, reason: text });
  return {
    ...chunk,
    source: lines.map((one, index) => (index + 1 >= from && index + 1 <= to ? '' : one)).join('\n'),
    expected: new Map([...chunk.expected].filter(([number]) => number < from || number > to)),
  };
}

/**
 * A statement of the top level begins at the margin; what is indented, closes a bracket or is empty
 * belongs to the one before.
 */
function statementAt(
  lines: readonly string[],
  line: number,
): { readonly from: number; readonly to: number } {
  let from = line;
  while (from > 1 && !beginsStatement(lines[from - 1])) from -= 1;
  let to = line;
  while (to < lines.length && !beginsStatement(lines[to])) to += 1;
  while (to > line && /^\s*$/.test(lines[to - 1] ?? '')) to -= 1;
  return { from, to };
}

const beginsStatement = (line = ''): boolean => /^[^\s)\]}]/.test(line);
