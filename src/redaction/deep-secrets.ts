/** The rules of secretlint, for those who want more families at many times the price. */

import type { Span } from './detector.ts';
import { nextTurn, WINDOW, windowsOf } from './scan.ts';

export const DEEP_LABEL = 'deep';

type Lint = (content: string) => Promise<readonly (readonly [start: number, end: number])[]>;

let linting: Promise<Lint> | undefined;

/**
 * Loaded with the first text, and once: it is a dozen packages. A failed load is not kept, but it
 * fails the call.
 */
function loadLint(): Promise<Lint> {
  linting ??= load();
  linting.catch(() => (linting = undefined));
  return linting;
}

async function load(): Promise<Lint> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  const config = {
    rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, rules: [] }],
  };
  return async (content) => {
    const source = { content, filePath: 'surface.txt', ext: '.txt', contentType: 'text' as const };
    const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
    return messages.map(({ range }) => [range[0], range[1]] as const);
  };
}

/** Shorter texts hold none of the tokens these rules know. */
const MIN_TEXT = 12;

/**
 * What secretlint finds, by text. Takes texts together where they are small: it has a price for
 * every start.
 */
export async function deepSpans(
  texts: readonly string[],
): Promise<ReadonlyMap<string, readonly Span[]>> {
  const found = new Map<string, Span[]>();
  const lint = await loadLint();
  for (const batch of batchesOf(new Set(texts.filter((text) => text.length >= MIN_TEXT)))) {
    for (const [start, end] of await lint(batch.map(({ part }) => part).join('\n')))
      place(batch, start, end, found);
    await nextTurn();
  }
  return found;
}

interface Part {
  readonly text: string;
  readonly part: string;
  /** Where the part begins in its text, and in its batch. */
  readonly offset: number;
  readonly at: number;
}

function batchesOf(texts: ReadonlySet<string>): readonly (readonly Part[])[] {
  const batches: Part[][] = [];
  let room = 0;
  for (const text of texts) {
    for (const offset of windowsOf(text)) {
      const part = text.slice(offset, offset + WINDOW);
      if (part.length > room) {
        batches.push([]);
        room = WINDOW;
      }
      const last = batches.at(-1)?.at(-1);
      batches
        .at(-1)
        ?.push({ text, part, offset, at: last === undefined ? 0 : last.at + last.part.length + 1 });
      room -= part.length + 1;
    }
  }
  return batches;
}

function place(
  batch: readonly Part[],
  start: number,
  end: number,
  found: Map<string, Span[]>,
): void {
  for (const { text, part, offset, at } of batch) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, part.length);
    if (from >= to) continue;
    const span = {
      start: from + offset,
      end: to + offset,
      label: DEEP_LABEL,
      group: 'secrets-deep' as const,
      value: part.slice(from, to),
    };
    found.set(text, [...(found.get(text) ?? []), span]);
  }
}
