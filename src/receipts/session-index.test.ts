import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSigner, publicKeys } from './checkpoint.ts';
import { createProblemList } from './read/problem-list.ts';
import { readSessionIndex } from './read/verify-index.ts';
import { safeName } from '../system/state-folder.ts';
import { chainLine, digestOf, GENESIS } from './receipt-line.ts';
import { receiptText } from './write/receipt-text.ts';
import {
  makeReceipt,
  publicKey,
  receiptFiles,
  signingKey,
  testFolder,
  testSink,
} from './receipts.fixture.ts';
import { appendToIndex, INDEX_FILE, parseEntry } from './session-index.ts';
import { verifyReceipts } from './read/verify-receipts.ts';
import { takeLock } from '../system/writer-lock.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const indexOf = (dir: string) => join(dir, INDEX_FILE);
const linesOf = (dir: string) => readFileSync(indexOf(dir), 'latin1').split('\n').slice(0, -1);
const entriesOf = (dir: string) =>
  linesOf(dir).map((line) => parseEntry(Buffer.from(line, 'latin1')));
const problemsOf = async (dir: string) =>
  (await verifyReceipts(dir, { publicKey })).problems.map(({ file, line, kind }) => ({
    file,
    line,
    kind,
  }));

/** Writes a receipt to each of some sessions, one sink after the other. */
async function write(dir: string, ...sessions: readonly string[]): Promise<void> {
  for (const session of sessions) {
    const sink = testSink(dir);
    await sink(makeReceipt({ session_id: session }));
    await sink.close();
  }
}

/** Removes everything of a session, as somebody would who wants to hide it. */
function removeSession(dir: string, session: string): void {
  for (const file of readdirSync(dir).filter((name) => name.startsWith(`${session}-`)))
    rmSync(join(dir, file));
}

/** What a verifier can tell that looks at the files that are there, each by itself. */
async function naiveVerify(dir: string): Promise<boolean> {
  const reports = await Promise.all(
    receiptFiles(dir).map((path) => verifyReceipts(path, { publicKey })),
  );
  return reports.every(({ ok }) => ok);
}

