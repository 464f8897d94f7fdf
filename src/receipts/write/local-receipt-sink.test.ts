import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/test-kit.ts';
import { type ChainFiles, systemFiles } from '../chain-files.ts';
import { localReceiptSink } from './local-receipt-sink.ts';
import type { Durability } from '../receipt.ts';
import {
  callIdsIn,
  linesIn,
  makeReceipt,
  publicKey,
  receiptFiles,
  signingKey,
  testFolder,
  testSink,
} from '../receipts.fixture.ts';
import { verifyReceipts } from '../read/verify-receipts.ts';

const any = () => makeReceipt();
const problemsOf = async (dir: string) => (await verifyReceipts(dir, { publicKey })).problems;

/** The lines of all files: checkpoints and receipts. */
const shapeOf = (dir: string): string =>
  receiptFiles(dir)
    .flatMap(linesIn)
    .map(({ record }) => (record === 'checkpoint' ? 'C' : 'r'))
    .join('');

describe('localReceiptSink', () => {
  it.each<Durability>(['fsync', 'write', 'background'])(
    'keeps a receipt with durability %s, at the URI it was given',
    async (durability) => {
      const dir = testFolder();
      const sink = testSink(dir);
      const { uri, kept } = sink.append(
        'session-1',
        (own) => makeReceipt({ audit: { receipt_uri: own } }),
        durability,
      );
      await kept;
      await sink.flush();

      const [path, seq] = [fileURLToPath(uri.split('#')[0] ?? ''), Number(uri.split('#seq=')[1])];
      expect(
        linesIn(path).find((line) => line.record === 'receipt' && line.seq === seq),
      ).toMatchObject({ audit: { receipt_uri: uri } });
      await sink.close();
      expect(await problemsOf(dir)).toEqual([]);
    },
  );

  it('takes receipts as a function, under their own session', async () => {
    const dir = testFolder();
    const sink = testSink(dir);

    await sink(makeReceipt({ session_id: 'mine' }));

    expect(receiptFiles(dir).map((path) => path.slice(dir.length + 1))).toEqual([
      expect.stringMatching(/^mine-[0-9a-f]{8}\.jsonl$/),
    ]);
    await sink.close();
  });

  it('numbers receipts in the order of the calls, whatever their durability', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    const kinds: readonly Durability[] = ['background', 'fsync', 'write'];
    const kept = Array.from({ length: 30 }, (_, nth) =>
      sink.append('s', () => makeReceipt({ tool_call_id: `c${nth}` }), kinds[nth % 3] ?? 'write'),
    );
    await Promise.all(kept.map((appended) => appended.kept));
    await sink.close();

    expect(callIdsIn(dir)).toEqual(Array.from({ length: 30 }, (_, nth) => `c${nth}`));
    expect(kept.map(({ uri }) => uri.split('=')[1])).toEqual(
      Array.from({ length: 30 }, (_, nth) => String(nth + 1)),
    );
  });

  it('goes on where another process ended', async () => {
    const dir = testFolder();
    for (const callId of ['a', 'b', 'c']) {
      const sink = testSink(dir);
      await sink(makeReceipt({ tool_call_id: callId }));
      await sink.close();
    }

    expect(callIdsIn(dir)).toEqual(['a', 'b', 'c']);
    expect(receiptFiles(dir)).toHaveLength(1);
    expect(await problemsOf(dir)).toEqual([]);
  });

  it('makes no promise for a background receipt', async () => {
    const sink = testSink(testFolder());
    const [one, two] = [sink.append('s', any, 'background'), sink.append('s', any, 'background')];

    expect(one.kept).toBe(two.kept);
    await sink.close();
  });

  it('gives a second writer of a session a file of its own', async () => {
    const dir = testFolder();
    const [one, two] = [testSink(dir), testSink(dir)];
    await Promise.all(
      [one, two, one, two].map((sink, nth) => sink(makeReceipt({ tool_call_id: `c${nth}` }))),
    );
    await Promise.all([one.close(), two.close()]);

    expect(receiptFiles(dir).map((path) => path.slice(-9))).toEqual([
      expect.stringMatching(/\.jsonl$/),
      '.w2.jsonl',
    ]);
    expect([...callIdsIn(dir)].sort()).toEqual(['c0', 'c1', 'c2', 'c3']);
    expect(await problemsOf(dir)).toEqual([]);
  });

  it('closes what was not used for longest when there are many sessions, and finds its way back', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    for (let round = 0; round < 2; round += 1) {
      for (let nth = 0; nth < 80; nth += 1) await sink(makeReceipt({ session_id: `s${nth}` }));
    }

    expect(readdirSync(dir).filter((file) => file.endsWith('.lock'))).toHaveLength(64);
    await sink.close();
    expect(receiptFiles(dir)).toHaveLength(80);
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({ ok: true, count: 160 });
  });

  it.each(['background', 'write'] as const)(
    'keeps few files open when many sessions end at once: %s',
    async (durability) => {
      const dir = testFolder();
      const [open, counts] = [new Set<number>(), new Array<number>()];
      const files: Partial<ChainFiles> = {
        open(...args) {
          const file = systemFiles.open(...args);
          counts.push(open.add(file).size);
          return file;
        },
        close(file) {
          open.delete(file);
          systemFiles.close(file);
        },
      };
      const sink = testSink(dir, { maxFileBytes: 4096 }, files);
      const kept = Array.from({ length: 150 }, (_, nth) =>
        [1, 2, 3, 4, 5].map(() => sink.append(`s${nth}`, any, durability).kept),
      );
      await Promise.all(kept.flat());
      await sink.close();

      expect(Math.max(...counts)).toBeLessThanOrEqual(66);
      expect(await verifyReceipts(dir, { publicKey })).toMatchObject({ ok: true, count: 750 });
    },
  );

  it('keeps open what could not be written, and writes it when it can be', async () => {
    const dir = testFolder();
    let isFull = true;
    const files: Partial<ChainFiles> = {
      writeNow(file, bytes) {
        if (isFull) throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
        return systemFiles.writeNow(file, bytes);
      },
    };
    const sink = testSink(dir, {}, files);
    const kept = Array.from({ length: 80 }, (_, nth) => sink.append(`s${nth}`, any, 'write').kept);
    const settled = await Promise.allSettled(kept);
    isFull = false;
    for (let nth = 0; nth < 80; nth += 1) await sink.ready(`s${nth}`);
    await sink.close();

    expect(settled.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({ ok: true, count: 80 });
  });

  it('leaves no lock, no draft and no open file behind', async () => {
    const dir = testFolder();
    const openFiles = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
    const before = openFiles();
    const sink = testSink(dir);
    await sink(makeReceipt());
    await sink.append('s', any, 'fsync').kept;
    await sink.close();

    expect(readdirSync(dir).filter((file) => !/\.(jsonl|head)$/.test(file))).toEqual([
      'sessions.index',
    ]);
    expect(openFiles()).toBeLessThanOrEqual(before);
  });

  it('has files for their owner only', async () => {
    const dir = join(testFolder(), 'made');
    const sink = testSink(dir);
    await sink(makeReceipt());
    await sink.close();

    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(dir)) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
  });
});

