import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ChainFiles, systemFiles } from '../chain-files.ts';
import {
  callIdsIn,
  linesIn,
  makeReceipt,
  publicKey,
  receiptFiles,
  testFolder,
  testSink,
} from '../receipts.fixture.ts';
import { verifyReceipts } from '../read/verify-receipts.ts';

const failure = (code: string) => Object.assign(new Error('the disk says no'), { code });
const receipt = (callId: string) => () => makeReceipt({ tool_call_id: callId });
const kindsIn = async (dir: string) =>
  (await verifyReceipts(dir, { publicKey })).problems.map(({ kind }) => kind);

const headsIn = (dir: string) =>
  readdirSync(dir)
    .filter((file) => file.endsWith('.head'))
    .map((file) => readFileSync(join(dir, file), 'latin1'));

/** Fails the next so many calls of one kind. */
function failing<K extends 'write' | 'sync' | 'truncate'>(
  name: K,
  code: string,
  times: number,
): { files: Partial<ChainFiles>; left: number } {
  const state = {
    left: times,
    files: {
      [name]: (...args: Parameters<ChainFiles[K]>) => {
        state.left -= 1;
        if (state.left < 0) return (systemFiles[name] as (...all: typeof args) => unknown)(...args);
        if (name === 'truncate') throw failure(code);
        return Promise.reject(failure(code));
      },
    },
  };
  return state;
}

/** A disk that takes a little of a write and then has no more room, until it is told otherwise. */
function fullDisk(room: number): { files: Partial<ChainFiles>; room: number } {
  const disk = {
    room,
    files: {
      async write(file: number, bytes: Buffer) {
        if (disk.room === 0) throw failure('ENOSPC');
        const written = await systemFiles.write(file, bytes.subarray(0, disk.room));
        disk.room -= written;
        return written;
      },
    },
  };
  return disk;
}

/** Opens no file where the process is said to be out of handles. */
const withoutHandles =
  (isOut: (opened: { readonly how: string }) => boolean): ChainFiles['open'] =>
  (path, how) => {
    if (isOut({ how })) throw failure('EMFILE');
    return systemFiles.open(path, how);
  };

