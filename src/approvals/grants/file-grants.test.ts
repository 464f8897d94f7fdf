import {
  chmodSync,
  copyFileSync,
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { systemClock } from '../../core/time/clock.ts';
import { built, started } from '../../stores/built.fixture.ts';
import { fileGrants } from './grant-stores.ts';
import { grantOf, HOUR_MS, QUERY } from './grants.fixture.ts';

let dir = '';
beforeEach(() => void (dir = join(mkdtempSync(join(tmpdir(), 'allium-grants-')), 'grants')));
afterEach(() => rmSync(dirname(dir), { recursive: true, force: true }));

const storeAt = (clock = testClock()) =>
  fileGrants({ dir, clock: { ...systemClock, now: () => clock.now() } });
const onlyFile = () => join(dir, readdirSync(dir)[0] ?? '');
const edited = (changes: object) =>
  writeFileSync(
    onlyFile(),
    JSON.stringify({ ...(JSON.parse(readFileSync(onlyFile(), 'utf8')) as object), ...changes }),
  );

describe('fileGrants', () => {
  it('hands grants from one process to the next', async () => {
    await storeAt().add(grantOf());

    expect(await storeAt().use(QUERY)).toMatchObject({ decision: 'allow' });
  });

  it('keeps files that only their owner can read, under names that tell nothing, and no arguments', async () => {
    await storeAt().add(grantOf({ args: { token: 'hunter2' }, shown: 'a token' }));

    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/^[0-9a-f]{32}-[0-9a-f]{32}\.grant$/)]);
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
    expect(readFileSync(onlyFile(), 'utf8')).not.toContain('hunter2');
  });

  it('forgets what was shown with the last use, and on being revoked', async () => {
    const [first, second] = [
      grantOf({ maxUses: 1, shown: 'hunter2' }),
      grantOf({ shown: 'hunter2' }),
    ];
    await storeAt().add(first);
    await storeAt().use(QUERY);
    await storeAt().add(second);
    await storeAt().revoke(second.id, 'bob');

    for (const name of readdirSync(dir))
      expect(readFileSync(join(dir, name), 'utf8')).not.toContain('hunter2');
  });

  it('makes no folder for looking, and leaves no draft and no lock', async () => {
    expect([
      await storeAt().use(QUERY),
      await storeAt().get('a'),
      await storeAt().revoke('a', 'bob'),
    ]).toEqual([null, null, false]);
    expect([await storeAt().list(), await storeAt().problems(), await storeAt().sweep()]).toEqual([
      [],
      [],
      0,
    ]);
    expect(existsSync(dir)).toBe(false);
    await storeAt().add(grantOf());
    await storeAt().use(QUERY);

    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('sweeps what has expired, and adding does so for the tool', async () => {
    const clock = testClock();
    for (const toolName of ['read_file', 'other']) await storeAt(clock).add(grantOf({ toolName }));
    await clock.advance(HOUR_MS);
    await storeAt(clock).add(grantOf({}, clock));

    expect(readdirSync(dir)).toHaveLength(2);
    expect(await storeAt(clock).sweep()).toBe(1);
    expect(await storeAt(clock).list({ ended: true })).toMatchObject([{ toolName: 'read_file' }]);
  });

  it.each<readonly [string, () => void]>([
    ['empty', () => writeFileSync(onlyFile(), '')],
    [
      'half written',
      () => writeFileSync(onlyFile(), readFileSync(onlyFile(), 'utf8').slice(0, 100)),
    ],
    ['a list', () => writeFileSync(onlyFile(), '[]')],
    ['null', () => writeFileSync(onlyFile(), 'null')],
    ['of another version', () => edited({ version: 2 })],
    ['with a field more', () => edited({ more: true })],
    ['with uses that are text', () => edited({ uses: '0' })],
    [
      'with a pattern of another kind',
      () => edited({ pattern: { arguments: { path: { regex: '.*' } } } }),
    ],
    ['without its pattern', () => edited({ pattern: null })],
    ['for another tool than its name says', () => edited({ toolName: 'write_file' })],
    ['with an end that is no time', () => edited({ expiresAt: 'never' })],
    ['open to others', () => chmodSync(onlyFile(), 0o644)],
    ['in a folder open to others', () => chmodSync(dir, 0o755)],
    ['behind a link', () => (copyFileSync(onlyFile(), `${dir}.copy`), relinked(`${dir}.copy`))],
    ['a folder', () => remade()],
  ])('gives no grant while a file is %s, and says so', async (_name, spoil) => {
    const store = storeAt();
    await store.add(grantOf());
    expect(await store.use(QUERY)).not.toBeNull();
    spoil();

    await expect(store.use(QUERY)).rejects.toThrow();
    expect(await (async () => store.list())().catch(() => [])).toEqual([]);
    expect(await store.problems().catch((error: unknown) => [error])).toHaveLength(1);
  });

  it('gives no grant that allows while another of the tool cannot be read: it may be the one that rejects', async () => {
    await storeAt().add(grantOf({ decision: 'reject' }));
    writeFileSync(onlyFile(), '');
    await storeAt().add(grantOf());

    await expect(storeAt().use(QUERY)).rejects.toThrow('no grant');
    expect(await storeAt().list()).toHaveLength(1);
  });

  it('goes on with other tools', async () => {
    await storeAt().add(grantOf({ toolName: 'other' }));
    writeFileSync(onlyFile(), '');
    await storeAt().add(grantOf());

    expect(await storeAt().use(QUERY)).not.toBeNull();
  });

  it('does not take a copy of a file for a second grant', async () => {
    await storeAt().add(grantOf({ maxUses: 1 }));
    copyFileSync(onlyFile(), onlyFile().replace(/-[0-9a-f]{32}/, `-${'0'.repeat(32)}`));

    await expect(storeAt().use(QUERY)).rejects.toThrow('no grant');
  });

  it('takes no use that it cannot write down', async () => {
    const store = storeAt();
    await store.add(grantOf({ maxUses: 1 }));
    chmodSync(dir, 0o500);
    const isRoot = process.getuid?.() === 0;

    if (!isRoot) await expect(store.use(QUERY)).rejects.toThrow();
    chmodSync(dir, 0o700);
    expect(await store.use(QUERY)).not.toBeNull();
  });

  it.each([
    [undefined],
    [{}],
    [{ dir: '' }],
    [{ dir: 'a', clock: 1 }],
    [{ dir: 'a', maxGrants: 0 }],
    [{ dir: 'a', maxGrant: 1 }],
  ])('refuses %j', (options) => {
    expect(() => fileGrants(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});

describe('processes that want the uses of one grant', () => {
  it.each([1, 7])(
    'get %i between them, at the same time',
    async (maxUses) => {
      const grant = grantOf({ maxUses }, testClock(Date.now() - 1000));
      await fileGrants({ dir }).add(grant);
      const program = built('src/approvals/grants/use-grant.fixture.ts');
      const all = Array.from({ length: 3 }, () => started(program, [dir, JSON.stringify(QUERY)]));
      await Promise.all(all.map(({ said }) => said));
      for (const { child } of all) child.stdin?.write('go\n');
      const counts = (await Promise.all(all.map(({ ended }) => ended))).map((output) =>
        Number(output.trim().split('\n')[1]),
      );

      expect(counts.reduce((sum, each) => sum + each, 0)).toBe(maxUses);
      expect(await fileGrants({ dir }).get(grant.id)).toMatchObject({
        uses: maxUses,
        pattern: null,
      });
    },
    60_000,
  );
});

function relinked(to: string): void {
  const file = onlyFile();
  rmSync(file);
  symlinkSync(to, file);
}

function remade(): void {
  const file = onlyFile();
  rmSync(file);
  mkdirSync(file);
}
