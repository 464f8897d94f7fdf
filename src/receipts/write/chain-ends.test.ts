import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createSigner } from '../checkpoint.ts';
import { chainLine, GENESIS, placeOf } from '../receipt-line.ts';
import { receiptText } from './receipt-text.ts';
import {
  callIdsIn,
  linesIn,
  makeReceipt,
  publicKey,
  receiptFiles,
  testFolder,
  testSink,
  writeReceipts,
} from '../receipts.fixture.ts';
import { verifyReceipts } from '../read/verify-receipts.ts';

const kindsIn = async (path: string) =>
  (await verifyReceipts(path, { publicKey })).problems.map(({ line, kind }) => `${line} ${kind}`);
const lastLine = (path: string) => readFileSync(path, 'latin1').trimEnd().split('\n').at(-1) ?? '';

/**
 * A receipt that follows the last line of a file, as anybody can write it who can read the file.
 */
function forgedLine(path: string, callId = 'forged'): string {
  const { seq, hash } = placeOf(Buffer.from(lastLine(path), 'latin1')) ?? { seq: 0, hash: '' };
  return chainLine(receiptText(makeReceipt({ tool_call_id: callId }), null), seq + 1, hash).text;
}

/** What a verifier finds that knows of no ends: nothing. */
function bareChainIsWhole(path: string): boolean {
  let head = GENESIS;
  return readFileSync(path, 'latin1')
    .trimEnd()
    .split('\n')
    .every((line) => {
      const place = placeOf(Buffer.from(line, 'latin1'));
      const follows = place?.prevHash === head && place.hash === place.realHash;
      head = place?.hash ?? '';
      return follows;
    });
}

/** A checkpoint by somebody else's key that follows the last line of a file. */
function forgedCheckpoint(path: string): string {
  const { seq, hash } = placeOf(Buffer.from(lastLine(path), 'latin1')) ?? { seq: 0, hash: '' };
  const { chain = '' } = JSON.parse(lastLine(path)) as { chain?: string };
  const signer = createSigner('test', generateKeyPairSync('ed25519').privateKey);
  const fields = { chain, segment: 1, count: seq, head: hash, time: '2026-01-01T00:00:00.000Z' };
  return chainLine(signer.sign(fields), seq, hash).text;
}

/** What a killed writer of two receipts leaves. */
async function killedWriter(dir: string): Promise<string> {
  const alive = testFolder();
  const sink = testSink(alive);
  for (const callId of ['a', 'b']) await sink(makeReceipt({ tool_call_id: callId }));
  cpSync(alive, dir, { recursive: true });
  await sink.close();
  for (const lock of readdirSync(dir).filter((file) => file.endsWith('.lock')))
    rmSync(join(dir, lock));
  return receiptFiles(dir)[0] ?? '';
}

const quietly = () => vi.spyOn(process, 'emitWarning').mockImplementation(() => {});