describe('the options of localReceiptSink', () => {
  it('sessionId: is the session of receipts that name none', async () => {
    const dir = testFolder();
    const sink = testSink(dir, { sessionId: 'other' });
    await sink(makeReceipt({ session_id: '' }));
    await sink.close();

    expect(receiptFiles(dir)[0]).toMatch(/other-[0-9a-f]{8}\.jsonl$/);
  });

  it('key, signingKey, dir: come from the state folder where they are not given', async () => {
    const folder = testFolder();
    const before = process.env.ALLIUM_STATE_DIR;
    process.env.ALLIUM_STATE_DIR = folder;
    const sink = localReceiptSink();
    if (before === undefined) delete process.env.ALLIUM_STATE_DIR;
    else process.env.ALLIUM_STATE_DIR = before;
    await sink(makeReceipt());
    await sink.close();

    expect(sink.key?.secret).toHaveLength(32);
    expect(
      await verifyReceipts(join(folder, 'receipts'), { publicKey: sink.publicKey }),
    ).toMatchObject({ ok: true, count: 1 });
    expect(readFileSync(join(folder, 'keys/receipts-ed25519.pub.pem'), 'utf8')).toBe(
      sink.publicKey,
    );
  });

  it('key: is the one that was given, or none', () => {
    const key = { id: 'k1', secret: 's' };

    expect(testSink(testFolder(), { key }).key).toBe(key);
    expect(testSink(testFolder(), { key: false }).key).toBeNull();
  });

  it('checkpointEvery: signs after so many receipts, at the start and at the end', async () => {
    const dir = testFolder();
    const sink = testSink(dir, { checkpointEvery: 3 });
    for (let nth = 0; nth < 7; nth += 1) await sink(makeReceipt());
    await sink.close();

    const lines = receiptFiles(dir).flatMap(linesIn);
    expect(shapeOf(dir)).toBe('CrrrCrrrCrC');
    expect(lines.filter(({ record }) => record === 'checkpoint').map(({ count }) => count)).toEqual(
      [0, 3, 6, 7],
    );
  });

  it('checkpointMs: signs what is written when the last signature is that old', async () => {
    const dir = testFolder();
    const clock = testClock();
    const sink = testSink(dir, { checkpointMs: 1000, clock });
    for (const ms of [0, 999, 1, 0, 1000]) {
      await clock.advance(ms);
      await sink(makeReceipt());
    }

    expect(shapeOf(dir)).toBe('CrrrCrrC');
    await sink.close();
    // The last one ends the file.
    expect(shapeOf(dir)).toBe('CrrrCrrCC');
  });

  it('maxFileBytes: begins another file that names the head of the one before', async () => {
    const dir = testFolder();
    const sink = testSink(dir, { maxFileBytes: 4096 });
    for (let nth = 0; nth < 20; nth += 1) sink.append('s', any, 'background');
    await sink.close();

    const [first, second] = ['', '.2'].map((number) =>
      linesIn(receiptFiles(dir)[0]?.replace(/(\.\d+)?\.jsonl$/, `${number}.jsonl`) ?? ''),
    );
    const head = first?.at(-1)?.hash;
    expect(second?.[0]).toMatchObject({ record: 'checkpoint', segment: 2, head, prev_hash: head });
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      count: 20,
      problems: [],
    });
    for (const path of receiptFiles(dir)) expect(statSync(path).size).toBeLessThan(4096 + 2000);
  });

  it('clock: stamps checkpoints', async () => {
    const dir = testFolder();
    const sink = testSink(dir, { clock: testClock() });
    await sink(makeReceipt());
    await sink.close();

    expect(receiptFiles(dir).flatMap(linesIn)[0]).toMatchObject({
      time: '2026-01-01T00:00:00.000Z',
    });
  });
});

