import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open as plainOpen, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlliumError } from '../core/contract/errors.ts';
import { jail } from './jail.ts';
import { type JailWorld, jailWorld, SENTINEL } from './jail-world.fixture.ts';
import { findRoot, requireInside } from './walk.ts';
import { traversalSpellings } from './traversal-spellings.fixture.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

let world: JailWorld;
beforeEach(() => {
  world = jailWorld();
});
afterEach(() => world.remove());

const refusal = (reason: string) => ({ code: 'ERR_JAIL', details: { reason } });
const openHandles = () => readdirSync('/proc/self/fd').length;

describe('jail', () => {
  it('opens, reads and writes files below its root', async () => {
    const files = jail(world.root);
    const file = await files.open('dir/deep/file.txt', 'r+');
    await file.writeFile('DEEP');
    await file.close();
    await files.writeFile('./dir/new.txt', 'new');
    await files.writeFile('dir/new.txt', ' and more', { flags: 'a' });

    expect(files.root).toBe(world.root);
    expect(await files.readFile('dir/deep/file.txt', 'utf8')).toBe('DEEP');
    expect(await files.readFile('dir/new.txt')).toEqual(Buffer.from('new and more'));
    expect(await files.readFile('dir/./new.txt', 'utf8')).toBe('new and more');
  });

  it('empties, refuses to replace, and makes with a mode', async () => {
    const files = jail(world.root);
    await files.writeFile('inside.txt', 'x');
    await files.writeFile('made', '', { flags: 'wx', mode: 0o4600 });

    expect(await files.readFile('inside.txt', 'utf8')).toBe('x');
    await expect(files.writeFile('inside.txt', 'y', { flags: 'wx' })).rejects.toMatchObject(
      refusal('exists'),
    );
    expect((await files.stat('made')).mode & 0o7777).toBe(0o600);
  });

  it('lists, makes, moves and removes', async () => {
    const files = jail(world.root);
    await files.mkdir('a/b/c', { recursive: true });
    await files.mkdir('a/b/c', { recursive: true });
    await files.rename('inside.txt', 'a/b/moved.txt');
    await files.rmdir('a/b/c');

    expect(await files.readdir('a/b')).toEqual([{ name: 'moved.txt', type: 'file' }]);
    await files.unlink('a/b/moved.txt');
    expect(await files.readdir('a/b')).toEqual([]);
    expect((await files.readdir('.')).slice(0, 3)).toEqual([
      { name: 'a', type: 'directory' },
      { name: 'dir', type: 'directory' },
      { name: 'link-absolute', type: 'link' },
    ]);
    expect((await files.stat('.')).isDirectory()).toBe(true);
  });

  it('says why something cannot be done, without the path and without what a file holds', async () => {
    const files = jail(world.root);
    const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['not_found', () => files.open('nothing-here')],
      ['not_found', () => files.open('nothing-here/file', 'w')],
      ['is_directory', () => files.open('dir')],
      ['is_directory', () => files.open('.')],
      ['not_directory', () => files.open('inside.txt/x')],
      ['exists', () => files.mkdir('dir')],
      ['not_directory', () => files.mkdir('inside.txt/x', { recursive: true })],
      ['not_directory', () => files.mkdir('inside.txt', { recursive: true })],
      ['not_directory', () => files.mkdir('link-out/made', { recursive: true })],
      ['not_empty', () => files.rmdir('dir')],
      ['path', () => files.open('x'.repeat(300))],
      ['path', () => files.open('a/'.repeat(3000).concat('b'))],
    ];

    for (const [reason, attempt] of attempts) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject(refusal(reason));
      expect(JSON.stringify(error)).not.toMatch(/nothing-here|inside\.txt|proc\/self\/fd|xxx/);
    }
  });

  it.each([
    '..',
    '/',
    '',
    'a//b',
    'dir/',
    '/etc/passwd',
    'a/../inside.txt',
    'a\\b',
    'a\0b',
    '\ud800',
    7,
    null,
    undefined,
    ['a'],
    { toString: () => 'inside.txt' },
  ])('refuses the path %j', async (path) => {
    await expect(jail(world.root).open(path as string)).rejects.toMatchObject(refusal('path'));
    await expect(jail(world.root).readdir(path as string)).rejects.toMatchObject(refusal('path'));
    await expect(jail(world.root).rename('inside.txt', path as string)).rejects.toMatchObject(
      refusal('path'),
    );
  });

  it.each([
    'x',
    'rs',
    'R',
    '',
    -1,
    1.5,
    3,
    constants.O_TRUNC,
    constants.O_DIRECTORY,
    constants.O_NOFOLLOW,
    0o10000000,
    0o20200002,
    2 ** 40,
    null,
  ])('refuses the flags %j', async (flags) => {
    await expect(jail(world.root).open('inside.txt', flags as string)).rejects.toMatchObject(
      refusal('flags'),
    );
    expect(readFileSync(join(world.root, 'inside.txt'), 'utf8')).toBe('inside');
  });

  it.each(['r', 'r+', 'w', 'w+', 'wx', 'a', 'a+', 'ax', constants.O_RDWR | constants.O_CREAT])(
    'follows no link with %j',
    async (flags) => {
      const files = jail(world.root);
      const before = world.outsideText();

      for (const link of [
        'link-file',
        'link-inside',
        'link-dangling',
        'link-loop',
        'dir/link-file',
      ]) {
        await expect(files.open(link, flags)).rejects.toMatchObject(refusal('link'));
      }
      for (const link of [
        'link-out',
        'link-absolute',
        'link-chain',
        'link-up/outside',
        'link-proc',
        'link-fd',
        'dir/link-out',
      ]) {
        await expect(files.open(`${link}/secret.txt`, flags)).rejects.toMatchObject(
          refusal('not_directory'),
        );
      }
      expect(world.outsideText()).toBe(before);
    },
  );

  it('lists, moves and removes links themselves, never what they point to', async () => {
    const files = jail(world.root);
    const before = world.outsideText();
    await expect(files.readdir('link-out')).rejects.toMatchObject(refusal('not_directory'));
    await expect(files.mkdir('link-out/made')).rejects.toMatchObject(refusal('not_directory'));
    await expect(files.unlink('link-out/secret.txt')).rejects.toMatchObject(
      refusal('not_directory'),
    );
    await expect(files.rename('inside.txt', 'link-out/taken.txt')).rejects.toMatchObject(
      refusal('not_directory'),
    );
    await expect(files.rename('link-out/secret.txt', 'taken.txt')).rejects.toMatchObject(
      refusal('not_directory'),
    );
    await files.rename('link-file', 'dir/renamed');
    await files.unlink('link-out');

    expect((await files.stat('dir/renamed')).isSymbolicLink()).toBe(true);
    expect(world.outsideText()).toBe(before);
  });

  it('opens no pipe and no device, and waits for neither', async () => {
    execFileSync('mkfifo', [join(world.root, 'pipe')]);
    const before = openHandles();

    for (const flags of ['r', 'r+', 'w', 'a']) {
      await expect(jail(world.root).open('pipe', flags)).rejects.toMatchObject(
        refusal('special_file'),
      );
      await expect(jail('/dev').open('null', flags)).rejects.toMatchObject(refusal('special_file'));
    }
    expect(openHandles()).toBe(before);
  });

  it('cannot tell a hard link from the file', async () => {
    linkSync(join(world.outside, 'secret.txt'), join(world.root, 'hard'));

    expect(await jail(world.root).readFile('hard', 'utf8')).toBe(SENTINEL);
    expect((await jail(world.root).stat('hard')).nlink).toBe(2);
  });

  it('stays with the directory that was its root', async () => {
    const files = jail(world.root);
    renameSync(world.root, `${world.root}-moved`);
    await expect(files.open('inside.txt')).rejects.toMatchObject(refusal('root_changed'));
    symlinkSync(world.outside, world.root);
    await expect(files.open('secret.txt')).rejects.toMatchObject(refusal('root_changed'));
    renameSync(world.root, `${world.root}-link`);
    mkdirSync(world.root);
    writeFileSync(join(world.root, 'secret.txt'), SENTINEL);

    await expect(files.open('secret.txt')).rejects.toMatchObject(refusal('root_changed'));
    await expect(files.writeFile('new.txt', '')).rejects.toMatchObject(refusal('root_changed'));
    expect(existsSync(join(world.root, 'new.txt'))).toBe(false);
  });

  it('knows of a handle whether it is inside by now, whatever way led to it', () => {
    const root = findRoot(world.root);
    const isInside = (path: string): boolean => {
      const fd = openSync(path, 'r');
      try {
        requireInside(root, fd);
        return true;
      } catch (error) {
        if (!isAlliumError(error, 'ERR_JAIL') || error.details.reason !== 'outside') throw error;
        return false;
      } finally {
        closeSync(fd);
      }
    };
    const beside = `${world.root}-beside`;
    mkdirSync(beside);

    expect(
      [world.root, join(world.root, 'dir'), join(world.root, 'inside.txt')].map(isInside),
    ).toEqual([true, true, true]);
    expect([dirname(world.root), beside, '/'].map(isInside)).toEqual([false, false, false]);
  });

  it('resolves the links of its own root once, when it is made', async () => {
    symlinkSync(world.root, join(world.base, 'link-to-root'));

    expect(
      await jail(join(world.base, 'link-to-root', 'dir')).readFile('deep/file.txt', 'utf8'),
    ).toBe('deep');
  });
});

