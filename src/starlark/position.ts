// Places in an artifact file.

/**
 * A place in the artifact file as one small number, so that noting it is one store: see `lineOf`,
 * `columnOf`.
 */
export type Position = number;

const COLUMNS = 0x10000;

/** A line and a column, both from 1. */
export function positionAt(line: number, column: number): Position {
  return line * COLUMNS + Math.min(column, COLUMNS - 1);
}

/** The line of a position. */
export function lineOf(position: Position): number {
  return Math.floor(position / COLUMNS);
}

/** The column of a position. */
export function columnOf(position: Position): number {
  return position % COLUMNS;
}