describe('the index of a folder', () => {
  it('names every session when it begins and when it is closed, and no receipt', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    for (let nth = 0; nth < 20; nth += 1)
      await sink(makeReceipt({ session_id: nth % 2 === 0 ? 'one' : 'two' }));
    await sink.close();

    expect(
      entriesOf(dir).map(
        (entry) => `${entry?.seq} ${entry?.record} ${entry?.chain.slice(0, 3)} ${entry?.count}`,
      ),
    ).toEqual(['1 opened one 0', '2 opened two 0', '3 closed one 10', '4 closed two 10']);
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      index: { count: 4, head: entriesOf(dir)[3]?.hash },
    });
  });

  it('shows that a whole session is gone with its head, which the files that are left do not', async () => {
    const dir = testFolder();
    await write(dir, 'one', 'two', 'three');
    removeSession(dir, 'two');

    expect(await naiveVerify(dir)).toBe(true);
    expect(await problemsOf(dir)).toEqual([
      {
        file: expect.stringMatching(/^two-.*\.jsonl$/) as string,
        line: 1,
        kind: 'session_missing',
      },
    ]);
    expect((await verifyReceipts(dir)).ok).toBe(false);
  });

  it('shows that every session is gone', async () => {
    const dir = testFolder();
    await write(dir, 'one', 'two');
    for (const session of ['one', 'two']) removeSession(dir, session);

    expect((await problemsOf(dir)).map(({ kind }) => kind)).toEqual([
      'session_missing',
      'session_missing',
    ]);
  });

  it.each<[string, (path: string) => void, string]>([
    [
      'its files are emptied',
      (path) => (writeFileSync(path, ''), writeFileSync(path.replace('.jsonl', '.head'), '')),
      'head_unreadable',
    ],
    [
      'its head is gone, and its file empty',
      (path) => (writeFileSync(path, ''), rmSync(path.replace('.jsonl', '.head'))),
      'head_missing',
    ],
    [
      'its file is emptied, and its head put back to the first line',
      (path) => emptied(path),
      'truncated',
    ],
  ])('shows that a session that was killed is gone, also where %s', async (_name, hide, kind) => {
    const alive = testFolder();
    const sink = testSink(alive);
    await sink(makeReceipt());
    const dir = testFolder();
    cpSync(alive, dir, { recursive: true });
    await sink.close();
    hide(receiptFiles(dir)[0] ?? '');

    expect((await problemsOf(dir)).map((problem) => problem.kind)).toEqual([kind]);
  });

  it('is missed when it is gone', async () => {
    const dir = testFolder();
    await write(dir, 'one', 'two');
    rmSync(indexOf(dir));

    expect(await problemsOf(dir)).toEqual([{ file: INDEX_FILE, line: 1, kind: 'index_missing' }]);
  });

  it('is missed when its end was cut off, as long as a session is there that was named behind the cut', async () => {
    const dir = testFolder();
    await write(dir, 'one', 'two', 'three');
    const lines = linesOf(dir);
    writeFileSync(indexOf(dir), `${lines.slice(0, 2).join('\n')}\n`, 'latin1');
    removeSession(dir, 'two');

    expect((await problemsOf(dir)).map(({ kind }) => kind)).toEqual(['index_cut']);
    await write(dir, 'four');
    expect((await problemsOf(dir)).map(({ kind }) => kind)).toEqual(['index_cut']);
  });

  it('hides what was cut off it together with the newest sessions, unless a witness has seen more', async () => {
    const dir = testFolder();
    await write(dir, 'one', 'two');
    const { index, count } = await verifyReceipts(dir, { publicKey });
    const lines = linesOf(dir);
    writeFileSync(indexOf(dir), `${lines.slice(0, 2).join('\n')}\n`, 'latin1');
    removeSession(dir, 'two');

    expect((await verifyReceipts(dir, { publicKey })).ok).toBe(true);
    for (const atLeast of [count, index ?? 0])
      expect((await verifyReceipts(dir, { publicKey, atLeast })).problems).toMatchObject([
        { kind: 'too_few' },
      ]);
  });

  it('is a witness that stays true while sessions are added', async () => {
    const dir = testFolder();
    await write(dir, 'one');
    const { index = { count: 0, head: '' } } = await verifyReceipts(dir, { publicKey });
    await write(dir, 'two', 'one');

    expect(await verifyReceipts(dir, { publicKey, atLeast: index })).toMatchObject({ ok: true });
    expect(
      await verifyReceipts(dir, { publicKey, atLeast: { ...index, head: GENESIS } }),
    ).toMatchObject({ ok: false });
  });

  it.each<[string, (lines: string[]) => void, string]>([
    [
      'a changed entry',
      (lines) => void (lines[1] = (lines[1] ?? '').replace('"count":1', '"count":0')),
      '2 hash',
    ],
    ['a removed entry', (lines) => void lines.splice(1, 1), '2 chain'],
    [
      'two that changed places',
      (lines) => void lines.splice(0, 2, lines[1] ?? '', lines[0] ?? ''),
      '1 chain',
    ],
    ['a line that is none', (lines) => void lines.splice(1, 0, '{}'), '2 malformed'],
    [
      'an entry by another key',
      (lines) => void (lines[3] = forged(lines.slice(0, 3))),
      '4 unknown_key',
    ],
    [
      'an entry with the signature of another',
      (lines) => void (lines[3] = underOurName(forged(lines.slice(0, 3)))),
      '4 signature',
    ],
  ])('shows %s', async (_name, change, expected) => {
    const dir = testFolder();
    await write(dir, 'one', 'two');
    const lines = linesOf(dir);
    change(lines);
    writeFileSync(indexOf(dir), lines.map((line) => `${line}\n`).join(''), 'latin1');

    expect((await problemsOf(dir)).map(({ line, kind }) => `${line} ${kind}`)).toContain(expected);
  });

  it('finds every changed byte', async () => {
    const dir = testFolder();
    await write(dir, 'one');
    const whole = readFileSync(indexOf(dir));
    const keys = publicKeys('test', [publicKey]);
    const problemsWith = async (at: number) => {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(indexOf(dir), changed);
      const list = createProblemList();
      await readSessionIndex(dir, keys, list);
      await list.settle(0);
      return list.problems.length;
    };

    // Without its last line feed the index ends as a crash leaves it, one entry earlier.
    for (let at = 0; at < whole.length - 1; at += 1)
      expect(await problemsWith(at), `byte ${at}`).toBeGreaterThan(0);
  });

  it('is told of as absent where an earlier version kept none, and nothing is wrong with that', async () => {
    const dir = testFolder();
    writeEarlierVersion(dir, safeName('one'));

    const report = await verifyReceipts(dir, { publicKey });
    expect(report).toMatchObject({ ok: true, count: 1, unindexed: 1 });
    expect(report).not.toHaveProperty('index');
    await write(dir, 'two', 'one');
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      count: 3,
      index: { count: 3 },
    });
  });

  it('is mended from a cut anywhere in its last entry', async () => {
    const dir = testFolder();
    await write(dir, 'one', 'two');
    const whole = readFileSync(indexOf(dir));
    const last = whole.lastIndexOf(10, whole.length - 2) + 1;

    for (let cut = last; cut < whole.length; cut += howMany(28, 7)) {
      const copy = testFolder();
      cpSync(dir, copy, { recursive: true });
      truncateSync(indexOf(copy), cut);
      expect(await problemsOf(copy)).toEqual([]);
      await write(copy, 'three');
      expect(await verifyReceipts(copy, { publicKey })).toMatchObject({
        ok: true,
        count: 3,
        index: { count: 5 },
      });
    }
  });

  it('loses what somebody without the key put behind its end to a file beside it', async () => {
    const dir = testFolder();
    await write(dir, 'one');
    const foreign = `${underOurName(forged(linesOf(dir)))}\n{}\n`;
    appendFileSync(indexOf(dir), foreign, 'latin1');
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await write(dir, 'two');

    const [aside = ''] = readdirSync(dir).filter((file) =>
      file.startsWith(`${INDEX_FILE}.behind-`),
    );
    expect(readFileSync(join(dir, aside), 'latin1')).toBe(foreign);
    expect(warned).toHaveBeenCalledOnce();
    expect(await problemsOf(dir)).toEqual([]);
    warned.mockRestore();
  });

  it('goes on under another key', async () => {
    const dir = testFolder();
    await write(dir, 'one');
    const next = generateKeyPairSync('ed25519');
    const sink = testSink(dir, { signingKey: next.privateKey });
    await sink(makeReceipt({ session_id: 'two' }));
    await sink.close();

    expect(
      (await verifyReceipts(dir, { publicKey: [publicKey, next.publicKey] })).problems,
    ).toEqual([]);
    expect((await problemsOf(dir)).map(({ kind }) => kind)).toContain('unknown_key');
  });

  it.each([
    ['gives it back', 3],
    ['keeps it', Number.POSITIVE_INFINITY],
  ])('is not written to while another writer has it, who %s', async (_name, looks) => {
    const dir = testFolder();
    const release = takeLock(`${indexOf(dir)}.lock`);
    let waits = 0;
    const waiting = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      waits += 1;
      if (waits === looks) release?.();
      return 'timed-out';
    });
    onTestFinished(() => waiting.mockRestore());

    if (looks === 3) await write(dir, 'one');
    else await expect(write(dir, 'one')).rejects.toThrow();

    expect(waits).toBeGreaterThanOrEqual(3);
    expect(existsSync(indexOf(dir))).toBe(looks === 3);
    if (looks === 3) expect(await problemsOf(dir)).toEqual([]);
  });

  it('is broken by two who append at once without a lock: the twin that the case above catches', async () => {
    const [dir, other] = [testFolder(), testFolder()];
    await write(dir, 'one');
    cpSync(dir, other, { recursive: true });
    await write(dir, 'two');
    await write(other, 'three');
    appendFileSync(
      indexOf(dir),
      readFileSync(indexOf(other)).subarray(linesOf(dir).slice(0, 2).join('').length + 2),
    );

    expect((await problemsOf(dir)).map(({ kind }) => kind)).toContain('chain');
  });

  it('that cannot be written to keeps a session from beginning', async () => {
    const dir = testFolder();
    mkdirSync(indexOf(dir));
    const sink = testSink(dir);

    await expect(sink(makeReceipt())).rejects.toThrow(indexOf(dir));
    expect(readdirSync(dir).filter((file) => /\.(lock|part)$/.test(file))).toEqual([]);
  });
});