/** What many file tools do: clean the path up, join it, and use it. */
async function naiveRead(root: string, path: string): Promise<string> {
  const cleaned =
    path.replaceAll('%2e', '.').replaceAll('%2f', '/').replaceAll('\\', '/').split('\0')[0] ?? '';
  return readFile(join(root, cleaned), 'utf8');
}

const SPELLINGS = howMany(1_000, 5_000);

describe('spellings of a way out', () => {
  it('are told apart by what they reach: joined without looking, hundreds get out', async () => {
    const spellings = traversalSpellings(SPELLINGS, world.base);
    const reached = await Promise.all(
      spellings.map((path) => naiveRead(world.root, path).catch(() => '')),
    );

    expect(new Set(spellings).size).toBe(SPELLINGS);
    expect(reached.filter((text) => text.includes(SENTINEL)).length).toBeGreaterThan(
      SPELLINGS / 25,
    );
  });

  it('neither read nor write, list nor move, make nor remove anything outside of a jail', async () => {
    const files = jail(world.root);
    const before = world.outsideText();
    const reached: string[] = [];
    for (const [index, path] of traversalSpellings(SPELLINGS, world.base).entries()) {
      const read = await files.readFile(path, 'utf8').catch(() => '');
      const listed = await files.readdir(path).catch(() => []);
      if (read.includes(SENTINEL) || listed.some(({ name }) => name.includes(SENTINEL)))
        reached.push(path);
      await files.writeFile(path, 'written').catch(() => {});
      if (index % 5 > 0) continue;
      await files.unlink(path).catch(() => {});
      await files.mkdir(path, { recursive: true }).catch(() => {});
      await files.rename('inside.txt', path).catch(() => {});
      await files.writeFile('inside.txt', 'inside');
    }

    expect(reached).toEqual([]);
    expect(world.outsideText()).toBe(before);
  });
});