describe('the end of a file', () => {
  it('is marked by the checkpoint that closes it, and by the one that fills it', async () => {
    const dir = testFolder();
    await writeReceipts(dir, 30, { maxFileBytes: 8192 });

    const ends = receiptFiles(dir).map((path) => linesIn(path).filter(({ end }) => end === true));
    expect(ends.map(({ length }) => length)).toEqual(ends.map(() => 1));
    expect(receiptFiles(dir).map((path) => linesIn(path).at(-1)?.end)).toEqual(
      ends.map(() => true),
    );
  });

  it.each([false, true])(
    'shows a receipt that was put behind it, with a key (%s) or without',
    async (hasKey) => {
      const path = await writeReceipts(testFolder(), 3);
      appendFileSync(path, forgedLine(path));
      appendFileSync(path, forgedLine(path, 'forged too'));

      const { ok, problems } = await verifyReceipts(path, hasKey ? { publicKey } : {});
      expect(ok).toBe(false);
      expect(bareChainIsWhole(path)).toBe(true);
      expect(problems.map(({ line, kind }) => `${line} ${kind}`)).toEqual([
        '6 after_end',
        '7 after_end',
      ]);
    },
  );

  it('is gone on from by a checkpoint, in the same file', async () => {
    const dir = testFolder();
    await writeReceipts(dir, 1);
    const path = await writeReceipts(dir, 1);

    expect(linesIn(path).map(({ record, end }) => (end === true ? 'end' : record))).toEqual([
      'checkpoint',
      'receipt',
      'end',
      'checkpoint',
      'receipt',
      'end',
    ]);
    expect(await kindsIn(dir)).toEqual([]);
  });

  it.each<[string, (path: string) => void]>([
    ['a receipt', (path) => appendFileSync(path, forgedLine(path))],
    ['a line that is none', (path) => appendFileSync(path, '{"x":1}\n')],
    [
      'many receipts',
      (path) => Array.from({ length: 400 }, () => appendFileSync(path, forgedLine(path))),
    ],
    [
      'a checkpoint by another key, and receipts behind it',
      (path) => {
        appendFileSync(path, forgedCheckpoint(path));
        appendFileSync(path, forgedLine(path));
      },
    ],
    [
      'an earlier checkpoint of ours',
      (path) =>
        appendFileSync(
          path,
          chainLine((readFileSync(path, 'latin1').split(',"seq":')[0] ?? '').trimStart(), 3, 'x')
            .text,
        ),
    ],
  ])(
    'keeps %s from being signed by the next writer, which moves it aside and says so',
    async (_name, forge) => {
      const dir = testFolder();
      const path = await writeReceipts(dir, 3);
      const before = readFileSync(path);
      forge(path);
      const foreign = readFileSync(path).subarray(before.length);
      const warned = quietly();
      await writeReceipts(dir, 1);

      expect(callIdsIn(dir)).toEqual(['c1', 'c2', 'c3', 'c1']);
      const [aside = ''] = readdirSync(dir).filter((file) => file.includes('.behind-'));
      expect(aside).not.toMatch(/\.jsonl$/);
      expect(readFileSync(join(dir, aside)).equals(foreign)).toBe(true);
      expect(warned.mock.calls.map(([text]) => String(text).includes(join(dir, aside)))).toEqual([
        true,
      ]);
      expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
        ok: true,
        count: 4,
        asideBytes: foreign.length,
      });
      warned.mockRestore();
    },
  );

  it('is not overwritten where a file of the name lies aside already', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 1);
    const at = readFileSync(path).length;
    writeFileSync(`${path}.behind-${at}`, 'kept before');
    appendFileSync(path, forgedLine(path));
    const warned = quietly();
    await writeReceipts(dir, 1);
    warned.mockRestore();

    expect(readFileSync(`${path}.behind-${at}`, 'utf8')).toBe('kept before');
    expect(existsSync(`${path}.behind-${at}-2`)).toBe(true);
  });

  it('is told also by a writer that writes nothing more', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 1);
    appendFileSync(path, forgedLine(path));
    const warned = quietly();
    const sink = testSink(dir);
    await sink.ready('session-1');
    await sink.close();
    warned.mockRestore();

    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      count: 1,
      asideBytes: expect.any(Number) as number,
    });
  });

  it('is missed when it was cut off and the head put back, because the index knows it', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 3);
    const lines = readFileSync(path, 'latin1').split('\n');
    writeFileSync(path, `${lines.slice(0, -2).join('\n')}\n`);
    const head = readFileSync(path.replace('.jsonl', '.head'), 'latin1');
    writeFileSync(
      path.replace('.jsonl', '.head'),
      head.slice(0, 4096).replace(/.*/, (lines[0] ?? '').padEnd(4095)),
    );

    expect((await verifyReceipts(path, { publicKey })).ok).toBe(true);
    expect(await kindsIn(dir)).toEqual(['5 truncated']);
  });
});

describe('receipts that nobody has signed', () => {
  it('are counted: a killed writer leaves some, and so does whoever adds to them', async () => {
    const dir = testFolder();
    const path = await killedWriter(dir);
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      count: 2,
      unsigned: 2,
    });

    appendFileSync(path, forgedLine(path));
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      count: 3,
      unsigned: 3,
    });
  });

  it('are signed by the next writer as found, and counted as that from then on', async () => {
    const dir = testFolder();
    const path = await killedWriter(dir);
    appendFileSync(path, forgedLine(path));
    await writeReceipts(dir, 2);

    expect(linesIn(path).filter(({ found }) => found !== undefined)).toMatchObject([
      { record: 'checkpoint', count: 3, found: 3 },
    ]);
    const report = await verifyReceipts(dir, { publicKey });
    expect(report).toMatchObject({ ok: true, count: 5, found: 3 });
    expect(report).not.toHaveProperty('unsigned');
  });

  it.each<[string, (path: string) => void]>([
    [
      'do not follow one another',
      (path) => appendFileSync(path, chainLine(receiptText(makeReceipt(), null), 9, 'x').text),
    ],
    ['are none', (path) => appendFileSync(path, '{"x":1}\n')],
    [
      'come with a checkpoint of another key',
      (path) => appendFileSync(path, forgedCheckpoint(path)),
    ],
  ])('are left alone where they %s, and the session goes on elsewhere', async (_name, forge) => {
    const dir = testFolder();
    const path = await killedWriter(dir);
    forge(path);
    const before = readFileSync(path);
    await writeReceipts(dir, 1);

    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(path.replace('.jsonl', '.w2.jsonl'))).toBe(true);
    expect((await verifyReceipts(dir, { publicKey })).ok).toBe(false);
  });
});