/** An entry that removes a session, signed by somebody else. */
function forged(lines: readonly string[]): string {
  const dir = testFolder();
  const last = parseEntry(Buffer.from(lines.at(-1) ?? '', 'latin1'));
  writeFileSync(indexOf(dir), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  const signer = createSigner('test', generateKeyPairSync('ed25519').privateKey);
  appendToIndex(dir, signer, () => 0, {
    record: 'pruned',
    chain: last?.chain ?? '',
    count: 1,
    head: GENESIS,
  });
  return linesOf(dir).at(-1) ?? '';
}

/**
 * Leaves of a session what somebody can who has its file: the first line was signed before there
 * were receipts.
 */
function emptied(path: string): void {
  const [first = ''] = readFileSync(path, 'latin1').split('\n');
  writeFileSync(path.replace('.jsonl', '.head'), `${first.padEnd(4095)}\n`);
  writeFileSync(path, '');
}

/** The same entry, passed off as signed by our key. */
function underOurName(line: string): string {
  const text = line.replace(
    /"key_id":"[^"]*"/,
    `"key_id":"${createSigner('test', signingKey).keyId}"`,
  );
  const covered = text.slice(0, text.lastIndexOf(',"hash":"'));
  return `${covered},"hash":"${digestOf(covered)}"}`;
}

/** A closed session as versions wrote it that marked no ends and kept no index. */
function writeEarlierVersion(dir: string, chain: string): void {
  const signer = createSigner('test', signingKey);
  const at = { chain, segment: 1, time: '2026-01-01T00:00:00.000Z' };
  const first = chainLine(signer.sign({ ...at, count: 0, head: GENESIS }), 0, GENESIS);
  const receipt = chainLine(receiptText(makeReceipt({ session_id: 'one' }), null), 1, first.hash);
  const last = chainLine(signer.sign({ ...at, count: 1, head: receipt.hash }), 1, receipt.hash);
  writeFileSync(join(dir, `${chain}.jsonl`), `${first.text}${receipt.text}${last.text}`, {
    mode: 0o600,
  });
  writeFileSync(join(dir, `${chain}.head`), `${last.text.trimEnd().padEnd(4095)}\n`, {
    mode: 0o600,
  });
}
