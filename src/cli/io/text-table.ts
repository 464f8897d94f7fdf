/** Tables for people: cells line up, fit the terminal, and cannot act upon it. */

import stringWidth from 'string-width';
import { visible } from '../../consent/plain-text.ts';
import { paint } from './colour.ts';

export interface Column {
  readonly title: string;
  /** @default 'left' */
  readonly align?: 'left' | 'right';
  /**
   * How narrow the column may get before the line itself is cut. @default the width of its title
   */
  readonly min?: number;
  /** Left out where no row has anything to say in it. @default false */
  readonly optional?: boolean;
}

interface TableOptions {
  /** How many columns the terminal has. @default nothing is cut */
  readonly width?: number;
  /** Whether the titles are bold. @default false */
  readonly colour?: boolean;
}

const GAP = '  ';

/**
 * Text from outside as one line in which nothing is hidden and nothing acts: control and format
 * characters are written `\u{…}`.
 */
export const safeText = (value: string): string => visible(value);

/**
 * A heading and a line for each row, without a line break at the end. Every cell is made safe here;
 * do not do it twice.
 */
export function renderTable(
  all: readonly Column[],
  cells: readonly (readonly string[])[],
  options: TableOptions = {},
): string {
  const { colour = false } = options;
  const isShown = all.map(
    ({ optional = false }, at) => !optional || cells.some((row) => (row[at] ?? '') !== ''),
  );
  const columns = all.filter((_, at) => isShown[at]);
  const rows = cells.map((row) => row.filter((_, at) => isShown[at]));
  // A terminal that does not know its size says 0.
  const width =
    options.width === undefined || options.width < 1 ? Number.POSITIVE_INFINITY : options.width;
  const lines = [columns.map(({ title }) => title), ...rows].map((row) =>
    columns.map((_, at) => safeText(row[at] ?? '')),
  );
  const widths = fit(columns, lines, width);
  return lines
    .map((row, index) => {
      const line = row
        .map((cell, at) => pad(cutTo(cell, widths[at] ?? 0), widths[at] ?? 0, columns[at]?.align))
        .join(GAP);
      return paint(colour && index === 0, 'bold', cutTo(line.trimEnd(), width));
    })
    .join('\n');
}

/**
 * The widest columns give way first, all to the same width, until the line fits or every column is
 * as narrow as it may be.
 */
function fit(
  columns: readonly Column[],
  lines: readonly (readonly string[])[],
  width: number,
): readonly number[] {
  const room = width - GAP.length * (columns.length - 1);
  const wanted = columns.map((_, at) =>
    lines.reduce((most, cells) => Math.max(most, widthWithin(cells[at] ?? '', width)), 0),
  );
  const least = columns.map(({ title, min }, at) =>
    Math.min(wanted[at] ?? 0, min ?? stringWidth(safeText(title))),
  );
  const within = (cap: number) =>
    wanted.map((want, at) => Math.max(least[at] ?? 0, Math.min(want, cap)));
  let cap = Math.max(0, ...wanted);
  while (cap > 0 && within(cap).reduce((sum, each) => sum + each, 0) > room) cap -= 1;
  return within(cap);
}

/**
 * The width, as far as it matters: a text of a million characters is cut in any case, and not
 * measured to its end.
 */
function widthWithin(text: string, width: number): number {
  return Number.isFinite(width) && text.length > width * 8
    ? width
    : Math.min(stringWidth(text), width);
}

const segmenter = new Intl.Segmenter();

/**
 * The beginning of a text that has the width, ending in `…` where something is missing. Never cuts
 * a character in two.
 */
function cutTo(text: string, width: number): string {
  if (text.length <= width / 2 || widthWithin(text, width + 1) <= width) return text;
  let head = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += stringWidth(segment);
    if (used >= width) break;
    head += segment;
  }
  return width < 1 ? '' : `${head}…`;
}

function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return align === 'left' ? `${text}${space}` : `${space}${text}`;
}
