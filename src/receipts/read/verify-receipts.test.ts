import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../conformance/benches/fuzz/random.ts';
import { chainLine, completeLength, digestOf, GENESIS, placeOf } from '../receipt-line.ts';
import {
  makeReceipt,
  publicKey,
  receiptFiles,
  testFolder,
  testSink,
  writeReceipts,
} from '../receipts.fixture.ts';
import { verifyReceipts } from './verify-receipts.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const found = async (path: string) =>
  (await verifyReceipts(path, { publicKey })).problems.map(({ line, kind }) => `${line} ${kind}`);
const linesOf = (path: string) => readFileSync(path, 'latin1').split('\n').slice(0, -1);
const writeLines = (path: string, lines: readonly string[]) =>
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''), 'latin1');

/** Where the lines of a file begin. */
function lineStarts(bytes: Buffer): readonly number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return starts;
}

/** What a chain alone proves: that each line names the one before. */
function bareChainIsWhole(path: string): boolean {
  let head = GENESIS;
  return linesOf(path).every((line) => {
    const place = placeOf(Buffer.from(line, 'latin1'));
    const follows = place !== null && place.prevHash === head && place.hash === place.realHash;
    head = place?.hash ?? '';
    return follows;
  });
}

describe('verifyReceipts', () => {
  it('finds nothing wrong with what was written', async () => {
    const path = await writeReceipts(testFolder(), 200);

    const report = await verifyReceipts(path, { publicKey });

    expect(report).toEqual({
      ok: true,
      count: 200,
      head: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      key: 'known',
      problems: [],
    });
    expect(report.head).toBe((JSON.parse(linesOf(path).at(-1) ?? '') as { hash: string }).hash);
  });

  it('says that the key is unknown, and still finds what was changed', async () => {
    const path = await writeReceipts(testFolder(), 5);
    const lines = linesOf(path);
    writeLines(
      path,
      lines.map((line, at) => (at === 3 ? line.replace('echo', 'ecHo') : line)),
    );

    expect(await verifyReceipts(path)).toMatchObject({
      ok: false,
      key: 'unknown',
      problems: [{ line: 4, kind: 'hash' }],
    });
  });

  it('finds changed bytes of 20 receipts, each in its line', async () => {
    const path = await writeReceipts(testFolder(), 20, { checkpointEvery: 8 });
    const lines = linesOf(path);
    const longest = Math.max(...lines.map(({ length }) => length));
    const flip = (line: string, at: number) =>
      line.slice(0, at) + String.fromCharCode(line.charCodeAt(at) ^ 1) + line.slice(at + 1);

    for (let at = 0; at < longest; at += howMany(3, 1)) {
      const inside = lines.map((line) => at < line.length && (line.charCodeAt(at) ^ 1) !== 10);
      writeLines(
        path,
        lines.map((line, index) => (inside[index] === true ? flip(line, at) : line)),
      );
      const told = new Set((await verifyReceipts(path)).problems.map(({ line }) => line));
      expect(lines.map((_, index) => inside[index] !== true || told.has(index + 1))).not.toContain(
        false,
      );
    }
  });

  it('finds thousands of changed bytes of 1 000 receipts, each in its line', async () => {
    const path = await writeReceipts(testFolder(), 1000);
    const whole = readFileSync(path);
    const random = createRandom(7);

    for (let round = 0; round < howMany(60, 200); round += 1) {
      const changed = Buffer.from(whole);
      const places = Array.from({ length: 50 }, () => random.below(whole.length));
      for (const at of new Set(places)) changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
      writeFileSync(path, changed);
      const starts = lineStarts(changed);
      const told = new Set((await verifyReceipts(path)).problems.map(({ line }) => line));
      expect(
        places.filter((at) => !told.has(starts.findLastIndex((start) => start <= at) + 1)),
      ).toEqual([]);
    }
  });

  it.each<[string, (lines: string[]) => void, RegExp]>([
    ['a removed line', (lines) => void lines.splice(6, 1), /^7 chain/],
    ['a removed checkpoint', (lines) => void lines.splice(9, 1), /^10 chain/],
    [
      'two lines that changed places',
      (lines) => void lines.splice(6, 2, lines[7] ?? '', lines[6] ?? ''),
      /^7 chain/,
    ],
    ['a line that is there twice', (lines) => void lines.splice(7, 0, lines[6] ?? ''), /^8 chain/],
    [
      'an inserted line',
      (lines) => void lines.splice(6, 0, (lines[3] ?? '').replace('"c3"', '"cX"')),
      /^7 hash/,
    ],
    [
      'an inserted line with a place',
      (lines) =>
        void lines.splice(6, 0, chainLine(openOf(lines[5]), 6, hashOf(lines[5])).text.trimEnd()),
      /^8 chain/,
    ],
    ['a first line that was removed', (lines) => void lines.shift(), /^1 chain/],
    ['an empty line', (lines) => void lines.splice(3, 0, ''), /^4 malformed/],
  ])('finds %s', async (_name, change, expected) => {
    const path = await writeReceipts(testFolder(), 20, { checkpointEvery: 8 });
    const lines = linesOf(path);
    change(lines);
    writeLines(path, lines);

    expect((await found(path))[0]).toMatch(expected);
  });

  it.each<[string, (lines: readonly string[]) => string, string]>([
    [
      'a signed checkpoint of before',
      (lines) => chainLine(openOf(lines[0]), 3, hashOf(lines.at(-1))).text,
      '6 checkpoint',
    ],
    [
      'a receipt with a number that was left out',
      (lines) => chainLine(openOf(lines[1]), 5, hashOf(lines.at(-1))).text,
      '6 sequence',
    ],
    [
      'a receipt with a number that was given',
      (lines) => chainLine(openOf(lines[1]), 3, hashOf(lines.at(-1))).text,
      '6 sequence',
    ],
  ])(
    'finds %s that was put at the end, although the chain holds',
    async (_name, forge, expected) => {
      const path = await writeReceipts(testFolder(), 3);
      appendFileSync(path, forge(linesOf(path)));

      expect(bareChainIsWhole(path)).toBe(true);
      expect(await found(path)).toEqual([expected]);
    },
  );

  it('finds that the end was cut off, at every line behind which there is a signed one', async () => {
    const path = await writeReceipts(testFolder(), 20, { checkpointEvery: 8 });
    const lines = linesOf(path);

    for (let keep = 0; keep < lines.length; keep += 1) {
      writeLines(path, lines.slice(0, keep));
      expect(await found(path)).toEqual([`${keep + 1} truncated`]);
      expect(bareChainIsWhole(path)).toBe(true);
    }
  });

  it('finds that everything was written anew with another key, which a bare chain does not', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 20);
    rmSync(dir, { recursive: true });
    await writeReceipts(dir, 20, { signingKey: generateKeyPairSync('ed25519').privateKey });

    expect(await found(path)).toContain('1 unknown_key');
    expect(bareChainIsWhole(path)).toBe(true);
  });

  it('finds a chain without any signature', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 3);
    const open = linesOf(path)
      .filter((line) => line.includes('"record":"receipt"'))
      .map(openOf);
    let head = GENESIS;
    const forged = open.map((text, index) => {
      const { text: line, hash } = chainLine(text, index + 1, head);
      head = hash;
      return line.trimEnd();
    });
    writeLines(path, forged);

    expect(await found(path)).toContain('1 unsigned');
    expect(bareChainIsWhole(path)).toBe(true);
  });

  it('finds that the signed head is gone, unreadable, or another one', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 3);
    const head = path.replace('.jsonl', '.head');
    const other = testFolder();
    await testSinkOnce(other, 'another session');
    rmSync(head);
    expect(await found(path)).toEqual(['1 head_missing']);
    writeFileSync(head, 'x');
    expect(await found(path)).toEqual(['1 head_unreadable']);
    copyFileSync((receiptFiles(other)[0] ?? '').replace('.jsonl', '.head'), head);
    expect(await found(path)).toEqual(expect.arrayContaining(['1 name']));
  });

  it('finds a session that was passed off as another', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 3);
    await testSinkOnce(dir, 'other');
    const other = receiptFiles(dir).find((file) => file !== path) ?? '';
    for (const end of ['.jsonl', '.head'])
      copyFileSync(other.replace('.jsonl', end), path.replace('.jsonl', end));

    const { problems } = await verifyReceipts(path, { publicKey });
    expect(
      problems.filter(({ kind }) => kind === 'name').map(({ file }) => file.slice(-5)),
    ).toEqual(['jsonl', 'jsonl', '.head']);
  });

  it('finds a checkpoint and a head that were made up under the name of the key', async () => {
    const path = await writeReceipts(testFolder(), 3);
    const lines = linesOf(path);
    const forged = chainLine(
      openOf(lines.at(-1)).replace(/"time":"20../, '"time":"1999'),
      3,
      hashOf(lines.at(-2)),
    ).text;
    writeLines(path, [...lines.slice(0, -1), forged.trimEnd()]);
    writeFileSync(path.replace('.jsonl', '.head'), forged);

    const { problems } = await verifyReceipts(path, { publicKey });
    expect(problems.map(({ file, line, kind }) => `${file.slice(-5)} ${line} ${kind}`)).toEqual([
      'jsonl 5 signature',
      '.head 1 signature',
    ]);
    expect((await verifyReceipts(path)).ok).toBe(true);
  });

  it('finds that both file and head were put back, when it is told what was there', async () => {
    const [dir, before] = [testFolder(), testFolder()];
    const path = await writeReceipts(dir, 3);
    cpSync(dir, before, { recursive: true });
    await writeReceipts(dir, 4);
    const { count, head } = await verifyReceipts(path, { publicKey });
    cpSync(before, dir, { recursive: true });

    expect(await verifyReceipts(path, { publicKey })).toMatchObject({ ok: true, count: 3 });
    for (const atLeast of [count, { count, head: head ?? '' }]) {
      expect((await verifyReceipts(path, { publicKey, atLeast })).problems).toMatchObject([
        { kind: 'too_few' },
      ]);
    }
    await writeReceipts(dir, 4);
    expect((await verifyReceipts(path, { publicKey, atLeast: count })).ok).toBe(true);
    expect(
      (await verifyReceipts(path, { publicKey, atLeast: { count, head: digestOf('another') } })).ok,
    ).toBe(false);
  });

  it('takes several public keys, for when one was replaced', async () => {
    const dir = testFolder();
    const next = generateKeyPairSync('ed25519');
    await writeReceipts(dir, 2);
    const path = await writeReceipts(dir, 2, { signingKey: next.privateKey });

    expect(
      (await verifyReceipts(path, { publicKey: [publicKey, next.publicKey] })).problems,
    ).toEqual([]);
    expect((await verifyReceipts(path, { publicKey })).problems[0]).toMatchObject({
      kind: 'unknown_key',
    });
  });
});

