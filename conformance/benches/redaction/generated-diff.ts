/** Diffs between two texts, as tools print them. */

const CONTEXT = 3;

/**
 * A unified diff of one hunk: what both texts begin and end with is left out up to three lines,
 * everything between is replaced.
 */
export function generateDiff(name: string, before: string, after: string): string {
  const old = before.split('\n');
  const now = after.split('\n');
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail])
    tail += 1;
  const start = Math.max(0, head - CONTEXT);
  const kept = Math.max(0, tail - CONTEXT);
  const hunk = [
    ...old.slice(start, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...now.slice(now.length - tail, now.length - kept).map((line) => ` ${line}`),
  ];
  const place = `@@ -${start + 1},${old.length - kept - start} +${start + 1},${now.length - kept - start} @@`;
  return [
    `diff --git a/${name} b/${name}`,
    `--- a/${name}`,
    `+++ b/${name}`,
    place,
    ...hunk,
    '',
  ].join('\n');
}
