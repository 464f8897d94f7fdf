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
import { built, started } from '../stores/built.fixture.ts';
import { type FilePins, filePins, memoryPins } from './pin-stores.ts';
import { judgeDefinition, reconcilePins } from './judge-definition.ts';
import { emptyBook, type PinBook, type PinStore } from './pin-book.ts';
import { NOW, toolOf } from './pins.fixture.ts';

let dir = '';
beforeEach(() => void (dir = join(mkdtempSync(join(tmpdir(), 'allium-pins-')), 'pins')));
afterEach(() => rmSync(dirname(dir), { recursive: true, force: true }));

const pin = async (store: PinStore, changes: object = {}, source = 'files') =>
  store.update(source, (book) =>
    reconcilePins(book, {
      source,
      tools: [toolOf(changes)],
      pinsNew: true,
      listed: null,
      now: NOW,
    }),
  );
const onlyFile = () => join(dir, readdirSync(dir)[0] ?? '');
const contentOf = () =>
  JSON.parse(readFileSync(onlyFile(), 'utf8')) as { pins: [Record<string, unknown>] };
const edited = (changes: object) =>
  writeFileSync(onlyFile(), JSON.stringify({ ...contentOf(), ...changes }));
const editedPin = (changes: object) => edited({ pins: [{ ...contentOf().pins[0], ...changes }] });

describe.each<readonly [string, () => PinStore]>([
  ['memoryPins', memoryPins],
  ['filePins', () => filePins({ dir })],
])('%s', (_name, create) => {
  it('keeps what it is given, and each source apart', async () => {
    const store = create();
    const book = await pin(store);
    await pin(store, { description: 'Other.' }, 'other');

    expect(store.read('files')).toEqual(book);
    expect(judgeDefinition(store.read('files'), toolOf()).verdict).toBe('pinned');
    expect(judgeDefinition(store.read('other'), toolOf()).verdict).toBe('changed');
    expect(store.read('elsewhere')).toBeNull();
  });

  it('hands the book on to whoever changes it, and keeps nothing where nothing changes', async () => {
    const store = create();
    const book = await pin(store);

    expect(await store.update('files', (before) => before)).toEqual(book);
    expect(await store.update('none', () => null)).toBeNull();
  });

  it.each(['constructor', '__proto__', '../x', 'a/b', 'a'.repeat(10_000), '\u0000'])(
    'takes %j for the name of a source',
    async (source) => {
      const store = create();
      await pin(store, {}, source);

      expect(store.read(source)?.source).toBe(source);
      expect(existsSync(join(dirname(dir), 'x.pins'))).toBe(false);
    },
  );

  it('takes no pins of another source, and none that it could not read again', async () => {
    const store = create();
    const wrong: readonly unknown[] = [
      emptyBook('other'),
      { source: 'files' },
      { ...emptyBook('files'), pins: [{}] },
    ];

    for (const book of wrong)
      await expect((async () => store.update('files', () => book as PinBook))()).rejects.toThrow(
        'no pins',
      );
    expect(store.read('files')).toBeNull();
  });
});

