/** What an edit changes, line by line, with the values of headers and variables masked. */

import { applyEdits, type Edit } from './document.ts';
import { type ConfigLanguage, documentOf } from './wrap-text.ts';

const CONTEXT = 3;
const MASK = '…';

/**
 * A unified diff of two configurations. The values below `env` and headers are shown as `…`: they
 * are where keys are kept. Arguments are shown, whatever is in them.
 */
export function showDiff(
  path: string,
  before: string,
  after: string,
  language: ConfigLanguage,
): string {
  if (before === after) return '';
  const [old, now] = [before, after].map((text) => masked(text, language).split(/\r?\n/)) as [
    string[],
    string[],
  ]; // Two in, two out.
  return [`--- ${path}`, `+++ ${path}`, ...hunksOf(old, now)].join('\n');
}

function masked(text: string, language: ConfigLanguage): string {
  const { servers, dialect } = documentOf(text, language);
  const edits = servers.flatMap(({ members }) =>
    members
      .filter(
        ({ key }) => key === 'env' || key === dialect.headersKey || key.startsWith('bearer_token'),
      )
      .flatMap(({ value }) =>
        value.kind === 'map' ? value.members.map((each) => each.value) : [value],
      )
      .map(({ start, end }): Edit => ({ start, end, text: dialect.quote(MASK) })),
  );
  return applyEdits(text, edits);
}

/** A line of a diff: kept, taken out or put in. */
interface Step {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
  readonly old: number;
  readonly now: number;
}

function hunksOf(old: readonly string[], now: readonly string[]): readonly string[] {
  const steps = stepsOf(old, now);
  const changed = steps.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]));
  const groups: [number, number][] = [];
  for (const at of changed) {
    const last = groups.at(-1);
    if (last !== undefined && at - last[1] <= CONTEXT * 2) last[1] = at;
    else groups.push([at, at]);
  }
  return groups.flatMap(([from, to]) => {
    const part = steps.slice(Math.max(0, from - CONTEXT), to + CONTEXT + 1);
    const count = (without: string) => part.filter(({ sign }) => sign !== without).length;
    const [first] = part;
    return [
      `@@ -${(first?.old ?? 0) + 1},${count('+')} +${(first?.now ?? 0) + 1},${count('-')} @@`,
      ...part.map(({ sign, line }) => `${sign}${line}`),
    ];
  });
}

/**
 * Goes through both at once. Where they part, the nearest place at which they meet again decides;
 * entries are short, so it is near.
 */
function stepsOf(old: readonly string[], now: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  let [from, to] = [0, 0];
  while (from < old.length || to < now.length) {
    const [out, put] = meeting(old, now, from, to);
    for (const end = from + out; from < end; from += 1)
      steps.push({ sign: '-', line: old[from] ?? '', old: from, now: to });
    for (const end = to + put; to < end; to += 1)
      steps.push({ sign: '+', line: now[to] ?? '', old: from, now: to });
    if (from < old.length && to < now.length) {
      steps.push({ sign: ' ', line: old[from] ?? '', old: from, now: to });
      from += 1;
      to += 1;
    }
  }
  return steps;
}

const MAX_REACH = 200;

/** How many lines are out and in before the next two that are equal. */
function meeting(
  old: readonly string[],
  now: readonly string[],
  from: number,
  to: number,
): readonly [number, number] {
  for (let reach = 0; reach <= MAX_REACH; reach += 1) {
    for (let out = 0; out <= reach; out += 1) {
      const [line, other] = [old[from + out], now[to + reach - out]];
      if (line !== undefined && line === other) return [out, reach - out];
    }
  }
  return [old.length - from, now.length - to];
}
