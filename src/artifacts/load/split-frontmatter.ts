/** Cuts a Markdown file into its frontmatter and its body. Nothing of either is run, whatever a delimiter says. */

/** The parts of a file. Lines are counted from 1. */
export interface SplitFile {
  readonly frontmatter: string;
  /** The line on which the frontmatter begins. */
  readonly firstLine: number;
  /** Trimmed. */
  readonly body: string;
}

export interface SplitMistake {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

export const MUST_START = 'markdown file must start with --- frontmatter delimiter';
export const NO_CONTENT = 'no content after opening --- delimiter';
export const NO_CLOSER = 'no closing --- delimiter found for frontmatter';
const ALONE = 'a --- delimiter stands alone on its line';

/**
 * A file begins with a line that is `---` and its frontmatter ends with the next one; blank lines may stand before, blanks behind. A
 * line that only begins with `---` is a mistake: it could be meant as either. `lenient` takes it for a delimiter, ignores what is
 * behind it, and takes three dashes at the very end of the file for the closing one, as old files have them.
 */
export function splitFrontmatter(text: string, lenient = false): SplitFile | SplitMistake {
  const lines = text.split('\n');
  const open = lines.findIndex((line) => line.trim() !== '');
  const opening = lines[open]?.replace(/\r$/, '') ?? '';
  const at = (line: number, message: string, column = 1): SplitMistake => ({
    message,
    line,
    column,
  });
  if (!opening.startsWith('---')) return at(Math.max(open, 0) + 1, MUST_START);
  if (!lenient && !isDelimiter(opening)) return at(open + 1, `${MUST_START}; ${ALONE}`, 4);
  if (lines.slice(open + 1).every((line) => line.trim() === '')) return at(open + 1, NO_CONTENT);

  const close = lines.findIndex((line, index) => index > open && line.startsWith('---'));
  if (close === -1)
    return (lenient ? closedAtEnd(text, lines, open) : null) ?? at(open + 1, NO_CLOSER);
  if (!lenient && !isDelimiter(lines[close] ?? '')) return at(close + 1, ALONE, 4);
  return {
    frontmatter: lines
      .slice(open + 1, close)
      .map((line) => `${line}\n`)
      .join(''),
    firstLine: open + 2,
    body: lines
      .slice(close + 1)
      .join('\n')
      .trim(),
  };
}

const isDelimiter = (line: string): boolean => /^---[ \t]*\r?$/.test(line);

function closedAtEnd(text: string, lines: readonly string[], open: number): SplitFile | null {
  const trimmed = text.trimEnd();
  if (!trimmed.endsWith('---')) return null;
  const before = lines.slice(0, open + 1).reduce((length, line) => length + line.length + 1, 0);
  return { frontmatter: trimmed.slice(before, -3), firstLine: open + 2, body: '' };
}
