import { describe, expect, it } from 'vitest';
import { linkPair } from '../proxy/link.ts';
import { checkUpstreams, exposeNames, splitName } from './names.ts';

const specs = (...prefixes: string[]) =>
  prefixes.map((prefix, index) => ({ name: `server-${index}`, prefix, open: () => linkPair()[0] }));

describe('names behind one server', () => {
  it('lead back to their server and to what they are called there', () => {
    const upstreams = specs('git', 'files');

    expect(splitName(upstreams, 'files_read_file')).toEqual({
      upstream: upstreams[1],
      name: 'read_file',
    });
    expect(
      ['files_', 'files', 'Files_x', 'other_x', '', 7, undefined].map((name) =>
        splitName(upstreams, name),
      ),
    ).toEqual(Array(7).fill(null));
  });

  it.each([
    ['git', 'git'],
    ['git', 'Git'],
    ['git', 'g1t'],
    ['a-b', 'a_b'],
    ['a.b', 'a_b'],
    ['git', 'git_hub'],
    ['git-hub', 'GIT'],
  ])('could be shared by the prefixes %s and %s, which are refused', (first, second) => {
    expect(() => checkUpstreams(specs(first, 'between', second))).toThrow(
      /could make one name for two tools/,
    );
  });

  it('can begin alike where no name could be both', () => {
    expect(() => checkUpstreams(specs('git', 'github', 'gitea', 'g'))).not.toThrow();
  });

  it.each(['', 'a b', 'ü', 'a/b', 'x'.repeat(129)])('are not made of the prefix "%s"', (prefix) => {
    expect(() => checkUpstreams(specs(prefix))).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });

  it('need a server, and each server a name of its own', () => {
    expect(() => checkUpstreams([])).toThrow(/at least one/);
    expect(() =>
      checkUpstreams(specs('a', 'b').map((spec) => ({ ...spec, name: 'same' }))),
    ).toThrow(/same name/);
  });

  it('are left out where they look like another or cannot be shown, and the rest of a tool is kept', () => {
    const tool = { name: 'read_file', vendor: { x: 1 } };
    const { items, refused, problems } = exposeNames('f', [
      tool,
      { name: 'read-file' },
      { name: 'READ_FILE' },
      { name: 'read_file' },
      { name: 'a/b' },
      { name: 'x'.repeat(127) },
      { title: 'no name' },
      { name: 'write' },
    ]);

    expect(items).toEqual([{ ...tool, name: 'f_read_file' }, { name: 'f_write' }]);
    expect([...refused]).toEqual(['read-file', 'READ_FILE']);
    expect(problems).toHaveLength(6);
  });
});
