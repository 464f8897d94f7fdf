/** Paths that a grant may cover without naming each: part by part, and never up. */

import { matchesTool } from '../../core/contract/layer.ts';

const MAX_GLOB = 1024;
const MAX_PATH = 4096;

/**
 * What is wrong with a pattern for paths, or `null`. Only `*` within a part, and `**` as a whole
 * part, stand for something else.
 */
export function globProblem(glob: string): string | null {
  if (glob.length > MAX_GLOB) return `is longer than ${MAX_GLOB} characters`;
  const parts = partsOf(glob);
  if (parts === null)
    return 'is no plain path: it has "..", ".", an empty part, or a character that could be read as one';
  if (parts.some((part) => part.includes('**') && part !== '**')) return 'has "**" inside a part';
  return null;
}

/**
 * Whether a path fits. Compares text: whether a part is a link is for whoever opens the file. What
 * could be read in two ways (`..`, `\`, `%`, `~`, a drive) does not fit, nor does a hidden part
 * that the pattern does not spell out.
 */
export function matchesPathGlob(glob: string, path: string): boolean {
  if (path.length > MAX_PATH || globProblem(glob) !== null) return false;
  const wanted = partsOf(glob);
  const given = partsOf(path);
  // Two spellings of one path must not be told apart here and read as one later.
  if (wanted === null || given === null || partsOf(path.normalize('NFKC'))?.length !== given.length)
    return false;
  if (glob.startsWith('/') !== path.startsWith('/')) return false;
  return fits(wanted, given);
}

/** The parts of a plain path; `null` where it is none. */
function partsOf(path: string): readonly string[] | null {
  const parts = (path.startsWith('/') ? path.slice(1) : path).split('/');
  if (/[\\%\p{Cc}\p{Cf}\u2028\u2029]/u.test(path) || !path.isWellFormed()) return null;
  // A drive or a scheme, or somebody's home.
  if (/^~|:/.test(parts[0] ?? '')) return null;
  // Some systems drop blanks and dots at the end of a name: ".. " is "..".
  return parts.every((part) => /[^. ]/.test(part)) ? parts : null;
}

/** Row by row, so that many `**` cost the product of the lengths and not a power of them. */
function fits(wanted: readonly string[], given: readonly string[]): boolean {
  // reached[n]: the pattern so far fits the first n parts.
  let reached: readonly boolean[] = [true, ...given.map(() => false)];
  for (const [index, part] of wanted.entries()) {
    // What is below a folder is not the folder itself: at the end, `**` stands for one part at
    // least.
    reached =
      part === '**'
        ? spanned(reached, given, index === wanted.length - 1)
        : stepped(reached, given, part);
  }
  return reached[given.length] === true;
}

const stepped = (
  reached: readonly boolean[],
  given: readonly string[],
  pattern: string,
): readonly boolean[] => [
  false,
  ...given.map((part, at) => reached[at] === true && partFits(pattern, part)),
];

function spanned(
  reached: readonly boolean[],
  given: readonly string[],
  isLast: boolean,
): readonly boolean[] {
  const next = isLast ? reached.map(() => false) : [...reached];
  for (const [at, part] of given.entries()) {
    if (!part.startsWith('.') && (reached[at] === true || next[at] === true)) next[at + 1] = true;
  }
  return next;
}

const partFits = (pattern: string, part: string): boolean =>
  pattern === part ||
  (matchesTool([pattern], part) && (pattern.startsWith('.') || !part.startsWith('.')));
