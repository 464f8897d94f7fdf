import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { systemClock } from '../../core/time/clock.ts';
import { built, started } from '../../stores/built.fixture.ts';
import { answerApproval } from './answer-approval.ts';
import { endedWith, takenUp, withReply } from './approval-rules.ts';
import { approvalOf, codeOf, MINUTE_MS, REPLY } from '../approvals.fixture.ts';
import { fileApprovals } from './approval-stores.ts';

let dir = '';
beforeEach(() => void (dir = join(mkdtempSync(join(tmpdir(), 'allium-approvals-')), 'approvals')));
afterEach(() => rmSync(dirname(dir), { recursive: true, force: true }));

const storeAt = (clock = testClock()) =>
  fileApprovals({ dir, clock: { ...systemClock, now: () => clock.now() } });
const onlyFile = () => join(dir, readdirSync(dir)[0] ?? '');
const edited = (changes: object) =>
  writeFileSync(
    onlyFile(),
    JSON.stringify({ ...(JSON.parse(readFileSync(onlyFile(), 'utf8')) as object), ...changes }),
  );
const bytesOf = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');

describe('fileApprovals', () => {
  it('hands approvals from one process to the next', async () => {
    const approval = approvalOf();
    await storeAt().add(approval);

    expect(await storeAt().get(approval.id)).toEqual(approval);
  });

  it('keeps files that only their owner can read, under names that tell nothing', async () => {
    await storeAt().add(approvalOf({ id: 'my secret id' }));

    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.approval$/)]);
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
    await storeAt().replace(withReply(approvalOf({ id: 'my secret id' }), REPLY));
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
  });

  it('keeps no argument and no result once the call was taken up, nowhere in the folder', async () => {
    const args = { to: 'canary-1' };
    const earlier = {
      ...REPLY,
      id: 'a',
      gate: 'g',
      fingerprint: 'f',
      definition: 'd',
      policy: '',
      requestedAt: REPLY.decidedAt,
    };
    const approval = approvalOf({
      arguments: args,
      shown: { args },
      earlier: [{ ...earlier, args: { to: 'canary-2' } }],
    });
    const answered = withReply(approval, { ...REPLY, supplied: { value: 'canary-3' } });
    await storeAt().add(approval);
    await storeAt().replace(answered);
    expect(
      bytesOf(dir)
        .match(/canary-\d/g)
        ?.sort(),
    ).toEqual(['canary-1', 'canary-1', 'canary-2', 'canary-3']);
    await storeAt().replace(takenUp(answered, answered.reply, 0));

    expect(bytesOf(dir)).not.toContain('canary');
    expect(await storeAt().list()).toHaveLength(1);
  });

  it('makes no folder for looking, and leaves no draft and no lock', async () => {
    const approval = approvalOf();
    expect([
      await storeAt().get('a'),
      await storeAt().list(),
      await storeAt().problems(),
      await storeAt().sweep(0),
    ]).toEqual([null, [], [], 0]);
    expect(existsSync(dir)).toBe(false);
    await storeAt().add(approval);
    await storeAt().replace(withReply(approval, REPLY));
    await storeAt().replace(withReply(approval, REPLY));

    expect(readdirSync(dir)).toHaveLength(1);
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
    ['without its arguments', () => edited({ arguments: null })],
    ['with a revision that is text', () => edited({ revision: '0' })],
    ['with an answer nobody can give', () => edited({ reply: { ...REPLY, decision: 'yes' } })],
    ['with an answer that is misspelt', () => edited({ reply: { ...REPLY, agrs: {} } })],
    ['of another id than its name says', () => edited({ id: 'other' })],
    ['with an end that is no time', () => edited({ expiresAt: 'never' })],
    ['open to others', () => chmodSync(onlyFile(), 0o644)],
    ['in a folder open to others', () => chmodSync(dir, 0o755)],
    ['behind a link', () => relinked()],
    ['a folder', () => (rmSync(onlyFile()), mkdirSync(join(dir, `${'a'.repeat(32)}.approval`)))],
  ])('takes nothing up while its file is %s, and says so', async (_name, spoil) => {
    const approval = approvalOf();
    const store = storeAt();
    await store.add(approval);
    spoil();
    const found = await (async () => store.get(approval.id))().catch(() => 'failed');

    expect(found === 'failed' || found === null).toBe(true);
    expect(await codeOf(answerApproval(store, approval.id, REPLY_GIVEN))).not.toBe('done');
    expect(await (async () => store.list({ ended: true }))().catch(() => [])).toEqual([]);
    expect(await store.problems().catch((error: unknown) => [error])).toHaveLength(1);
  });

  it('names the file that is no approval, says nothing of what is in it, and lists the others', async () => {
    await storeAt().add(approvalOf({ arguments: { to: 'canary' } }));
    edited({ more: 'canary' });
    const other = approvalOf();
    await storeAt().add(other);
    const problems = await storeAt().problems();

    expect(problems).toEqual([
      {
        file: expect.stringContaining(dir) as string,
        message: expect.stringContaining('no approval') as string,
      },
    ]);
    expect(JSON.stringify(problems)).not.toContain('canary');
    expect(await storeAt().list()).toEqual([other]);
  });

  it('does not take a copy or a renamed file for an approval with an answer of its own', async () => {
    const approval = approvalOf();
    await storeAt().add(approval);
    const elsewhere = join(dir, `${'0'.repeat(32)}.approval`);
    copyFileSync(onlyFile(), elsewhere);
    expect(await storeAt().list()).toEqual([approval]);
    expect(await storeAt().problems()).toMatchObject([{ file: elsewhere }]);
    rmSync(elsewhere);
    renameSync(onlyFile(), elsewhere);

    expect(await storeAt().get(approval.id)).toBeNull();
    expect(await storeAt().list()).toEqual([]);
  });

  it('does not use a folder that others can look into, or one behind a link', async () => {
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    symlinkSync(dir, `${dir}.link`);

    await expect((async () => storeAt().add(approvalOf()))()).rejects.toThrow('0700');
    await expect(
      (async () => fileApprovals({ dir: `${dir}.link` }).add(approvalOf()))(),
    ).rejects.toThrow('not a folder');
    expect(readdirSync(dir)).toEqual([]);
  });

  it('sweeps what ended long enough ago, and old drafts, and nothing else', async () => {
    const clock = testClock();
    const [waiting, taken, ended] = [approvalOf(), approvalOf(), approvalOf()];
    for (const approval of [waiting, taken, ended]) await storeAt().add(approval);
    for (const approval of [taken, ended])
      await storeAt().replace(takenUp(approval, REPLY, clock.now()));
    await storeAt().replace(
      endedWith(takenUp(ended, REPLY, clock.now()), { status: 'ok', executed: 'yes' }, clock.now()),
    );
    for (const [name, at] of [
      ['old.part', 0],
      ['fresh.part', clock.now() / 1000],
    ] as const) {
      writeFileSync(join(dir, name), '');
      utimesSync(join(dir, name), at, at);
    }
    await clock.advance(MINUTE_MS);

    expect(await storeAt(clock).sweep(MINUTE_MS)).toBe(0);
    expect(await storeAt(clock).sweep(MINUTE_MS - 1)).toBe(1);
    expect((await storeAt(clock).list({ ended: true })).map(({ id }) => id).sort()).toEqual(
      [waiting.id, taken.id].sort(),
    );
    expect(readdirSync(dir).filter((name) => name.endsWith('.part'))).toEqual(['fresh.part']);
  });

  it.each([
    [undefined],
    [{}],
    [{ dir: '' }],
    [{ dir: 'a', clock: 1 }],
    [{ dir: 'a', maxGrants: 1 }],
  ])('refuses %j', (options) => {
    expect(() => fileApprovals(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});

const REPLY_GIVEN = { decision: 'allow_once' };
const RACES = 60;

/**
 * Two processes that have both seen every approval, and answer them at once: how many answers to
 * each counted.
 */
async function raced(
  kind: 'real' | 'naive',
): Promise<{ wins: readonly number[]; told: ReadonlyMap<string, string> }> {
  const ids = Array.from({ length: RACES }, (_, nth) => `approval_race_${nth}`);
  for (const id of ids) await fileApprovals({ dir }).add(approvalOf({ id }));
  const program = built('src/approvals/answer-all.fixture.ts');
  const decisions = ['allow_once', 'reject_once'];
  const all = decisions.map((decision) => started(program, [dir, decision, kind]));
  await Promise.all(all.map(({ said }) => said));
  for (const { child } of all) child.stdin?.write('go\n');
  const won = (await Promise.all(all.map(({ ended }) => ended))).map(
    (output) => JSON.parse(output.split('\n')[1] ?? '[]') as string[],
  );
  const told = new Map(
    decisions.flatMap((decision, at) => (won[at] ?? []).map((id) => [id, decision] as const)),
  );
  return { wins: ids.map((id) => won.filter((list) => list.includes(id)).length), told };
}

describe('two processes answering one approval at once', () => {
  it(`never both win, in ${RACES} races, and what is kept is what the winner said`, async () => {
    const { wins, told } = await raced('real');
    const kept = await fileApprovals({ dir }).list();

    expect(wins).toEqual(wins.map(() => 1));
    expect(kept.map(({ reply }) => reply?.decision)).toEqual(kept.map(({ id }) => told.get(id)));
    expect(kept.every(({ revision }) => revision === 1)).toBe(true);
  });

  it('both win where a store writes without comparing, and the same races find it', async () => {
    expect((await raced('naive')).wins.filter((count) => count === 2).length).toBeGreaterThan(0);
  });
});

function relinked(): void {
  const file = onlyFile();
  renameSync(file, `${dir}.copy`);
  symlinkSync(`${dir}.copy`, file);
}
