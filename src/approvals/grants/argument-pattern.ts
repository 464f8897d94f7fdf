/**
 * Which arguments a grant covers. Closed: what a pattern does not name must not be there, and a
 * path pattern never leads up.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { canonicalJson } from '../../core/json/canonical.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { isObject } from '../../core/json/json.ts';
import { literalWord } from '../../permissions/command/command-word.ts';
import { rowsOf } from '../../permissions/command/judge-invocation.ts';
import { isReserved } from '../../permissions/command/plain-line.ts';
import { fitsRow } from '../../permissions/command/program-row.ts';
import { baseName } from '../../permissions/command/read-command.ts';
import { wrapperOf } from '../../permissions/command/wrappers.ts';
import { matchesTool } from '../../core/contract/layer.ts';

/** What one argument may be. Each member has exactly one of these keys. */
export type ValuePattern =
  | { readonly equals: JsonValue }
  | { readonly oneOf: readonly JsonValue[] }
  /**
   * A path, part by part: `*` stays within a part, `**` spans parts. Never `..`, never a hidden
   * part that is not spelt out.
   */
  | { readonly glob: string }
  /**
   * A command line that begins with these words; the rest has no options and no character that a
   * shell acts upon.
   */
  | { readonly prefixWords: readonly string[] }
  | { readonly any: true };

/**
 * `exact` is the hash of all arguments: it covers them and nothing else, without keeping them.
 * `arguments` has a pattern for every argument that must be there; no other may. `any` covers
 * whatever the arguments are.
 */
export type ArgumentPattern =
  | { readonly exact: string }
  | { readonly arguments: Readonly<Record<string, ValuePattern>> }
  | { readonly any: true };

const MAX_PATTERN = 8192;

/**
 * The narrowest pattern: these arguments and no others. Throws `ERR_NOT_JSON` for what is not JSON.
 */
export const patternFor = (args: JsonObject): ArgumentPattern =>
  Object.freeze({ exact: hashCanonical(args) });

/**
 * Whether a pattern covers arguments. A pattern that is badly formed, and arguments that are not
 * JSON, are not covered.
 */
export function covers(pattern: ArgumentPattern, args: JsonObject): boolean {
  try {
    if (patternProblem(pattern) !== null || !isObject(args)) return false;
    if ('exact' in pattern) return pattern.exact === hashCanonical(args);
    // Also refuses what is no JSON inside an argument that may be anything.
    canonicalJson(args);
    if ('any' in pattern) return true;
    const names = Object.keys(args);
    const wanted = Object.entries(pattern.arguments);
    return (
      names.length === wanted.length &&
      wanted.every(([name, value]) => Object.hasOwn(args, name) && fits(value, args[name]))
    );
  } catch {
    return false;
  }
}

function fits(pattern: ValuePattern, value: JsonValue | undefined): boolean {
  if (value === undefined) return false;
  if ('equals' in pattern) return canonicalJson(pattern.equals) === canonicalJson(value);
  if ('oneOf' in pattern)
    return pattern.oneOf.some((each) => canonicalJson(each) === canonicalJson(value));
  if ('glob' in pattern) return typeof value === 'string' && matchesPathGlob(pattern.glob, value);
  if ('prefixWords' in pattern)
    return typeof value === 'string' && beginsWithWords(pattern.prefixWords, value);
  return pattern.any;
}

/**
 * Throws `ERR_INVALID_OPTION` for what is no pattern. The message names the argument, never a
 * value.
 */
export function checkPattern(owner: string, pattern: unknown): asserts pattern is ArgumentPattern {
  const problem = patternProblem(pattern);
  if (problem !== null)
    throw new AlliumError('ERR_INVALID_OPTION', `${owner}: "pattern" ${problem}`, {
      layer: owner,
      option: 'pattern',
    });
}

/** What is wrong with a pattern, also with one from a file; `null` for nothing. */
export function patternProblem(pattern: unknown): string | null {
  const key = onlyKey(pattern);
  if (!isObject(pattern) || !(key === 'exact' || key === 'arguments' || key === 'any'))
    return 'must have either "exact", "arguments" or "any"';
  if (key === 'any') return pattern.any === true ? null : 'must have true as "any"';
  if (key === 'exact') {
    const isHash = typeof pattern.exact === 'string' && /^sha256:[0-9a-f]{64}$/.test(pattern.exact);
    return isHash ? null : 'must have the hash of arguments as "exact"';
  }
  if (!isObject(pattern.arguments)) return 'must have an object as "arguments"';
  for (const [name, value] of Object.entries(pattern.arguments)) {
    const problem = valueProblem(value);
    if (problem !== null) return `has a wrong entry for ${JSON.stringify(name)}: it ${problem}`;
  }
  return isSmallJson(pattern) ? null : `must be JSON of at most ${MAX_PATTERN} characters`;
}