describe('hostile receipts', () => {
  it.each([
    '../../x',
    '/etc/passwd',
    'nul\0byte',
    '',
    '__proto__',
    'constructor',
    '\ud800',
    's'.repeat(10_000),
    '😀'.repeat(10_000),
  ])('stay in their folder whatever the session is called', async (sessionId) => {
    const parent = testFolder();
    const sink = testSink(join(parent, 'in'));
    const { uri, kept } = sink.append(
      sessionId,
      () => makeReceipt({ session_id: sessionId }),
      'write',
    );
    await kept;
    await sink.close();

    expect(fileURLToPath(uri.split('#')[0] ?? '').startsWith(join(parent, 'in/'))).toBe(true);
    expect(readdirSync(parent)).toEqual(['in']);
    expect(await verifyReceipts(join(parent, 'in'), { publicKey })).toMatchObject({
      ok: true,
      count: 1,
    });
  });

  it('give one line each, whatever characters are in them', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    for (const reason of ['\n', '\r\n', '\u2028', '\u0085', '\0', '\ufeff', '\ud800', '"}\n{"'])
      await sink(makeReceipt({ reason, tool_name: reason }));
    await sink.close();

    expect(callIdsIn(dir)).toHaveLength(8);
    expect(await problemsOf(dir)).toEqual([]);
  });

  it('that cannot be built take no place', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    const fails = (): never => {
      throw new Error('no receipt');
    };

    expect(() => sink.append('s', fails, 'write')).toThrow('no receipt');
    expect(() =>
      sink.append('s', () => (sink.append('s', any, 'background'), makeReceipt()), 'write'),
    ).toThrow();
    await sink.append('s', any, 'write').kept;
    await sink.close();
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({ ok: true, count: 2 });
  });
});

