/** Which files a call may touch, decided by where a path really leads. */

import { realpathSync } from 'node:fs';
import { dirname, join, basename, resolve, sep } from 'node:path';
import { AlliumError } from '../../core/contract/errors.ts';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import {
  expandHome,
  holdsAny,
  hostPath,
  isBelow,
  isPathPattern,
  type PathMatcher,
  pathMatcher,
  pathProblem,
  resolvePath,
} from './resolve-path.ts';
import {
  FILESYSTEM_KINDS,
  type FilesystemKind,
  type PermissionAnswer,
  type PermissionPolicy,
  type PermissionRequest,
} from '../permission.ts';
import { decisionFor, strictest } from '../evaluate.ts';

/** Folders and patterns for `pathPolicy`. */
export interface PathPolicyOptions {
  /**
   * Folders that may be used. Relative ones are taken from where the process is; a leading `~` is
   * the home. None means nothing.
   */
  readonly roots: readonly string[];
  /**
   * What may be read and listed, and nothing else: `true` for everything, or patterns.
   * @default nothing is read-only
   */
  readonly readOnly?: boolean | readonly string[];
  /**
   * Patterns of what is never touched, not even for reading, inside of the roots and outside.
   * @default nothing
   */
  readonly protect?: readonly string[];
  /**
   * What happens outside of the roots: `'deny'` or `'ask'`.
   * @default 'deny'
   */
  readonly outside?: 'deny' | 'ask';
}

const patterns: Expectation = expected.listOf({
  text: 'a pattern of names, *, ? and **, without "..", brackets or braces',
  test: isPathPattern,
});
const folder: Expectation = {
  text: 'a folder, without NUL and ~user',
  test: (value) =>
    typeof value === 'string' && value !== '' && !value.includes('\0') && !/^~[^/]/.test(value),
};

const EXPECTED: Readonly<Record<keyof PathPolicyOptions, Expectation>> = Object.freeze({
  roots: expected.required(expected.listOf(folder)),
  readOnly: {
    text: `true, false or ${patterns.text}`,
    test: (value) => typeof value === 'boolean' || patterns.test(value),
  },
  protect: patterns,
  outside: expected.oneOf('deny', 'ask'),
});

/** What a policy decides by: the options, read once. */
interface Rules {
  readonly roots: readonly string[];
  readonly shownRoots: string;
  readonly isReadOnly: PathMatcher;
  readonly isProtected: PathMatcher;
  readonly outside: 'deny' | 'require_approval';
}

/**
 * Decides `filesystem.*` requests by where the path leads when all links are followed, also for
 * what is not there yet, and has no opinion on others. Relative paths are taken from the first
 * root. It looks at the disk and answers; whoever opens the path afterwards opens what is there by
 * then. Only `jail(root).open` closes that gap. It trusts that a tool proposes every path it uses,
 * and cannot tell a hard link from the file.
 */
export function pathPolicy(options: PathPolicyOptions): PermissionPolicy {
  checkOptions('pathPolicy', options, EXPECTED);
  const { readOnly = false, protect = [], outside = 'deny' } = options;
  const given = options.roots.map(hostPath);
  const roots = given.map(realRoot);
  const everyRoot = [...new Set([...roots, ...given])];
  const rules: Rules = {
    roots,
    shownRoots: options.roots.length === 0 ? 'none' : options.roots.join(', '),
    isReadOnly: typeof readOnly === 'boolean' ? () => readOnly : anyOf(readOnly, everyRoot),
    isProtected: anyOf(protect, everyRoot),
    outside: decisionFor(outside),
  };
  return Object.freeze<PermissionPolicy>({
    name: 'pathPolicy',
    digest: hashCanonical([
      'pathPolicy',
      roots,
      everyRoot,
      readOnly,
      protect.map(expandHome),
      outside,
    ]),
    evaluate: (request) => decide(rules, request),
  });
}

function anyOf(list: readonly string[], roots: readonly string[]): PathMatcher {
  const matchers = list.map((pattern) => pathMatcher(pattern, roots));
  return (path) => matchers.some((matches) => matches(path));
}

/** The root without links, fixed when the policy is made. It may not be there yet. */
function realRoot(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    // Every error of the file system has a code.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path)
      return join(realRoot(dirname(path)), basename(path));
    const details = {
      layer: 'pathPolicy',
      option: 'roots',
      expected: folder.text,
      got: 'a path that leads nowhere',
    };
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      'pathPolicy: "roots" must be folders that can be reached',
      details,
      { cause: error },
    );
  }
}

const isFilesystem = (kind: string): kind is FilesystemKind => kind.startsWith('filesystem.');