function valueProblem(value: unknown): string | null {
  const key = onlyKey(value);
  if (!isObject(value) || key === null) return 'must have exactly one key';
  const given = value[key];
  switch (key) {
    case 'equals':
      return given === undefined ? 'must have a value as "equals"' : null;
    case 'oneOf':
      return Array.isArray(given) && given.length > 0
        ? null
        : 'must have a list as "oneOf", not an empty one';
    case 'glob':
      return typeof given === 'string'
        ? prefixed('"glob"', globProblem(given))
        : 'must have text as "glob"';
    case 'prefixWords':
      return isTexts(given)
        ? prefixed('"prefixWords"', wordsProblem(given))
        : 'must have a list of words as "prefixWords"';
    case 'any':
      return given === true ? null : 'must have true as "any"';
    default:
      return 'must have one of equals, oneOf, glob, prefixWords, any';
  }
}

const prefixed = (what: string, problem: string | null): string | null =>
  problem === null ? null : `has a ${what} that ${problem}`;

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

function onlyKey(value: unknown): string | null {
  const keys = isObject(value) ? Object.keys(value) : [];
  return keys.length === 1 ? (keys[0] ?? null) : null;
}

function isSmallJson(value: unknown): boolean {
  try {
    return canonicalJson(value).length <= MAX_PATTERN;
  } catch {
    return false;
  }
}

/** Nothing that a shell on any system expands, joins, quotes or redirects. */
const PLAIN = /^[A-Za-z0-9_@+=:,./-]+( [A-Za-z0-9_@+=:,./-]+)*$/;

const MAX_COMMAND = 4096;

/** They run the words they are given as a line. */
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'rbash', 'eval']);

/** What is wrong with the first words of a command, or `null`. */
function wordsProblem(words: readonly string[]): string | null {
  const [program = ''] = words;
  if (words.length === 0 || !words.every((word) => PLAIN.test(word) && !word.includes(' ')))
    return 'must be words without shell characters';
  if (program.includes('=') || program.startsWith('-')) return 'must begin with a program';
  return runsOthers(words)
    ? 'must not make a program run another one: only an exact command can'
    : null;
}

/**
 * Whether a command line begins with these words and goes on with words that are neither options
 * nor act upon a shell. A line in which a known program would run another one is never covered; the
 * table behind that cannot be whole, hence no options at all.
 */
function beginsWithWords(words: readonly string[], command: string): boolean {
  if (command.length > MAX_COMMAND || wordsProblem(words) !== null || !PLAIN.test(command))
    return false;
  const given = command.split(' ');
  if (!words.every((word, at) => given[at] === word)) return false;
  return given.slice(words.length).every((word) => !word.startsWith('-')) && !runsOthers(given);
}

function runsOthers([program = '', ...args]: readonly string[]): boolean {
  const name = baseName(program);
  if (SHELLS.has(name) || isReserved(name) || wrapperOf(name) !== undefined) return true;
  return rowsOf(program).some((row) => fitsRow(row, args.map(literalWord)));
}

const MAX_GLOB = 1024;
const MAX_PATH = 4096;

/**
 * What is wrong with a pattern for paths, or `null`. Only `*` within a part, and `**` as a whole
 * part, stand for something else.
 */
function globProblem(glob: string): string | null {
  if (glob.length > MAX_GLOB) return `is longer than ${MAX_GLOB} characters`;
  const parts = partsOf(glob);
  if (parts === null)
    return 'is no plain path: it has "..", ".", an empty part, or a character that could be read as one';
  if (parts.some((part) => part.includes('**') && part !== '**')) return 'has "**" inside a part';
  return null;
}

/**
 * Whether a path fits. Compares text: whether a part is a link is for the tool that opens it. What
 * could be read in two ways (`..`, `\`, `%`, `~`, a drive) does not fit, nor does a hidden part
 * that the pattern does not spell out.
 */
function matchesPathGlob(glob: string, path: string): boolean {
  if (path.length > MAX_PATH || globProblem(glob) !== null) return false;
  const wanted = partsOf(glob);
  const given = partsOf(path);
  // Two spellings of one path must not be told apart here and read as one later.
  if (wanted === null || given === null || partsOf(path.normalize('NFKC'))?.length !== given.length)
    return false;
  if (glob.startsWith('/') !== path.startsWith('/')) return false;
  return partsFit(wanted, given);
}

/** The parts of a plain path; `null` where it is none. */
function partsOf(path: string): readonly string[] | null {
  const parts = (path.startsWith('/') ? path.slice(1) : path).split('/');
  if (/[\\%\p{Cc}\p{Cf}\u2028\u2029]/u.test(path) || !path.isWellFormed()) return null;
  // A drive or a scheme, or the home of a user.
  if (/^~|:/.test(parts[0] ?? '')) return null;
  // Some systems drop blanks and dots at the end of a name: ".. " is "..".
  return parts.every((part) => /[^. ]/.test(part)) ? parts : null;
}

/** Row by row, so that many `**` cost the product of the lengths and not a power of them. */
function partsFit(wanted: readonly string[], given: readonly string[]): boolean {
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
