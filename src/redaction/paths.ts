/** Path rules such as `headers.authorization`, `items[*].secret` and `**.token`. */

type Segment = { readonly name: string } | { readonly index: number } | '*' | '[*]' | '**';
export type Path = readonly Segment[];
/** How far the walk has come along one path. */
export interface Cursor {
  readonly path: Path;
  readonly at: number;
}

const SEGMENT = /\.?(\*\*|\*|[^.[\]*"']+)|\[(\*|\d{1,9})\]|\[(?:"([^"]+)"|'([^']+)')\]/y;

/** Reads a path; `null` where it is none. Names count without regard to case, as headers do. */
export function parsePath(text: string): Path | null {
  const path: Segment[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < text.length) {
    const from = SEGMENT.lastIndex;
    const match = SEGMENT.exec(text);
    const dotted = text.startsWith('.', from);
    if (match === null || (dotted ? from === 0 : from > 0 && !match[0].startsWith('[')))
      return null;
    path.push(segmentOf(match));
  }
  return path.length === 0 ? null : Object.freeze(path);
}

function segmentOf([, word, index, double, single]: RegExpExecArray): Segment {
  if (word === '*' || word === '**') return word;
  if (index === '*') return '[*]';
  if (index !== undefined) return { index: Number(index) };
  return { name: (word ?? double ?? single ?? '').toLowerCase() };
}

export const startOf = (paths: readonly Path[]): readonly Cursor[] =>
  paths.map((path) => ({ path, at: 0 }));

/** Where the paths stand one member further down. */
export function advance(cursors: readonly Cursor[], step: string | number): readonly Cursor[] {
  if (cursors.length === 0) return cursors;
  const next: Cursor[] = [];
  for (const cursor of cursors) {
    const { path } = cursor;
    // `**` stands for any number of members, also for none, and several in a row for no more than
    // one.
    let here = cursor.at;
    for (; path[here] === '**'; here += 1)
      next.push(here === cursor.at ? cursor : { path, at: here });
    const segment = path[here];
    if (segment !== undefined && fits(segment, step)) next.push({ path, at: here + 1 });
  }
  return next;
}

function fits(segment: Segment, step: string | number): boolean {
  if (typeof segment === 'string') return segment !== '[*]' || typeof step === 'number';
  if ('index' in segment) return segment.index === step;
  return typeof step === 'string' && segment.name === step.toLowerCase();
}

/** Whether a path ends here. */
export const isHit = (cursors: readonly Cursor[]): boolean =>
  cursors.some(
    ({ path, at }) =>
      at > 0 && (at >= path.length || (path[at] === '**' && at === path.length - 1)),
  );

/** A path for the record: `headers.token`, `items[2]`. */
export const writePath = (steps: readonly (string | number)[]): string =>
  steps
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('');
