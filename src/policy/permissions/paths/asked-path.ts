/** What a path that a model wrote may look like, before anybody looks at the disk. */

import { isAbsolute, sep } from 'node:path';

const MAX_LENGTH = 4096;

/** The sentence for what is wrong with a path, or `null`. Whatever two programs may read in two ways is wrong. */
export function pathProblem(path: unknown): string | null {
  if (typeof path !== 'string' || path === '') return 'must be a path';
  if (path.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (/[\0-\x1f\x7f]/.test(path) || !path.isWellFormed()) return 'must have no control characters';
  if (path.startsWith('~')) return 'must not begin with "~": write the folder out';
  if (/^(?:[a-z][a-z0-9+.-]+:\/|file:)/i.test(path)) return 'must be a path, not a URL';
  return sep === '/' ? posixProblem(path) : windowsProblem(path);
}

const posixProblem = (path: string): string | null =>
  path.includes('\\') ? 'must have no backslashes' : null;

/** Streams, devices and names that Windows cuts: each is another spelling of something else. */
function windowsProblem(path: string): string | null {
  if (/^[\\/]{2}/.test(path) || /^[a-z]:(?![\\/])/i.test(path))
    return 'must be a plain path with or without a drive';
  const names = path.slice(isAbsolute(path) ? path.indexOf(sep) + 1 : 0).split(/[\\/]/);
  const isOdd = (name: string): boolean =>
    /[:*?"<>|]/.test(name) || (/[. ]$/.test(name) && name !== '.' && name !== '..');
  return names.some(isOdd) ? 'must have plain names only' : null;
}