describe('verifyReceipts on segments and folders', () => {
  const segmented = async () => {
    const dir = testFolder();
    await writeReceipts(dir, 30, { maxFileBytes: 8192 });
    const path = (segment: number) =>
      join(
        dir,
        `session-1-${(receiptFiles(dir)[0] ?? '').slice(dir.length).match(/[0-9a-f]{8}/)?.[0]}${segment === 1 ? '' : `.${segment}`}.jsonl`,
      );
    return { dir, path };
  };

  it('follows a file into its later segments, and begins where it is told to', async () => {
    const { dir, path } = await segmented();

    expect(await verifyReceipts(path(1), { publicKey })).toMatchObject({ ok: true, count: 30 });
    expect(receiptFiles(dir).length).toBeGreaterThan(2);
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({ ok: true, count: 30 });
    expect((await verifyReceipts(path(2), { publicKey })).count).toBeLessThan(30);
    expect((await verifyReceipts(path(2), { publicKey })).problems).toEqual([]);
  });

  it.each([
    ['the first', 1, 'segment'],
    ['a middle', 2, 'segment'],
    ['the last', 4, 'truncated'],
  ])('finds that %s segment is gone', async (_name, segment, kind) => {
    const { dir, path } = await segmented();
    for (let gone = segment; gone <= (segment === 4 ? 9 : segment); gone += 1)
      rmSync(path(gone), { force: true });

    expect(
      (await verifyReceipts(dir, { publicKey })).problems.map((problem) => problem.kind),
    ).toContain(kind);
  });

  it('finds segments that changed places, and one that is torn in the middle', async () => {
    const { dir, path } = await segmented();
    renameSync(path(2), join(dir, 'aside'));
    renameSync(path(3), path(2));
    renameSync(join(dir, 'aside'), path(3));
    expect((await verifyReceipts(dir, { publicKey })).ok).toBe(false);

    const again = await segmented();
    appendFileSync(again.path(1), '{"torn');
    expect((await verifyReceipts(again.dir, { publicKey })).problems).toMatchObject([
      { kind: 'torn_line' },
    ]);
  });

  it('finds that all files of a session are gone but its head', async () => {
    const dir = testFolder();
    rmSync(await writeReceipts(dir, 3));

    expect((await verifyReceipts(dir, { publicKey })).problems).toMatchObject([
      { kind: 'truncated' },
    ]);
  });

  it('takes what a kill leaves before the first line for what it is', async () => {
    const dir = testFolder();
    writeFileSync(join(dir, 'a-00000000.head'), '');
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      count: 0,
      head: null,
    });
    writeFileSync(join(dir, 'a-00000000.jsonl'), '');
    expect(await verifyReceipts(dir, { publicKey })).toMatchObject({
      ok: true,
      count: 0,
      head: null,
    });
  });

  it('tells of a torn tail without calling it a problem', async () => {
    const path = await writeReceipts(testFolder(), 3);
    appendFileSync(path, '{"torn');

    expect(await verifyReceipts(path, { publicKey })).toMatchObject({
      ok: true,
      tornTail: { line: 6, bytes: 6 },
      problems: [],
    });
  });

  it('finds an empty folder: whoever verifies the wrong path must not be told that all is well', async () => {
    const dir = testFolder();

    expect(await verifyReceipts(dir)).toMatchObject({
      ok: false,
      count: 0,
      head: null,
      problems: [{ file: dir, line: 1, kind: 'empty' }],
    });
  });

  it('is mended from a cut at any place, and loses no line before it', async () => {
    const dir = testFolder();
    const places = howMany(50, 200);
    const sink = testSink(dir, { checkpointEvery: 100 });
    for (let nth = 1; nth <= 12; nth += 1) await sink(makeReceipt({ tool_call_id: `c${nth}` }));
    const [path = ''] = receiptFiles(dir);
    const whole = readFileSync(path);

    for (let nth = 0; nth < places; nth += 1) {
      const copy = testFolder();
      cpSync(dir, copy, { recursive: true });
      const file = path.replace(dir, copy);
      // As a kill leaves it: never closed, and nobody at work.
      rmSync(file.replace('.jsonl', '.lock'));
      const cut = Math.floor((whole.length * nth) / places);
      truncateSync(file, cut);
      await testSinkOnce(copy, 'session-1');
      expect(await verifyReceipts(copy, { publicKey })).toMatchObject({ problems: [] });
      const kept = whole.subarray(0, completeLength(whole.subarray(0, cut)));
      expect(readFileSync(file).subarray(0, kept.length).equals(kept)).toBe(true);
    }
    await sink.close();
  });
});

