import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileApprovals } from '../src/approvals/store/approval-stores.ts';
import { approvalOf } from '../src/approvals/approvals.fixture.ts';
import { fileGrants } from '../src/approvals/grants/grant-stores.ts';
import { grantOf } from '../src/approvals/grants/grants.fixture.ts';
import { filePins } from '../src/pins/pin-stores.ts';
import { NOW, toolOf } from '../src/pins/pins.fixture.ts';
import { reconcilePins } from '../src/pins/judge-definition.ts';
import { takeLock } from '../src/system/writer-lock.ts';
import { built } from '../src/stores/built.fixture.ts';
import { fileClaims } from '../src/stores/files/file-claims.ts';
import type { UseOrders } from './use-state.fixture.ts';

const isRoot = process.getuid?.() === 0;
const CANARY = 'what lies outside';
/** Longer than everything takes on a busy machine, and shorter than for ever. */
const DEADLINE_MS = 120_000;
/** A pipe is waited for without end: the twin need not be given much. */
const TWIN_DEADLINE_MS = 5_000;

const program = built('conformance/use-state.fixture.ts');
let root = '';
let pristine = '';

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'allium-planted-'));
  pristine = join(root, 'pristine');
  mkdirSync(pristine, { mode: 0o700 });
  await fileApprovals({ dir: join(pristine, 'approvals') }).add(approvalOf());
  await fileGrants({ dir: join(pristine, 'grants') }).add(grantOf());
  const reconciled = { source: 'files', tools: [toolOf()], pinsNew: true, listed: null, now: NOW };
  await filePins({ dir: join(pristine, 'pins') }).update('files', (book) =>
    reconcilePins(book, reconciled),
  );
  await fileClaims({ dir: join(pristine, 'claims') }).claim('key', {
    fingerprint: 'f',
    leaseMs: 1000,
    token: 'first',
  });
  const { said } = (await use([pristine], false))[0] ?? {};
  expect(said).toEqual([]);
  // Locks are there only while somebody works.
  for (const name of locksFor(pristine)) takeLock(name);
}, DEADLINE_MS);
afterAll(() => rmSync(root, { recursive: true, force: true }), 120_000);

/** A lock for every file that is changed under one. */
function locksFor(state: string): readonly string[] {
  const names = filesIn(state).filter(
    (name) => /\.(pins|claim|index)$/.test(name) || name.endsWith('.jsonl'),
  );
  return names
    .map((name) => join(state, name.replace(/\.jsonl$/, '')))
    .map((path) => `${path}.lock`);
}

const filesIn = (state: string): readonly string[] =>
  readdirSync(state, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(state, name)).isFile())
    .sort();

type Said = { readonly state: string; readonly said: readonly string[] };

/**
 * Uses folders in a process of its own. Answers what was said of those it came to before the
 * deadline.
 */
async function use(
  folders: readonly string[],
  naive: boolean,
  deadlineMs = DEADLINE_MS,
): Promise<readonly Said[]> {
  const orders: UseOrders = { folders, naive };
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Said);
}

/** What is put in the place of a file. `null` where the machine does not let us. */
const PLANTS: Readonly<Record<string, ((path: string, outside: string) => void) | null>> = {
  pipe: (path) => (rmSync(path), void spawnSync('mkfifo', [path])),
  link: (path, outside) => (rmSync(path), symlinkSync(outside, path)),
  'link to nothing': (path, outside) => (rmSync(path), symlinkSync(`${outside}.new`, path)),
  folder: (path) => (rmSync(path), mkdirSync(path)),
  device: isRoot ? (path) => (rmSync(path), void spawnSync('mknod', [path, 'c', '1', '5'])) : null,
  "file of another user's": isRoot ? (path) => chownSync(path, 12_345, 12_345) : null,
};

/** Copies of the state folder, in each of which one file is something else. */
function planted(
  kind: string,
): readonly { readonly state: string; readonly file: string; readonly outside: string }[] {
  return filesIn(pristine).map((name, nth) => {
    const place = join(root, kind.replace(/\W+/g, '-'), String(nth));
    const state = join(place, 'state');
    mkdirSync(place, { recursive: true });
    cpSync(pristine, state, { recursive: true, preserveTimestamps: true });
    // A lock of this process, which lives, would be left alone: the file under it is looked at
    // without it.
    for (const lock of filesIn(state).filter((each) => each.endsWith('.lock') && each !== name))
      rmSync(join(state, lock));
    const outside = join(place, 'outside');
    writeFileSync(outside, CANARY);
    PLANTS[kind]?.(join(state, name), outside);
    return { state, file: join(state, name), outside };
  });
}