describe('what is found on opening', () => {
  async function torn(cut: (path: string, size: number) => void) {
    const dir = testFolder();
    const sink = testSink(dir);
    for (const callId of ['a', 'b']) await sink(makeReceipt({ tool_call_id: callId }));
    // As a crash leaves it: neither closed nor signed at the end.
    const [path = ''] = receiptFiles(dir);
    cut(path, statSync(path).size);
    rmSync(join(dir, readdirSync(dir).find((file) => file.endsWith('.lock')) ?? ''));
    const next = testSink(dir);
    await next(makeReceipt({ tool_call_id: 'c' }));
    await next.close();
    return dir;
  }

  it('a torn line is cut off, kept aside and told, and the next one is not glued to it', async () => {
    const dir = await torn((path, size) => truncateSync(path, size - 10));

    expect(callIdsIn(dir)).toEqual(['a', 'c']);
    expect(readdirSync(dir).filter((file) => file.includes('.torn-'))).toHaveLength(1);
    expect(readdirSync(dir).filter((file) => file.endsWith('.jsonl'))).toHaveLength(1);
    expect(receiptFiles(dir).flatMap(linesIn)[2]).toMatchObject({
      record: 'checkpoint',
      count: 1,
      cut_bytes: expect.any(Number) as number,
    });
    expect(await problemsOf(dir)).toEqual([]);
  });

  it('a file that ends before what was signed is left as it is', async () => {
    const dir = testFolder();
    const sink = testSink(dir, { checkpointEvery: 2 });
    for (let nth = 0; nth < 6; nth += 1) await sink(makeReceipt({ tool_call_id: `c${nth}` }));
    await sink.close();
    const [path = ''] = receiptFiles(dir);
    const cut = readFileSync(path, 'utf8').split('\n').slice(0, 4).join('\n').length + 1;
    truncateSync(path, cut);
    const next = testSink(dir);
    await next(makeReceipt({ tool_call_id: 'later' }));
    await next.close();

    expect(statSync(path).size).toBe(cut);
    expect(existsSync(path.replace('.jsonl', '.w2.jsonl'))).toBe(true);
    expect(existsSync(path.replace('.jsonl', '.lock'))).toBe(false);
    expect((await problemsOf(dir)).map(({ kind }) => kind)).toEqual(['truncated']);
  });
});

describe('localReceiptSink that is told wrong things', () => {
  it.each([
    { dir: '' },
    { key: true },
    { key: { id: 1 } },
    { signingKey: 7 },
    { signingKey: 'no key' },
    { checkpointEvery: 0 },
    { checkpointMs: -1 },
    { maxFileBytes: 100 },
    { sessionId: 5 },
    { clock: 5 },
    { durability: 'fsync' },
  ])('refuses to be built with %j', (options) => {
    // Deliberately wrong.
    expect(() => localReceiptSink({ key: false, signingKey, ...options } as object)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });

  it('throws without a path where the folder cannot be used, and takes no lock with it', () => {
    const dir = join(testFolder(), 'file');
    writeFileSync(dir, '');
    const sink = testSink(join(dir, 'in'));

    expect(() => sink.append('s', any, 'write')).toThrow(
      /^the receipts of a session could not be written \(ENOTDIR\)$/,
    );
  });

  it('takes nothing after it was closed', async () => {
    const sink = testSink(testFolder());
    await sink.close();
    await sink.close();

    expect(() => sink.append('s', any, 'write')).toThrow(
      expect.objectContaining({ code: 'ERR_CLOSED' }) as Error,
    );
    await expect(sink(makeReceipt())).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    expect(() => sink.ready('s')).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }) as Error);
  });
});