describe('verifyReceipts on hostile content', () => {
  it.each([
    ['nothing', ''],
    ['line feeds', '\n'.repeat(5000)],
    ['a long line', `${'x'.repeat(3_000_000)}\n{}\n`],
    ['a line without end', 'x'.repeat(3_000_000)],
    ['binary', '\0\xff'.repeat(1000)],
    ['deep JSON', `${'['.repeat(100_000)}\n`],
    ['JSON that is no receipt', '{"schema_version":1,"record":"receipt"}\nnull\n7\n'],
    ['a place without a receipt', chainLine('{"record":"x"', 1, GENESIS).text],
    [
      'a checkpoint without anything',
      chainLine('{"schema_version":1,"record":"checkpoint","x":1', 0, GENESIS).text,
    ],
  ])('does not throw for %s, with a key or without', async (_name, content) => {
    const path = join(testFolder(), 'hostile.jsonl');
    writeFileSync(path, content, 'latin1');

    const reports = [await verifyReceipts(path), await verifyReceipts(path, { publicKey })];

    expect(
      reports.map(({ ok, tornTail }) => ok && tornTail === undefined && content !== ''),
    ).toEqual([false, false]);
    for (const { problems } of reports) expect(problems.length).toBeLessThanOrEqual(1001);
  });

  it('does not throw for a folder where a file should be', async () => {
    const dir = testFolder();
    mkdirSync(join(dir, 'a.jsonl'));
    mkdirSync(join(dir, 'a.head'));

    expect((await verifyReceipts(dir)).problems.map(({ kind }) => kind)).toContain('unreadable');
  });

  it.each(['gone.jsonl', '', 'x.log'])('throws a typed error for %j', async (name) => {
    const dir = testFolder();
    if (name === 'x.log') writeFileSync(join(dir, name), '');

    await expect(verifyReceipts(name === '' ? '' : join(dir, name))).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
    });
  });

  it.each([
    { publicKey: 'x' },
    { publicKey: [] },
    { atLeast: -1 },
    { atLeast: { count: 1 } },
    { other: 1 },
  ])('refuses the options %j', async (options) => {
    // Deliberately wrong.
    await expect(verifyReceipts(testFolder(), options as object)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
    });
  });
});

const hashOf = (line = '') => (JSON.parse(line) as { hash: string }).hash;
const openOf = (line = '') => line.slice(0, line.lastIndexOf(',"seq":'));

async function testSinkOnce(dir: string, sessionId: string): Promise<void> {
  const sink = testSink(dir);
  await sink(makeReceipt({ session_id: sessionId }));
  await sink.close();
}