async function decide(rules: Rules, request: PermissionRequest): Promise<PermissionAnswer> {
  const { kind } = request;
  if (!isFilesystem(kind)) return { decision: 'no_opinion' };
  // The kind was read from the request, and with it what else it has; what is really in there is
  // checked next.
  const { path, to } = request as { readonly path?: unknown; readonly to?: unknown };
  if (!FILESYSTEM_KINDS.includes(kind))
    return refusal('path_kind', 'this kind of file access is not known');
  if (kind !== 'filesystem.move')
    return to === undefined
      ? checkEnd(rules, 'path', path, useOf(kind))
      : refusal('path_invalid', '`to` is only for moving');
  const ends = await Promise.all([
    checkEnd(rules, 'path', path, 'remove'),
    checkEnd(rules, 'to', to, 'remove'),
  ]);
  const answer = strictest(ends);
  return answer.decision !== 'allow' || !(await carriesBlocked(rules, path, to))
    ? answer
    : BLOCKED_BELOW;
}

/**
 * What is done to a path, as far as it makes a difference here. A move may replace what is there.
 */
type Use = 'read' | 'write' | 'remove';

function useOf(kind: FilesystemKind): Use {
  if (kind === 'filesystem.read' || kind === 'filesystem.list') return 'read';
  return kind === 'filesystem.delete' ? 'remove' : 'write';
}

const refusal = (
  code: string,
  reason: string,
  decision: 'deny' | 'require_approval' = 'deny',
): PermissionAnswer => ({ decision, code, reason });
const BLOCKED_BELOW = refusal(
  'path_protected',
  '`path` holds something that must not be moved or removed, or would put something where it must not be',
);
const AMBIGUOUS = '` leads elsewhere when it is read in another way: write it without ".."';

async function checkEnd(
  rules: Rules,
  field: 'path' | 'to',
  asked: unknown,
  use: Use,
): Promise<PermissionAnswer> {
  const problem = pathProblem(asked);
  if (problem !== null) return refusal('path_invalid', `\`${field}\` ${problem}`);
  const [base] = rules.roots;
  if (base === undefined) return refusal('path_outside', 'no folder is allowed');
  // The problems of what is no text were told above.
  const found = await waysOf(base, asked as string).catch(() => null);
  if (found === null)
    return refusal(
      'path_unresolved',
      `\`${field}\` leads round in links, or through what cannot be looked into`,
    );
  if (found.isAmbiguous) return refusal('path_ambiguous', `\`${field}${AMBIGUOUS}`);
  return checkWays(rules, field, found, use);
}

interface Ways {
  readonly path: string;
  /** The path as it was written, every link on the way, and where it leads. */
  readonly names: readonly string[];
  readonly isAmbiguous: boolean;
}

/** Some programs take `..` off the text, others off what a link points to: both are looked at. */
async function waysOf(base: string, asked: string): Promise<Ways> {
  const written = resolve(base, asked);
  const real = await resolvePath(written);
  const literal = asked.split(/[/\\]/).includes('..')
    ? await resolvePath(resolve(asked) === asked ? asked : `${base}${sep}${asked}`)
    : real;
  return {
    path: real.path,
    names: [written, ...real.links, real.path],
    isAmbiguous: literal.path !== real.path,
  };
}

async function checkWays(
  rules: Rules,
  field: 'path' | 'to',
  { path, names }: Ways,
  use: Use,
): Promise<PermissionAnswer> {
  if (names.some(rules.isProtected))
    return refusal(
      'path_protected',
      `\`${field}\` names something that is protected from every access`,
    );
  if (use !== 'read' && names.some(rules.isReadOnly))
    return refusal('path_read_only', `\`${field}\` may be read and listed only`);
  if (!rules.roots.some((root) => isBelow(root, path)))
    return refusal(
      'path_outside',
      `\`${field}\` lies outside of what is allowed; allowed: ${rules.shownRoots}`,
      rules.outside,
    );
  if (use === 'remove' && rules.roots.includes(path))
    return refusal('path_read_only', `\`${field}\` is a root: it may not be moved or removed`);
  const isHeld =
    use === 'remove' &&
    (await holdsAny(path, (below) => isBlocked(rules, join(path, below))).catch(() => true));
  return isHeld ? BLOCKED_BELOW : { decision: 'allow', code: 'path_inside' };
}

const isBlocked = (rules: Rules, path: string): boolean =>
  rules.isProtected(path) || rules.isReadOnly(path);

/** A folder that is moved brings its names to another place, where they may be protected. */
async function carriesBlocked(rules: Rules, from: unknown, to: unknown): Promise<boolean> {
  const [base = ''] = rules.roots;
  // Both were found to be paths before.
  const [source, target] = [resolve(base, from as string), resolve(base, to as string)];
  return holdsAny(source, (below) => isBlocked(rules, join(target, below))).catch(() => true);
}
