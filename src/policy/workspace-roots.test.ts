import { describe, expect, it } from 'vitest';
import { allows, intersectPolicies } from './capability-policy.ts';

const inside = (roots: readonly string[], path: unknown) =>
  allows({ workspaceRoots: roots }, { path: path as string });

describe('workspaceRoots', () => {
  it.each<[string, readonly string[], unknown, boolean]>([
    ['a folder itself', ['/a/b'], '/a/b', true],
    ['what lies in it', ['/x', '/a/b'], '/a/b/c', true],
    ['everything in the root', ['/'], '/etc', true],
    ['a folder that is written another way', ['/a//./b/../b/'], '/a/b/c', true],
    ['a path that comes back', ['/a/b'], '/a/x/../b/c', true],
    ['a name that only begins alike', ['/a/b'], '/a/bc', false],
    ['what lies above', ['/a/b'], '/a', false],
    ['a way out', ['/a/b'], '/a/b/../c', false],
    ['a way out above the root', ['/a/b'], '/a/b/../../../../etc/passwd', false],
    ['a relative path', ['/a/b'], 'a/b', false],
    ['a relative path under the root', ['/'], 'etc', false],
    ['nothing', ['/'], '', false],
    ['a path that ends early for the system', ['/a'], '/a/x\0/../../etc', false],
    ['another case', ['/a'], '/A', false],
    ['a value that is no text', ['/'], ['/a'], false],
    ['anything in no folder', [], '/a', false],
    ['anything in a relative folder', ['a', '', '.'], '/a', false],
  ])('answers for %s', (_name, roots, path, answer) => {
    expect(inside(roots, path)).toBe(answer);
  });

  it.each<[readonly string[], readonly string[], readonly string[]]>([
    [['/a'], ['/a/b', '/c'], ['/a/b']],
    [['/a/b/', '/a//b', '/a/b/c'], ['/'], ['/a/b']],
    [['/a/b'], ['/a/bc'], []],
    [['/a'], [], []],
    [
      ['/b', '/a'],
      ['/a', '/b'],
      ['/a', '/b'],
    ],
    [['a'], ['/'], []],
  ])('%j and %j leave %j', (a, b, met) => {
    expect(intersectPolicies({ workspaceRoots: a }, { workspaceRoots: b })).toEqual({
      workspaceRoots: met,
    });
    expect(intersectPolicies({ workspaceRoots: b }, { workspaceRoots: a })).toEqual({
      workspaceRoots: met,
    });
  });
});
