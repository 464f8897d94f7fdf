/** What is written in the place of what was hidden. */

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonValue } from '../core/json/json-value.ts';
import { type Finding, GROUPS, type Group, type Span } from './detector.ts';

export const STRATEGIES = ['mask', 'hash', 'tokenise', 'block'] as const;
/**
 * `mask` writes a fixed marker, `hash` a keyed digest, `tokenise` a number that stays the same,
 * `block` lets nothing out.
 */
export type Strategy = (typeof STRATEGIES)[number];

export interface Markers {
  /** Whether a finding of this group stops the call or withholds the result. */
  blocks(group: Group): boolean;
  /** The spans in order, without overlaps, and without the markers that stand there already. */
  settle(text: string, spans: readonly Span[]): readonly Span[];
  /** The text with every span replaced. Redacting twice changes nothing. */
  replace(text: string, spans: readonly Span[]): string;
  /** What stands for a value that is hidden as a whole. A marker stays as it is. */
  whole<T extends JsonValue>(value: T, finding: Omit<Finding, 'value'>): T | string;
}

/** How many values keep their token; the oldest is forgotten first and gets a new one. */
const MAX_TOKENS = 10_000;

/**
 * Markers of one layer: its key and its tokens are its own. `labels` are all it can be asked
 * to write.
 */
export function createMarkers(
  labels: readonly string[],
  strategies: Readonly<Partial<Record<Group, Strategy>>>,
  key: string | Uint8Array = randomBytes(32),
): Markers {
  const strategyOf = new Map(GROUPS.map((group) => [group, strategies[group] ?? 'mask'] as const));
  const one = labels.join('|');
  const written = new RegExp(
    `\\[(?:redacted:(?:${one})|hash:(?:${one}):[0-9a-f]{16}|token:(?:${one}):[0-9]{1,12})\\]`,
    'g',
  );
  const digest = (value: string) => createHmac('sha256', key).update(value).digest('hex');
  const tokenOf = numberedTokens();
  const write = ({ label, group, value }: Finding): string => {
    const strategy = strategyOf.get(group);
    if (strategy === 'hash') return `[hash:${label}:${digest(value).slice(0, 16)}]`;
    if (strategy === 'tokenise') return `[token:${label}:${tokenOf(digest(value))}]`;
    return `[redacted:${label}]`;
  };
  const settle: Markers['settle'] = (text, spans) =>
    spans.length === 0 ? spans : without(merged(spans), text, written);
  return {
    blocks: (group) => strategyOf.get(group) === 'block',
    settle,
    replace: (text, spans) => splice(text, settle(text, spans), write),
    whole(value, finding) {
      if (value === null || (typeof value === 'string' && value.replace(written, '') === ''))
        return value;
      return write({
        ...finding,
        value: typeof value === 'string' ? value : JSON.stringify(value),
      });
    },
  };
}

/** Keeps digests, not values: what was hidden is not kept for longer than its call. */
function numberedTokens(): (digest: string) => number {
  // Made with the first token: it takes its room at once.
  let tokens: LRUCache<string, number> | undefined;
  let last = 0;
  return (digest) => {
    tokens ??= new LRUCache({ max: MAX_TOKENS });
    const token = tokens.get(digest) ?? (last += 1);
    tokens.set(digest, token);
    return token;
  };
}

/**
 * Spans in order that do not touch each other's characters. Of two that overlap, the stricter kind
 * or else the longer names the whole.
 */
function merged(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = all.at(-1);
    if (last === undefined || span.start >= last.end) {
      all.push(span);
      continue;
    }
    all[all.length - 1] = {
      ...(isStronger(span, last) ? span : last),
      start: last.start,
      end: Math.max(last.end, span.end),
    };
  }
  return all;
}

function isStronger(a: Span, b: Span): boolean {
  const rank = GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group);
  if (rank !== 0) return rank < 0;
  const longer = a.end - a.start - (b.end - b.start);
  // Of two that found the same, the one that knows who issued it.
  return longer === 0 ? BY_NAME.has(b.label) && !BY_NAME.has(a.label) : longer > 0;
}

/** Labels of what was found by a name beside it. */
const BY_NAME: ReadonlySet<string> = new Set(['secret', 'password', 'authorization']);

/**
 * The spans without the markers inside them. What stands beside a marker is still hidden: a tool
 * can write one.
 */
function without(spans: readonly Span[], text: string, written: RegExp): readonly Span[] {
  const marks = [...text.matchAll(written)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  if (marks.length === 0) return spans;
  let next = 0;
  return spans.flatMap((span) => {
    const pieces: Span[] = [];
    let from = span.start;
    while ((marks[next]?.end ?? Infinity) <= span.start) next += 1;
    for (let at = next; (marks[at]?.start ?? Infinity) < span.end; at += 1) {
      const { start, end } = marks[at] ?? span;
      if (start > from)
        pieces.push({ ...span, start: from, end: start, value: text.slice(from, start) });
      from = Math.max(from, end);
    }
    if (from === span.start) return [span];
    return from < span.end
      ? [...pieces, { ...span, start: from, value: text.slice(from, span.end) }]
      : pieces;
  });
}

function splice(text: string, spans: readonly Span[], write: (finding: Finding) => string): string {
  let last = 0;
  let spliced = '';
  for (const span of spans) {
    spliced += text.slice(last, span.start) + write(span);
    last = span.end;
  }
  return spliced + text.slice(last);
}