describe('filePins', () => {
  it('hands pins from one process to the next, definitions with odd members too', async () => {
    const inputSchema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}',
    ) as object;
    await pin(filePins({ dir }), { inputSchema });

    expect(judgeDefinition(filePins({ dir }).read('files'), toolOf({ inputSchema })).verdict).toBe(
      'pinned',
    );
  });

  it('keeps files that only their owner can read, under names that tell nothing', async () => {
    await pin(filePins({ dir }));

    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.pins$/)]);
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
  });

  it('makes no folder for looking', () => {
    const store = filePins({ dir });

    expect([store.read('files'), store.list(), store.problems()]).toEqual([null, [], []]);
    expect(existsSync(dir)).toBe(false);
  });

  it('sees what another process wrote', async () => {
    const [one, other] = [filePins({ dir }), filePins({ dir })];
    await pin(one);
    expect(other.read('files')?.pins).toHaveLength(1);
    await pin(one, { name: 'look', description: 'Looks.' });

    expect(other.read('files')?.pins).toHaveLength(2);
    rmSync(onlyFile());
    expect(other.read('files')).toBeNull();
  });

  it.each<readonly [string, () => void]>([
    ['empty', () => writeFileSync(onlyFile(), '')],
    [
      'half written',
      () => writeFileSync(onlyFile(), readFileSync(onlyFile(), 'utf8').slice(0, 100)),
    ],
    ['a list', () => writeFileSync(onlyFile(), '[]')],
    ['null', () => writeFileSync(onlyFile(), 'null')],
    [
      'nested without end',
      () =>
        writeFileSync(
          onlyFile(),
          `{"version":1,"pins":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
        ),
    ],
    ['of another version', () => edited({ version: 2 })],
    ['of another source', () => edited({ source: 'other' })],
    ['with a field more', () => edited({ more: true })],
    ['without a field', () => edited({ held: undefined })],
    [
      'with two pins of one tool',
      () => edited({ pins: [contentOf().pins[0], contentOf().pins[0]] }),
    ],
    ['with a hash of something else', () => editedPin({ hash: `sha256:${'0'.repeat(64)}` })],
    [
      'with a definition of something else',
      () => editedPin({ definition: toolOf({ description: 'Other.' }) }),
    ],
    ['with a definition of another tool', () => editedPin({ toolName: 'write_file' })],
    ['with a time that is none', () => editedPin({ pinnedAt: 'yesterday' })],
    ['with a pin of another source', () => editedPin({ source: 'other' })],
    ['accepted by nobody', () => editedPin({ acceptedBy: '' })],
    ['open to others', () => chmodSync(onlyFile(), 0o644)],
    ['in a folder open to others', () => chmodSync(dir, 0o755)],
    ['behind a link', () => relinked()],
    ['a folder', () => remade()],
  ])('reads no pins from a file that is %s, and writes none over it', async (_name, spoil) => {
    const store = filePins({ dir });
    await pin(store);
    expect(store.read('files')).not.toBeNull();
    spoil();

    expect(() => store.read('files')).toThrow();
    await expect(pin(store)).rejects.toThrow();
    expect(namedBy(store)).toEqual([[], 1]);
  });

  it('does not take a copy of a file for the pins of another source', async () => {
    const store = filePins({ dir });
    await pin(store, {}, 'other');
    const other = onlyFile();
    await pin(store);
    const files = readdirSync(dir).map((name) => join(dir, name));
    copyFileSync(files.find((path) => path !== other) ?? '', other);

    expect(() => store.read('other')).toThrow('holds no pins');
    expect(store.read('files')).not.toBeNull();
  });

  it('says of a file that nests without end what it says of others', async () => {
    await pin(filePins({ dir }));
    writeFileSync(onlyFile(), `{"version":1,"pins":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);

    expect(() => filePins({ dir }).read('files')).toThrow('holds no pins');
  });

  it('goes on with other sources', async () => {
    const store = filePins({ dir });
    await pin(store);
    writeFileSync(onlyFile(), '');
    await pin(store, {}, 'other');

    expect(store.list().map(({ source }) => source)).toEqual(['other']);
    expect(store.problems()).toHaveLength(1);
  });

  it.each([[null], [{ dir: '' }], [{ dir: 'a', clock: 1 }], [{ folder: 'a' }]])(
    'refuses %j',
    (options) => {
      expect(() => filePins(options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
      );
    },
  );
});

describe('processes that are the first at the same time', () => {
  it('agree on one pin', async () => {
    const program = built('src/pins/pin-process.fixture.ts');
    const all = ['One.', 'Two.', 'Three.'].map((description) =>
      started(program, [dir, description]),
    );
    await Promise.all(all.map(({ said }) => said));
    for (const { child } of all) child.stdin?.write('go\n');
    const answers = (await Promise.all(all.map(({ ended }) => ended))).map(
      (output) => output.trim().split('\n')[1],
    );

    expect(new Set(answers).size).toBe(1);
    expect(filePins({ dir }).read('files')).toMatchObject({
      pins: [{ definition: { description: answers[0] } }],
      held: [{}],
    });
    expect(readdirSync(dir)).toHaveLength(1);
  }, 60_000);
});

/**
 * What is listed and how many files are named. A folder that cannot be used is named by throwing.
 */
function namedBy(store: FilePins): readonly [readonly PinBook[], number] {
  try {
    return [store.list(), store.problems().length];
  } catch {
    return [[], 1];
  }
}

function relinked(): void {
  const file = onlyFile();
  copyFileSync(file, `${dir}.copy`);
  rmSync(file);
  symlinkSync(`${dir}.copy`, file);
}

function remade(): void {
  const file = onlyFile();
  rmSync(file);
  mkdirSync(file);
}
