/** Long runs of base64 characters: text in another encoding, or keys without a prefix of their own. */

import { codesOf, judge, looksGenerated, type Looks } from './characters.ts';
import type { Emit } from './detector.ts';
import { A_JUDGEMENT, type Effort, joinedFindings, spend } from './effort.ts';
import { decodeRun, type EncodedRun, MIN_RUN, nextRun, type Run } from './encoded-runs.ts';
import { ISSUERS, RUNS } from './families/runs.ts';

const NO_RUNS: readonly EncodedRun[] = Object.freeze([]);

/**
 * Reads every run of sixteen characters or more. `emit` is told of bare keys; without it, runs are only decoded. `hints` are the
 * places of words that say that a key follows.
 */
export function readRuns(
  text: string,
  emit: Emit | null,
  hints: readonly number[],
  effort: Effort,
): readonly EncodedRun[] {
  const { length } = text;
  if (length < MIN_RUN) return NO_RUNS;
  let found: EncodedRun[] | null = null;
  const codes = codesOf(text);
  let hint = 0;
  const findings = emit === null ? null : joinedFindings(effort, emit);
  const run: Run = { start: 0, end: 0, classes: 0 };
  while (nextRun(codes, run, length)) {
    const { start, end } = run;
    decodeRun(text, codes, run, (decoded) => (found ??= []).push(decoded));
    while (hint < hints.length && (hints[hint] ?? 0) < start - REACH) hint += 1;
    const isHinted = hint < hints.length && (hints[hint] ?? 0) < start;
    if (findings !== null && end - start <= MAX_KEY)
      bareKey(text, codes, start, end, isHinted ? effort : null, findings.tell);
  }
  findings?.end();
  return found ?? NO_RUNS;
}

const MAX_KEY = 220;
const MIN_KEY = 20;

/** Families by the length of their runs: most lengths have none. */
const BY_LENGTH = Array.from({ length: MAX_KEY + 1 }, (_, length) =>
  RUNS.filter(({ min, max }) => length >= min && length <= max),
);

/** `hinted` where a word before it says that a key follows; once that effort is spent, what looks like a key is one. */
function bareKey(
  text: string,
  codes: Uint16Array,
  start: number,
  end: number,
  hinted: Effort | null,
  emit: Emit,
): void {
  const length = end - start;
  for (const { shape, look, label } of BY_LENGTH[length] ?? []) {
    shape.lastIndex = start;
    const match = shape.exec(text);
    if (match !== null && looksGenerated(judge(codes, start, start + match[0].length), look))
      return emit(start, start + match[0].length, label);
  }
  // What follows a dot, a slash or a hash sign is a part of an address.
  if (hinted === null || length < MIN_KEY || PART.has(codes[start - 1] ?? 0) || codes[end] === DOT)
    return;
  const looks = judge(codes, start, end);
  if (length === AWS_SECRET && isAwsSecret(text, start, looks)) return emit(start, end, 'aws');
  // Digits and letters, and not a path or a name of many words: what has few digits is one.
  if (
    !looksGenerated(looks, 'strong') ||
    looks.digits * 12 < length ||
    text.slice(start, end).includes('/')
  )
    return;
  if (!spend(hinted, start, A_JUDGEMENT) || isIssuerBefore(text, start)) emit(start, end, 'secret');
}

const PART: ReadonlySet<number> = new Set(Array.from('./#@%&?~').map((char) => char.charCodeAt(0)));
const DOT = 46;

/** As far before a key as words may stand that tell what it is. */
const REACH = 120;

/** Whether the line before a key names an issuer. */
function isIssuerBefore(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - REACH), start);
  const line = before.slice(before.lastIndexOf('\n') + 1).toLowerCase();
  return line.split(/[^a-z0-9]+/).some((word) => ISSUERS.has(word));
}

const AWS_SECRET = 40;
const NEAR_AWS = /aws|secret|akia|asia/i;

/** Forty characters of base64 are an AWS secret only where something before them says so; a Git commit is forty too. */
const isAwsSecret = (text: string, start: number, { uppers, lowers, digits }: Looks): boolean =>
  uppers > 0 &&
  lowers > 0 &&
  digits > 0 &&
  NEAR_AWS.test(text.slice(Math.max(0, start - 120), start));
