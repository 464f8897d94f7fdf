import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../../conformance/index.ts';
import { systemClock } from '../core/time/clock.ts';
import { takeLock } from './writer-lock.ts';
import { built, started } from '../stores/built.fixture.ts';
import { recordFiles } from './record-files.ts';

interface Count {
  readonly count: number;
}

let dir = '';
beforeEach(() => void (dir = join(mkdtempSync(join(tmpdir(), 'allium-records-')), 'records')));
afterEach(() => rmSync(dirname(dir), { recursive: true, force: true }));

const files = (clock = systemClock) =>
  recordFiles<Count>({
    owner: 'test',
    dir,
    suffix: '.count',
    clock,
    judge: ({ count }) => {
      if (typeof count === 'number') return { count };
      throw new Error('test: a file holds no count');
    },
  });
const plusOne = ({ count }: Count) => ({ count: count + 1 });
const at = (name: string) => join(dir, name);

/** A clock on which waiting costs no time. */
const hurried = {
  ...testClock(),
  after: (_ms: number, task: () => void) => (void nextTurn().then(task), () => {}),
};

describe('recordFiles', () => {
  it('makes, reads, changes, replaces, lists and removes', async () => {
    const records = files();

    expect(await records.create('a.count', { count: 1 })).toBe(true);
    expect(await records.change('a.count', plusOne)).toBe(true);
    expect(await records.read('a.count')).toEqual({ count: 2 });
    await records.replace('a.count', { count: 7 });
    expect(await records.list()).toEqual(['a.count']);
    expect(await records.change('a.count', () => null)).toBe(false);
    expect(await records.change('a.count', () => 'remove')).toBe(true);
    expect(await records.read('a.count')).toBeNull();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('gives a name to the first one only', async () => {
    const made = await Promise.all(
      [1, 2, 3, 4].map((count) => files().create('a.count', { count })),
    );

    expect(made.filter(Boolean)).toHaveLength(1);
    expect(readdirSync(dir)).toEqual(['a.count']);
  });

  it('keeps files that only their owner can read', async () => {
    await files().create('a.count', { count: 1 });

    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(at('a.count')).mode & 0o777).toBe(0o600);
  });

  it('makes no folder for reading', async () => {
    expect(await files().list()).toEqual([]);
    expect(await files().read('a.count')).toBeNull();
    await files().removeDrafts();
    expect(existsSync(dir)).toBe(false);
  });

  it('counts every change of many at once', async () => {
    await files().create('a.count', { count: 0 });
    await Promise.all(Array.from({ length: 8 }, () => files().change('a.count', plusOne)));

    expect(await files().read('a.count')).toMatchObject({ count: 8 });
  });

  it('lets those of one process wait in line, so that none of them tries for the lock in vain', async () => {
    await files().create('a.count', { count: 0 });
    let retries = 0;
    const watched = {
      ...systemClock,
      after: (ms: number, task: () => void) => ((retries += 1), systemClock.after(ms, task)),
    };
    await Promise.all(Array.from({ length: 100 }, () => files(watched).change('a.count', plusOne)));

    expect(await files().read('a.count')).toMatchObject({ count: 100 });
    expect(retries).toBe(0);
  });

  it('loses changes without the lock: the twin that the count catches', async () => {
    await files().create('a.count', { count: 0 });
    const naive = async () =>
      files().replace('a.count', plusOne((await files().read('a.count')) ?? { count: 0 }));
    await Promise.all(Array.from({ length: 8 }, naive));

    expect((await files().read('a.count'))?.count).toBeLessThan(8);
  });

  it('gives the lock back when the work fails', async () => {
    await expect(
      files().exclusive('all', () => Promise.reject(new Error('broken'))),
    ).rejects.toThrow('broken');

    expect(await files().exclusive('all', () => Promise.resolve(1))).toBe(1);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('does not run the work of two at a time, and gives up on a lock that is never given back', async () => {
    mkdirSync(dir, { mode: 0o700 });
    const release = takeLock(at('all.lock'));

    await expect(files(hurried).exclusive('all', () => Promise.resolve(1))).rejects.toThrow(
      'stays locked',
    );
    release?.();
    expect(await files(hurried).exclusive('all', () => Promise.resolve(1))).toBe(1);
  });

  it('leaves no draft behind when a record cannot be put in its place', async () => {
    mkdirSync(at('a.count'), { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
    writeFileSync(join(at('a.count'), 'inside'), '');

    await expect(files().replace('a.count', { count: 1 })).rejects.toThrow();
    await expect(files().replace('b.count', { count: 1n } as never)).rejects.toThrow();
    expect(readdirSync(dir)).toEqual(['a.count']);
  });

  it.each([
    ['that others can open', () => chmodSync(at('a.count'), 0o644), '0600'],
    ['that others can write to', () => chmodSync(at('a.count'), 0o602), '0600'],
    [
      'behind a link',
      () => (rmSync(at('a.count')), symlinkSync('/etc/hostname', at('a.count'))),
      'is a link',
    ],
    ['that is a folder', () => (rmSync(at('a.count')), mkdirSync(at('a.count'))), 'not a file'],
    ['with half its content', () => writeFileSync(at('a.count'), '{"cou'), 'no count'],
    [
      'of another version',
      () => writeFileSync(at('a.count'), '{"version":2,"count":1}'),
      'no count',
    ],
    ['in a folder that was opened to others since', () => chmodSync(dir, 0o750), '0700'],
  ])('does not read a record %s', async (_name, spoil, message) => {
    const records = files();
    await records.create('a.count', { count: 1 });
    expect(await records.read('a.count')).toMatchObject({ count: 1 });
    spoil();

    await expect(records.read('a.count')).rejects.toThrow(message);
    await expect(records.change('a.count', plusOne)).rejects.toThrow(message);
  });

  it('goes on behind the lock of a process that was killed inside it', async () => {
    await files().create('a.count', { count: 0 });
    const program = built('src/stores/hold-lock.fixture.ts');
    const { child, said, ended } = started(program, [at('a.count.lock')]);
    await said;
    expect(takeLock(at('a.count.lock'))).toBeNull();
    child.kill('SIGKILL');
    expect(await ended).toBe('held\n');

    expect(readFileSync(at('a.count.lock'), 'utf8')).toContain(String(child.pid));
    expect(await files(hurried).change('a.count', plusOne)).toBe(true);
    expect(readdirSync(dir)).toEqual(['a.count']);
  }, 30_000);
});
