import { execFile } from 'node:child_process';
import { link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { safeName } from '../../system/state-folder.ts';
import { fileOutputs, type ReadableOutputs } from './output-files.ts';

const SESSION = 'session-1';
const MEDIA = 'text/plain';
const SECRET = 'what nobody kept aside';

let root = '';
let outputs: ReadableOutputs;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'allium-slices-'));
  outputs = fileOutputs(join(root, 'outputs'));
});
afterEach(() => rm(root, { recursive: true }));

const write = (text: string, sessionId = SESSION) =>
  outputs.write({ sessionId, text, mediaType: MEDIA });
const read = (id: string, offset = 0, length = 1000, sessionId = SESSION) =>
  outputs.read({ sessionId, id, offset, length });

describe('reading an output file', () => {
  it('takes its digest or its address, and gives it back', async () => {
    const { sha256, uri } = await write('kept aside');

    expect(await read(sha256)).toEqual({ text: 'kept aside', offset: 0, end: 10, bytes: 10 });
    expect(await read(uri)).toEqual(await read(sha256));
  });

  it('is not confused by a folder that looks like a digest', async () => {
    outputs = fileOutputs(join(root, 'f'.repeat(64)));
    const { uri } = await write('kept aside');

    expect(await read(uri)).toMatchObject({ text: 'kept aside' });
  });

  it.each([
    [0, 4, 'aé', 0, 3],
    [0, 7, 'aé😀', 0, 7],
    [2, 4, 'é', 1, 3],
    [3, 4, '😀', 3, 7],
    [6, 4, '😀', 3, 7],
    [6, 5, '😀b', 3, 8],
    [7, 100, 'b', 7, 8],
    [8, 100, '', 8, 8],
    [1e9, 100, '', 8, 8],
    [-5, 4, 'aé', 0, 3],
    [Number.NaN, Number.NaN, 'aé', 0, 3],
    [0, 0, 'aé', 0, 3],
    [0, Number.POSITIVE_INFINITY, 'aé😀b', 0, 8],
  ])('from %d, %d bytes: %j', async (offset, length, text, begin, end) => {
    const { sha256 } = await write('aé😀b');

    expect(await read(sha256, offset, length)).toEqual({ text, offset: begin, end, bytes: 8 });
  });

  it('gives a megabyte at a time at most', async () => {
    const { sha256 } = await write('x'.repeat(3_000_000));

    expect((await read(sha256, 0, 1e12))?.end).toBe(1_048_576);
  });

  it('finds nothing of another session, by digest or by address', async () => {
    const { sha256, uri } = await write(SECRET, 'theirs');

    expect([await read(sha256), await read(uri)]).toEqual([null, null]);
  });

  it('keeps the same text of two sessions apart', async () => {
    const { sha256, uri } = await write('same');
    await write('same', 'theirs');

    expect(await read(sha256, 0, 1000, 'theirs')).toMatchObject({ text: 'same' });
    expect(await read(uri, 0, 1000, 'theirs')).toBeNull();
  });
});

describe('reading an output file finds nothing', () => {
  const digest = 'a'.repeat(64);
  const plant = async (sessionId = SESSION): Promise<string> => {
    const home = join(root, 'outputs', safeName(sessionId));
    await mkdir(home, { recursive: true });
    return home;
  };

  it.each([
    '../../etc/passwd',
    '/etc/passwd',
    'file:///etc/passwd',
    '',
    '..',
    `../${digest}`,
    `${digest}.txt`,
    `${digest}\n`,
    `x${digest}`,
    `./${digest}`,
    digest.toUpperCase(),
    'A'.repeat(1000),
    'é'.repeat(64),
  ])('under %j, though a file lies there', async (id) => {
    const home = await plant();
    await Promise.all(
      [join(home, `${digest}.txt`), join(home, '..', `${digest}.txt`)].map((path) =>
        writeFile(path, SECRET),
      ),
    );

    expect(await read(id)).toBeNull();
    expect(await read(digest)).toMatchObject({ text: SECRET });
  });

  it('where a link lies, and where the folder is one', async () => {
    const { uri, sha256 } = await write('kept aside');
    const path = fileURLToPath(uri);
    const elsewhere = join(root, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, `${sha256}.txt`), SECRET);
    await rm(path);
    await symlink(join(elsewhere, `${sha256}.txt`), path);
    expect(await read(sha256)).toBeNull();

    await rename(join(path, '..'), join(root, 'moved'));
    await symlink(elsewhere, join(path, '..'));
    expect(await read(sha256)).toBeNull();
  });

  it('where a second name of another file lies, a folder, or a pipe', async () => {
    const home = await plant();
    const [linked, folder, pipe] = ['b', 'c', 'd'].map((letter) => letter.repeat(64)) as [
      string,
      string,
      string,
    ];
    await writeFile(join(root, 'secret'), SECRET);
    await link(join(root, 'secret'), join(home, `${linked}.txt`));
    await mkdir(join(home, `${folder}.txt`));
    await promisify(execFile)('mkfifo', [join(home, `${pipe}.txt`)]);

    expect([await read(linked), await read(folder), await read(pipe)]).toEqual([null, null, null]);
  });

  it('before anything was written', async () => {
    expect(await read(digest)).toBeNull();
  });
});