const isDiverted = (outside: string): boolean =>
  readFileSync(outside, 'utf8') !== CANARY || existsSync(`${outside}.new`);

describe('a state folder in which one file after the other is something else', () => {
  it('has every kind of file', () => {
    const kinds = filesIn(pristine).map((name) =>
      name.replace(/[0-9a-f]{8,}/g, 'x').replace(/^(\w+)\/.*?(?=\.\w)/, '$1/'),
    );

    expect(new Set(kinds.map((name) => dirname(name)))).toEqual(
      new Set(['.', 'approvals', 'claims', 'grants', 'keys', 'outputs', 'pins', 'receipts']),
    );
    for (const end of [
      '.jsonl',
      '.head',
      '.index',
      '.lock',
      '.pem',
      '.key',
      '.claim',
      '.pins',
      '.grant',
      '.approval',
      '.txt',
      '.recording',
    ])
      expect(kinds.filter((name) => name.endsWith(end))).not.toEqual([]);
  });

  it.for(Object.keys(PLANTS))(
    '%s: ends, writes nothing elsewhere, and names the file',
    { timeout: DEADLINE_MS + 30_000 },
    async (kind, { skip }) => {
      if (PLANTS[kind] === null) skip('only root makes devices and gives files away');
      const cases = planted(kind);

      const told = await use(
        cases.map(({ state }) => state),
        false,
      );

      expect(told.map(({ state }) => state)).toEqual(cases.map(({ state }) => state));
      expect(
        cases
          .filter(({ outside }) => isDiverted(outside))
          .map(({ state, file }) => relative(state, file)),
      ).toEqual([]);
      const silent = cases.filter(
        ({ file }, nth) => told[nth]?.said.some((text) => text.includes(file)) !== true,
      );
      expect(silent.map(({ state, file }) => relative(state, file))).toEqual([]);
      expect(JSON.stringify(told)).not.toContain(CANARY);
    },
  );

  it.each(['link', 'pipe'])('%s: is noticed where somebody trusts the names', async (kind) => {
    const cases = planted(kind).slice(0, 1);
    for (const { state } of cases) renameSync(state, `${state}.naive`);
    const told = await use(
      cases.map(({ state }) => `${state}.naive`),
      true,
      TWIN_DEADLINE_MS,
    );

    expect(told.length === 0 || cases.some(({ outside }) => isDiverted(outside))).toBe(true);
  });

  it('folders: links, and folders that others can write to, are not used', async () => {
    const spoil: readonly ((folder: string, place: string) => void)[] = [
      (folder, place) => (
        renameSync(folder, join(place, 'elsewhere')), symlinkSync(join(place, 'elsewhere'), folder)
      ),
      (folder) => void spawnSync('chmod', ['0777', folder]),
    ];
    const names = ['approvals', 'claims', 'grants', 'keys', 'outputs', 'pins', 'receipts'];
    const cases = spoil.flatMap((harm, nth) =>
      names.map((name) => {
        const place = join(root, 'folders', `${nth}-${name}`);
        cpSync(pristine, join(place, 'state'), { recursive: true });
        for (const lock of filesIn(join(place, 'state')).filter((each) => each.endsWith('.lock')))
          rmSync(join(place, 'state', lock));
        const state = join(place, 'state');
        harm(join(state, name), place);
        const content = () =>
          spawnSync('sh', ['-c', 'cat "$0"/elsewhere/*', place], { encoding: 'latin1' }).stdout;
        return { state, folder: join(state, name), content, before: content() };
      }),
    );

    const told = await use(
      cases.map(({ state }) => state),
      false,
    );

    expect(told).toHaveLength(cases.length);
    const silent = cases.filter(
      ({ folder }, nth) => told[nth]?.said.some((text) => text.includes(folder)) !== true,
    );
    expect(silent.map(({ folder }) => folder)).toEqual([]);
    expect(cases.filter(({ content, before }) => content() !== before)).toEqual([]);
  }, 150_000);
});