describe('a link that is put there in between', () => {
  /** Decides by `realpath`, then opens: between the two, `flip` happens. */
  async function openAfterRealpath(root: string, path: string, flip: () => void): Promise<string> {
    const real = await realpath(join(root, path));
    if (!real.startsWith(`${root}/`)) throw new Error('outside');
    flip();
    const file = await plainOpen(real);
    try {
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  }

  it('leads out whoever looks at the path first and opens it then', async () => {
    writeFileSync(join(world.root, 'dir', 'secret.txt'), 'inside');
    const flip = () => {
      renameSync(join(world.root, 'dir'), join(world.root, 'dir-aside'));
      symlinkSync(world.outside, join(world.root, 'dir'));
    };

    expect(await openAfterRealpath(world.root, 'dir/secret.txt', flip)).toBe(SENTINEL);
  });

  it('does not lead out a file that is open already', async () => {
    const file = await jail(world.root).open('dir/deep/file.txt', 'r+');
    renameSync(join(world.root, 'dir'), join(world.root, 'dir-aside'));
    symlinkSync(world.outside, join(world.root, 'dir'));
    await file.writeFile('DEEP');
    await file.close();

    expect(await readFile(join(world.root, 'dir-aside/deep/file.txt'), 'utf8')).toBe('DEEP');
  });
});

describe('a jail', () => {
  it('leaves no handle open, whatever happens', async () => {
    const files = jail(world.root);
    const spellings = [
      ...traversalSpellings(600, world.base),
      'inside.txt',
      'dir/deep/file.txt',
      'dir',
      '.',
      'nothing',
    ];
    const before = openHandles();
    for (const path of spellings) {
      const others = [
        files.readFile(path),
        files.readdir(path),
        files.stat(path),
        files.mkdir(path),
        files.rmdir(path),
      ];
      const settled = await Promise.allSettled([files.open(path, 'wx'), ...others]);
      const opened = settled[0];
      if (opened.status === 'fulfilled') await opened.value.close();
    }

    expect(openHandles()).toBe(before);
  });

  it('serves many at once', async () => {
    const files = jail(world.root);
    const before = openHandles();
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        files.writeFile(`dir/deep/${index % 20}.txt`, `${index}`),
      ),
    );

    expect((await files.readdir('dir/deep')).length).toBe(21);
    expect(openHandles()).toBe(before);
  });

  it.each(['', 7, undefined, null, 'a\0b', ['/tmp']])('is not made of %j', (root) => {
    expect(() => jail(root as string)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });

  it('is made of a directory that is there', async () => {
    await writeFile(join(world.base, 'file'), '');

    expect(() => jail(join(world.base, 'file'))).toThrow(expect.objectContaining(refusal('root')));
    expect(() => jail(join(world.base, 'missing'))).toThrow(
      expect.objectContaining(refusal('root')),
    );
  });

  it('is not made where handles cannot be walked by', () => {
    const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
    Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
    try {
      expect(() => jail(world.root)).toThrow(expect.objectContaining(refusal('unsupported')));
    } finally {
      Object.defineProperty(process, 'platform', platform);
    }
  });
});
