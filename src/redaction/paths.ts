/** Paths into JSON, as options and tools write them. */

export type Segment = { readonly name: string } | { readonly index: number } | '*' | '[*]' | '**';
export type Path = readonly Segment[];

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
