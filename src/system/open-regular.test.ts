import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  checkFolder,
  makeFolder,
  type OpenHow,
  openRegular,
  openRegularHandle,
} from './open-regular.ts';

const isRoot = process.getuid?.() === 0;

function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const HOWS: readonly OpenHow[] = [
  { access: 'read' },
  { access: 'read', secret: true },
  { access: 'update' },
  { access: 'append', create: 'missing' },
  { access: 'extend', create: 'missing' },
  { access: 'append', durable: true },
];

/** What a path leads to instead of a file of ours, and what is said of it. */
const STRANGE: readonly (readonly [string, (path: string, outside: string) => unknown, RegExp])[] =
  [
    ['a pipe', (path) => spawnSync('mkfifo', [path]), /is a pipe/],
    ['a link', (path, outside) => symlinkSync(outside, path), /is a link/],
    ['a link to nothing', (path, outside) => symlinkSync(`${outside}.gone`, path), /is a link/],
    ['a folder', (path) => mkdirSync(path), /is a folder/],
    ['a file with a second name', (path, outside) => linkSync(outside, path), /second name/],
    [
      'a file that others can write to',
      (path) => (writeFileSync(path, ''), chmodSync(path, 0o606)),
      /mode 0600/,
    ],
  ];
const OF_ROOT: typeof STRANGE = [
  ['a device', (path) => spawnSync('mknod', [path, 'c', '1', '5']), /is a device/],
  [
    "another user's file",
    (path) => (writeFileSync(path, ''), chownSync(path, 12_345, 12_345)),
    /another user/,
  ],
];

describe('openRegular', () => {
  it('opens a file, makes one for its owner only, and says that there is none', async () => {
    const path = join(testFolder(), 'file');
    expect(openRegular(path, { access: 'read' })).toBeNull();
    expect(await openRegularHandle(path, { access: 'read' })).toBeNull();
    closeSync(openRegular(path, { access: 'append', create: 'new' }) ?? -1);
    await (await openRegularHandle(path, { access: 'read', secret: true }))?.close();

    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(() => openRegular(path, { access: 'append', create: 'new' })).toThrow('EEXIST');
  });

  it.each([...STRANGE, ...(isRoot ? OF_ROOT : [])])(
    'refuses %s, and names it',
    async (_name, plant, message) => {
      const folder = testFolder();
      const [path, outside] = [join(folder, 'file'), join(folder, 'outside')];
      writeFileSync(outside, 'canary', { mode: 0o600 });
      plant(path, outside);

      // A second name does no harm to whoever only reads.
      for (const how of HOWS.filter(
        ({ access }) => access !== 'read' || !message.test('second name'),
      )) {
        const problem = expect.objectContaining({
          code: 'ERR_UNSAFE_FILE',
          message: expect.stringContaining(path) as string,
        }) as Error;
        expect(() => openRegular(path, how), JSON.stringify(how)).toThrow(problem);
        await expect(openRegularHandle(path, how)).rejects.toThrow(message);
      }
      expect(readFileSync(outside, 'utf8')).toBe('canary');
    },
  );

  it('reads what anybody wrote where signatures prove it, and still nothing but files', () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'file'), 'x', { mode: 0o666 });
    symlinkSync(join(folder, 'file'), join(folder, 'link'));

    closeSync(openRegular(join(folder, 'file'), { access: 'read', owner: 'anyone' }) ?? -1);
    expect(() => openRegular(join(folder, 'link'), { access: 'read', owner: 'anyone' })).toThrow(
      'is a link',
    );
  });

  it('follows what a plain open follows: the twin that the cases above catch', () => {
    const folder = testFolder();
    symlinkSync(join(folder, 'outside'), join(folder, 'file'));
    closeSync(openSync(join(folder, 'file'), 'a'));

    expect(readFileSync(join(folder, 'outside'), 'utf8')).toBe('');
  });
});

describe('makeFolder and checkFolder', () => {
  it.each([0o000, 0o022, 0o077, 0o777])(
    'make a folder for its owner only under umask %o',
    (mask) => {
      const folder = join(testFolder(), 'a');
      const before = process.umask(mask);
      try {
        makeFolder(folder);
      } finally {
        process.umask(before);
      }

      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(checkFolder(folder, { secret: true })).toBe(true);
      expect(checkFolder(join(folder, 'gone'))).toBe(false);
    },
  );

  it.each<readonly [string, (path: string, outside: string) => unknown]>([
    ['a link', (path, outside) => symlinkSync(outside, path)],
    ['a file', (path) => writeFileSync(path, '')],
    ['a pipe', (path) => spawnSync('mkfifo', [path])],
    ['open to all', (path) => (mkdirSync(path), chmodSync(path, 0o777))],
    ...(isRoot
      ? ([
          ["another user's", (path: string) => (mkdirSync(path), chownSync(path, 12_345, 12_345))],
        ] as const)
      : []),
  ])('refuse a folder that is %s, and name it', (_name, plant) => {
    const parent = testFolder();
    const path = join(parent, 'folder');
    mkdirSync(join(parent, 'outside'));
    plant(path, join(parent, 'outside'));

    for (const use of [makeFolder, checkFolder])
      expect(() => use(path)).toThrow(
        expect.objectContaining({
          code: 'ERR_UNSAFE_FILE',
          message: expect.stringContaining(path) as string,
        }) as Error,
      );
  });
});