describe('a chain writer', () => {
  it('writes what came during a write in one write', async () => {
    const writes: number[] = [];
    const files = {
      write(file: number, bytes: Buffer) {
        writes.push(bytes.toString('latin1').split('"record":"receipt"').length - 1);
        return systemFiles.write(file, bytes);
      },
    };
    const sink = testSink(testFolder(), {}, files);
    const first = sink.append('s', receipt('a'), 'write').kept;
    await Promise.resolve().then(() => {});
    for (let nth = 0; nth < 50; nth += 1) sink.append('s', receipt(`b${nth}`), 'background');
    await first;
    await sink.flush();

    expect(writes).toEqual([1, 50]);
    await sink.close();
  });

  it('begins at once where a call waits, and else gathers for a moment', async () => {
    const writes: number[] = [];
    const files = {
      write(file: number, bytes: Buffer) {
        writes.push(bytes.toString('latin1').split('"record":"receipt"').length - 1);
        return systemFiles.write(file, bytes);
      },
    };
    const sink = testSink(testFolder(), {}, files);
    sink.append('s', receipt('a'), 'background');
    for (let nth = 0; nth < 100; nth += 1) await Promise.resolve();
    await new Promise(setImmediate);
    sink.append('s', receipt('b'), 'background');

    expect(writes).toEqual([]);
    await sink.flush();
    expect(writes).toEqual([2]);
    const { kept } = sink.append('s', receipt('c'), 'write');
    for (let nth = 0; nth < 100; nth += 1) await Promise.resolve();
    expect(writes).toEqual([2, 1]);
    await kept;
    await sink.flush();
    sink.append('s', receipt('d'), 'background');
    const last = sink.append('s', receipt('e'), 'write');
    for (let nth = 0; nth < 100; nth += 1) await Promise.resolve();
    expect(writes).toEqual([2, 1, 2]);
    await last.kept;
    await sink.close();
  });

  it('has a signed head before its first line: a kill in between leaves nothing to explain', async () => {
    const dir = testFolder();
    const heads: string[] = [];
    const files = {
      write: (file: number, bytes: Buffer) => (
        heads.push(...headsIn(dir)), systemFiles.write(file, bytes)
      ),
    };
    const sink = testSink(dir, {}, files);
    await sink.append('s', receipt('a'), 'write').kept;
    await sink.close();

    expect(heads).toEqual([expect.stringContaining('"count":0')]);
  });

  it('finishes a write that was cut short', async () => {
    const dir = testFolder();
    const files = {
      write: (file: number, bytes: Buffer) => systemFiles.write(file, bytes.subarray(0, 7)),
    };
    const sink = testSink(dir, {}, files);
    await sink.append('s', receipt('a'), 'fsync').kept;
    await sink.close();

    expect(callIdsIn(dir)).toEqual(['a']);
    expect(await kindsIn(dir)).toEqual([]);
  });

  it('does not ask again for ever where the system takes nothing', async () => {
    const dir = testFolder();
    let left = 3;
    const write = (file: number, bytes: Buffer) =>
      (left -= 1) < 0 ? systemFiles.write(file, bytes) : Promise.resolve(0);
    const sink = testSink(dir, {}, { write });

    await expect(sink.append('s', receipt('a'), 'write').kept).rejects.toThrow('no reason known');
    left = 0;
    await sink.append('s', receipt('b'), 'write').kept;
    expect(callIdsIn(dir)).toEqual(['a', 'b']);
    await sink.close();
  });

  it('leaves alone what other sessions have under way, also when its own write fails or is cut short', async () => {
    const dir = testFolder();
    let [nth, isWell] = [0, false];
    // A turn of the loop goes by before anything is written: by then all sessions have laid out
    // their lines.
    const write = async (file: number, bytes: Buffer): Promise<number> => {
      nth += 1;
      const [isShort, isLost] = [nth % 3 === 0, nth % 4 === 0 && !isWell];
      await new Promise((resolve) => setImmediate(resolve));
      if (isLost) throw failure('ENOSPC');
      return await systemFiles.write(file, isShort ? bytes.subarray(0, 100) : bytes);
    };
    const sink = testSink(dir, { checkpointEvery: 3 }, { write });
    const ids = Array.from({ length: 20 }, (_, round) =>
      ['a', 'b', 'c'].map((session) => `${session}${round}`),
    );
    for (const row of ids)
      await Promise.allSettled(
        row.map((id) => sink.append(id.slice(0, 1), receipt(id), 'fsync').kept),
      );
    isWell = true;
    await sink.close();

    expect([...callIdsIn(dir)].sort()).toEqual(ids.flat().sort());
    expect(await kindsIn(dir)).toEqual([]);
  });

  it('takes back what a failed write left, and writes it once there is room', async () => {
    const dir = testFolder();
    const disk = fullDisk(3000);
    const sink = testSink(dir, {}, disk.files);
    const endings = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((callId) => sink.append('s', receipt(callId), 'write').kept),
    );
    const [path = ''] = receiptFiles(dir);

    expect(endings.map(({ status }) => status)).toContain('rejected');
    expect(readFileSync(path, 'utf8')).toMatch(/^$|\n$/);
    await expect(sink.ready('s')).rejects.toThrow('ENOSPC');
    disk.room = Number.POSITIVE_INFINITY;
    await sink.ready('s');
    expect(callIdsIn(dir)).toEqual(['a', 'b', 'c', 'd', 'e']);
    await sink.close();
    expect(await kindsIn(dir)).toEqual([]);
  });

  it('writes what failed with the next receipt, before it', async () => {
    const dir = testFolder();
    const disk = failing('write', 'EIO', 1);
    const sink = testSink(dir, {}, disk.files);
    await expect(sink.append('s', receipt('a'), 'write').kept).rejects.toThrow('EIO');
    await sink.append('s', receipt('b'), 'write').kept;
    await sink.close();

    expect(callIdsIn(dir)).toEqual(['a', 'b']);
    expect(await kindsIn(dir)).toEqual([]);
  });

  it('writes again what failed, and not what was written before it', async () => {
    const dir = testFolder();
    let writes = 0;
    const write = (file: number, bytes: Buffer) => {
      writes += 1;
      return writes === 2 ? Promise.reject(failure('EIO')) : systemFiles.write(file, bytes);
    };
    const sink = testSink(dir, { maxFileBytes: 4096 }, { write });
    const ids = Array.from({ length: 20 }, (_, nth) => `c${nth}`);
    for (const id of ids.slice(0, 19)) sink.append('s', receipt(id), 'background');
    await expect(sink.flush()).rejects.toThrow('EIO');
    sink.append('s', receipt('c19'), 'background');
    await sink.close();

    expect([...callIdsIn(dir)].sort()).toEqual([...ids].sort());
    expect(await kindsIn(dir)).toEqual([]);
  });

  it('keeps the order when receipts come while a write fails', async () => {
    const dir = testFolder();
    const sink = testSink(dir, {}, failing('write', 'EIO', 1).files);
    const first = sink.append('s', receipt('a'), 'write').kept;
    await Promise.resolve().then(() => {});
    const second = sink.append('s', receipt('b'), 'write').kept;
    await Promise.allSettled([first, second]);
    await sink.close();

    expect(callIdsIn(dir)).toEqual(['a', 'b']);
  });

  it('does not end the process when nobody looks at what was not kept', async () => {
    const seen: unknown[] = [];
    const listen = (reason: unknown) => seen.push(reason);
    process.on('unhandledRejection', listen);
    const sink = testSink(testFolder(), {}, failing('write', 'EIO', 1).files);
    void sink.append('s', receipt('a'), 'write');
    await sink.flush().catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);

    expect(seen).toEqual([]);
    await sink.close();
  });

  it('answers those who came while a write failed', async () => {
    const sink = testSink(testFolder(), {}, failing('write', 'EIO', 100).files);
    const first = sink.append('s', receipt('a'), 'write').kept;
    await Promise.resolve().then(() => {});
    const second = sink.append('s', receipt('b'), 'fsync').kept;

    expect((await Promise.allSettled([first, second])).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    await expect(sink.flush()).rejects.toThrow('EIO');
    await expect(sink.close()).rejects.toThrow('EIO');
  });

  it('does not keep on file what others could not have read: errors name a code and no path', async () => {
    const dir = testFolder();
    const sink = testSink(dir, {}, failing('write', 'EIO', 1).files);

    await expect(sink.append('s', receipt('a'), 'write').kept).rejects.toThrow(
      /^the receipts of a session could not be written \(EIO\)$/,
    );
    await sink.close();
  });

  it('begins a new file when what a failed write left cannot be taken back', async () => {
    const dir = testFolder();
    const files = { ...fullDisk(2000).files, ...failing('truncate', 'EIO', 1).files };
    const disk = fullDisk(2000);
    const sink = testSink(dir, {}, { ...files, ...disk.files });
    await Promise.allSettled(
      ['a', 'b', 'c'].map((callId) => sink.append('s', receipt(callId), 'write').kept),
    );
    disk.room = Number.POSITIVE_INFINITY;
    await sink.append('s', receipt('d'), 'write').kept;
    await sink.close();

    expect(receiptFiles(dir)).toHaveLength(2);
    expect(
      linesIn(receiptFiles(dir)[0] ?? '')
        .filter(({ record }) => record === 'receipt')
        .map(({ tool_call_id }) => tool_call_id),
    ).toEqual(['a', 'b', 'c', 'd']);
  });

  it('gives a segment up after a failed sync, acknowledges nothing of it, and goes on in the next', async () => {
    const dir = testFolder();
    const syncs: number[] = [];
    const disk = failing('sync', 'EIO', 1);
    const sync = (file: number) => (syncs.push(file), disk.files.sync?.(file) ?? Promise.resolve());
    const sink = testSink(dir, {}, { sync });
    await expect(sink.append('s', receipt('a'), 'fsync').kept).rejects.toThrow('EIO');
    await sink.append('s', receipt('b'), 'fsync').kept;
    await sink.close();

    expect(receiptFiles(dir).map((path) => path.slice(-8))).toEqual([
      '.2.jsonl',
      expect.stringMatching(/.jsonl/),
    ]);
    expect(syncs).toHaveLength(1);
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({ ok: true, count: 2 });
  });

  it('gives a segment up after a durable write that failed for anything but room', async () => {
    const dir = testFolder();
    let failNext = false;
    const write = (file: number, bytes: Buffer) =>
      failNext
        ? ((failNext = false), Promise.reject(failure('EIO')))
        : systemFiles.write(file, bytes);
    const sink = testSink(dir, {}, { write });
    await sink.append('s', receipt('a'), 'fsync').kept;
    await sink.append('s', receipt('b'), 'fsync').kept;
    failNext = true;
    await expect(sink.append('s', receipt('c'), 'fsync').kept).rejects.toThrow('EIO');
    await sink.append('s', receipt('d'), 'fsync').kept;
    await sink.close();

    expect(receiptFiles(dir)).toHaveLength(2);
    expect([...callIdsIn(dir)].sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(await kindsIn(dir)).toEqual([]);
  });

  it('goes on in a file that is full where no other can be opened', async () => {
    const dir = testFolder();
    const sink = testSink(
      dir,
      { maxFileBytes: 4096 },
      { open: withoutHandles(({ how }) => how === 'new') },
    );
    for (let nth = 0; nth < 20; nth += 1) await sink.append('s', receipt(`c${nth}`), 'write').kept;
    await sink.close();

    expect(receiptFiles(dir)).toHaveLength(1);
    expect([...callIdsIn(dir)]).toHaveLength(20);
    expect(await kindsIn(dir)).toEqual([]);
  });

  it('is not ready while it has given up its file and no other can be opened', async () => {
    let isOut = false;
    const sink = testSink(
      testFolder(),
      {},
      { open: withoutHandles(() => isOut), ...failing('sync', 'EIO', 1).files },
    );
    const ready = async (): Promise<void> => {
      await sink.ready('s');
    };
    await expect(sink.append('s', receipt('a'), 'fsync').kept).rejects.toThrow('EIO');

    isOut = true;
    for (let asked = 0; asked < 3; asked += 1) await expect(ready()).rejects.toThrow('EMFILE');
    isOut = false;
    await ready();
    await sink.append('s', receipt('b'), 'fsync').kept;
    await sink.close();
  });

  it('syncs once for all who wait together', async () => {
    let [syncs, durable] = [0, -1];
    const files: Partial<ChainFiles> = {
      open: (path, how) =>
        how === 'durable' ? (durable = systemFiles.open(path, how)) : systemFiles.open(path, how),
      sync: (file) => ((syncs += 1), systemFiles.sync(file)),
      write: (file, bytes) => ((syncs += file === durable ? 1 : 0), systemFiles.write(file, bytes)),
    };
    const sink = testSink(testFolder(), {}, files);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        Array.from({ length: 64 }, (_, nth) => sink.append('s', receipt(`c${nth}`), 'fsync').kept),
      );
    }

    expect(syncs).toBe(3);
    await sink.close();
  });

  it('has nothing but complete lines in its file while it is open, for whoever reads along', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    for (const durability of ['fsync', 'fsync', 'write', 'fsync'] as const) {
      await sink.append('s', receipt('a'), durability).kept;

      expect(readFileSync(receiptFiles(dir)[0] ?? '', 'latin1')).toMatch(
        /^(?:\{[\x20-\x7e]*\}\n)+$/,
      );
    }
    await sink.close();
  });

  it('syncs what was only written before, and does not trust a durable write with it', async () => {
    const synced: number[] = [];
    const files: Partial<ChainFiles> = {
      sync: (file) => (synced.push(systemFiles.look(file).size), systemFiles.sync(file)),
    };
    const dir = testFolder();
    const sink = testSink(dir, {}, files);
    await sink.append('s', receipt('a'), 'fsync').kept;
    await sink.append('s', receipt('b'), 'write').kept;
    await sink.append('s', receipt('c'), 'fsync').kept;

    expect(synced).toHaveLength(2);
    expect(synced[1]).toBe(readFileSync(receiptFiles(dir)[0] ?? '').length);
    await sink.close();
  });

  it.each([
    ['was deleted', (path: string) => rmSync(path), 'segment'],
    ['was cut', (path: string) => truncateSync(path, 100), 'torn_line'],
    [
      'was written to by somebody else',
      (path: string) => appendFileSync(path, '{}\n'),
      'malformed',
    ],
  ])('goes on in a new segment when its file %s, and that is found', async (_name, harm, kind) => {
    const dir = testFolder();
    const sink = testSink(dir);
    await sink.append('s', receipt('a'), 'write').kept;
    harm(receiptFiles(dir)[0] ?? '');
    await sink.append('s', receipt('b'), 'write').kept;
    await sink.close();

    expect(callIdsIn(dir)).toContain('b');
    expect(await kindsIn(dir)).toContain(kind);
  });

  it('keeps what failed within bounds, and refuses what is beyond', () => {
    const sink = testSink(testFolder(), {}, { write: () => new Promise(() => {}) });
    const large = () => makeReceipt({ reason: 'r'.repeat(60_000) });

    expect(() => {
      for (let nth = 0; nth < 2000; nth += 1) sink.append('s', large, 'background');
    }).toThrow('too many receipts wait');
  });
});
