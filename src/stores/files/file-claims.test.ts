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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { systemClock } from '../../core/time/clock.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { type FileClaims, fileClaims } from './file-claims.ts';

const by = (token: string, more: object = {}) => ({
  fingerprint: 'f',
  leaseMs: 100,
  token,
  ...more,
});
const DONE = { state: 'done', answer: { result: 'kept' }, ttlMs: 1000 } as const;

let root = '';
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'allium-claims-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const start = (clock = testClock()) => {
  const dir = join(root, 'claims');
  return { dir, clock, store: fileClaims({ dir, clock }) };
};
const onlyFile = (dir: string) => join(dir, readdirSync(dir)[0] ?? '');

describe('fileClaims', () => {
  it('hands claims from one process to the next', async () => {
    const { dir, clock, store } = start();
    await store.claim('k', by('a'));
    await store.complete('k', 'a', DONE);

    expect(await fileClaims({ dir, clock }).get('k')).toMatchObject({
      state: 'done',
      answer: { result: 'kept' },
    });
  });

  it('keeps files that only their owner can read, under names that tell nothing', async () => {
    const { dir, store } = start();
    await store.claim('my secret key', by('a'));

    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.claim$/)]);
    expect(statSync(onlyFile(dir)).mode & 0o777).toBe(0o600);
    expect(readFileSync(onlyFile(dir), 'utf8')).not.toContain('my secret key');
  });

  it('leaves no draft and no lock behind', async () => {
    const { dir, store } = start();
    await store.claim('k', by('a'));
    await store.claim('k', by('b'));
    await store.renew('k', 'a', 100);
    await store.complete('k', 'a', DONE);
    await store.complete('k', 'b', DONE);

    expect(readdirSync(dir)).toHaveLength(1);
  });

  it.each([
    '',
    '{',
    '[]',
    'null',
    '{"version":2}',
    '{"version":1,"state":"done"}',
    '{"version":1,"state":"gone","token":"a"}',
  ])('takes %j for a claim nobody knows the end of', async (text) => {
    const { dir, store } = start();
    await store.claim('k', by('a'));
    writeFileSync(onlyFile(dir), text);

    expect(await store.get('k')).toEqual({
      state: 'unknown',
      fingerprint: null,
      token: '',
      answer: null,
    });
    expect(await store.claim('k', by('b'))).toMatchObject({
      won: false,
      record: { state: 'unknown' },
    });
    expect(await store.complete('k', 'a', DONE)).toBe(false);
    expect(await store.claim('k', by('b', { repeatable: true }))).toEqual({ won: true });
  });

  it('takes a lease from a time that has not come yet for one nobody knows the age of', async () => {
    const { dir, store } = start();
    await store.claim('k', by('a'));

    expect(
      await fileClaims({ dir, clock: testClock(Date.UTC(1999, 0, 1)) }).get('k'),
    ).toMatchObject({ state: 'unknown' });
  });

  it('lets one of many processes take over, and refuses the late owner', async () => {
    const { dir, clock, store } = start();
    await store.claim('k', by('late'));
    await clock.advance(100);
    const waiting = { ...systemClock, now: () => clock.now() };
    const tokens = Array.from({ length: 4 }, (_, index) => `t${index}`);
    const claims = await Promise.all(
      tokens.map(async (token) =>
        fileClaims({ dir, clock: waiting }).claim('k', by(token, { repeatable: true })),
      ),
    );

    expect(claims.filter(({ won }) => won)).toHaveLength(1);
    expect(await store.complete('k', 'late', DONE)).toBe(false);
  });

  it('changes nothing behind a lock whose owner cannot be judged, but still tells what is there', async () => {
    const { dir, store } = start({ ...testClock(), after: (_ms, task) => setImmediateTask(task) });
    await store.claim('k', by('a'));
    writeFileSync(`${onlyFile(dir)}.lock`, '{"host":"another machine"}');

    await expect(store.complete('k', 'a', DONE)).rejects.toThrow('stays locked');
    expect(await store.get('k')).toMatchObject({ state: 'in_progress', token: 'a' });
    expect(await store.claim('k', by('b'))).toMatchObject({ won: false });
  });

  it('looks at nothing, and makes no folder for it', async () => {
    const { dir, store } = start();

    expect(await store.get('k')).toBeNull();
    expect(await store.sweep()).toBe(0);
    expect(existsSync(dir)).toBe(false);
  });

  it('sweeps what may be forgotten, and nothing else', async () => {
    const { dir, clock, store } = start();
    for (const key of ['done', 'unknown', 'open']) await store.claim(key, by(key));
    await store.complete('done', 'done', DONE);
    await store.complete('unknown', 'unknown', { state: 'unknown', answer: null, ttlMs: 1 });
    const [old, fresh] = ['old.part', 'fresh.part'].map((name) => join(dir, name)) as [
      string,
      string,
    ];
    for (const [draft, at] of [
      [old, 0],
      [fresh, clock.now() / 1000],
    ] as const) {
      writeFileSync(draft, '');
      utimesSync(draft, at, at);
    }

    expect(await store.sweep()).toBe(0);
    await clock.advance(1000);
    expect(await store.sweep()).toBe(1);
    expect(readdirSync(dir)).toHaveLength(3);
    expect(readdirSync(dir)).toContain('fresh.part');
    expect(await store.get('unknown')).toMatchObject({ state: 'unknown' });
  });

  const claimed = async (store: FileClaims, key: string, owner: string): Promise<unknown> => {
    try {
      await store.claim(key, by(key, { owner }));
    } catch (thrown) {
      return isAlliumError(thrown, 'ERR_STORE_FULL') ? thrown.details : thrown;
    }
    return (await store.complete(key, key, DONE)) ? 'won' : 'lost';
  };

  it('maxKeys leaves room for another owner where one takes all it can, and forgets nothing too early', async () => {
    const { dir, clock } = start();
    const store = fileClaims({ dir, clock, maxKeys: 20 });
    const flood = [];
    for (let nth = 0; nth < 20; nth += 1)
      flood.push(await claimed(store, `flood-${nth}`, 'flooder'));

    expect(flood).toEqual([
      ...Array<string>(10).fill('won'),
      ...Array<unknown>(10).fill({ retryAfterMs: 60_000 }),
    ]);
    expect(await claimed(store, 'mine', 'another')).toBe('won');
    expect(await store.claim('flood-0', by('again'))).toMatchObject({ won: false });
    expect(readdirSync(dir)).toHaveLength(11);
    await clock.advance(60_000);
    expect(await claimed(store, 'later', 'flooder')).toBe('won');
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('maxKeys holds for what was in the folder before, and sweeps it', async () => {
    const { dir, clock, store } = start();
    for (let nth = 0; nth < 10; nth += 1) await claimed(store, `old-${nth}`, 'flooder');
    const later = fileClaims({ dir, clock, maxKeys: 10 });

    expect(await claimed(later, 'mine', 'another')).toEqual({ retryAfterMs: 60_000 });
    await clock.advance(60_000);
    expect(await claimed(later, 'mine', 'another')).toBe('won');
  });

  it('does not use a folder that others can look into', async () => {
    const { dir, store } = start();
    mkdirSync(dir);
    chmodSync(dir, 0o755);

    await expect(store.claim('k', by('a'))).rejects.toThrow('0700');
    expect(readdirSync(dir)).toEqual([]);
  });

  it('does not use a folder behind a link, and does not read a file behind one', async () => {
    const { dir, store } = start();
    await store.claim('k', by('a'));
    const file = onlyFile(dir);
    const elsewhere = join(root, 'elsewhere');
    writeFileSync(elsewhere, readFileSync(file));
    rmSync(file);
    symlinkSync(elsewhere, file);
    symlinkSync(dir, join(root, 'link'));

    await expect(store.get('k')).rejects.toThrow('is a link');
    await expect(fileClaims({ dir: join(root, 'link') }).get('k')).rejects.toThrow('not a folder');
  });

  it.each([
    [undefined],
    [{}],
    [{ dir: '' }],
    [{ dir: 'a', ttlMs: 0 }],
    [{ dir: 'a', maxKeys: 0 }],
    [{ dir: 'a', clock: 5 }],
    [{ dri: 'a' }],
  ])('refuses %j', (options) => {
    expect(() => fileClaims(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});

/** Runs a task on the next turn of the loop, so that waiting for a lock costs no time. */
function setImmediateTask(task: () => void): () => void {
  const handle = setImmediate(task);
  return () => clearImmediate(handle);
}
