import { describe, expect, it } from 'vitest';
import { hashDefinition } from './definition-hash.ts';
import { changesFromPin, judgeDefinition, reconcilePins } from './judge-definition.ts';
import { acceptPin, forgetPin, type PinBook } from './pin-book.ts';
import { bookOf, NOW, toolOf } from './pins.fixture.ts';

const verdictOf = (book: PinBook | null, changes: object = {}) =>
  judgeDefinition(book, toolOf(changes)).verdict;
const see = (
  book: PinBook | null,
  tools: readonly object[],
  more: { pinsNew?: boolean; listed?: readonly string[] } = {},
) =>
  reconcilePins(book, {
    source: 'files',
    tools: tools.map(toolOf),
    pinsNew: true,
    listed: null,
    now: NOW,
    ...more,
  });

describe('judgeDefinition', () => {
  const book = bookOf(toolOf());

  it('takes what it was for pinned, and a source without pins for the first time', () => {
    expect(verdictOf(book)).toBe('pinned');
    expect(verdictOf(null)).toBe('first');
  });

  it.each([
    ['description', { description: 'Reads a file of the project. ' }],
    ['input schema', { inputSchema: { type: 'object' } }],
    ['output schema', { outputSchema: null }],
    ['annotations', { annotations: { readOnly: true } }],
  ])('takes another %s for a change', (_part, changes) => {
    expect(verdictOf(book, changes)).toBe('changed');
    expect(
      changesFromPin(judgeDefinition(book, toolOf(changes)), toolOf(changes)).length,
    ).toBeGreaterThan(0);
  });

  it.each([
    'Read_File',
    'READ_FILE',
    'read-file',
    'read.file',
    'read_fi1e',
    'read_fIle',
    'read_\uff46ile',
  ])('does not take %s for a new tool', (name) => {
    const tool = toolOf({ name, description: 'Something else.' });

    expect(judgeDefinition(book, tool)).toMatchObject({
      verdict: 'look_alike',
      pin: { toolName: 'read_file' },
    });
    expect(changesFromPin(judgeDefinition(book, tool), tool)[0]).toMatch(/^name: /);
  });

  it('does not take a tool for new that has the description of another one', () => {
    expect(verdictOf(book, { name: 'look' })).toBe('renamed');
    expect(
      verdictOf(book, {
        name: 'look',
        description: ' Reads a file of the project.\n',
        inputSchema: {},
      }),
    ).toBe('renamed');
    expect(verdictOf(book, { name: 'look', description: 'Looks.' })).toBe('new');
    expect(verdictOf(bookOf(toolOf({ description: '' })), { name: 'look', description: '' })).toBe(
      'new',
    );
  });

  it('has nothing good to say about what has no canonical form', () => {
    expect(judgeDefinition(book, toolOf({ description: '\ud800' }))).toMatchObject({
      verdict: 'unreadable',
      hash: null,
    });
    expect(verdictOf(null, { description: '\ud800' })).toBe('unreadable');
  });

  it.each(['constructor', '__proto__', 'toString', '../x', 'a'.repeat(128)])(
    'takes %s for a name',
    (name) => {
      expect(verdictOf(book, { name, description: 'Other.' })).toBe('new');
      expect(verdictOf(bookOf(toolOf({ name })), { name })).toBe('pinned');
      expect(verdictOf(bookOf(toolOf({ name })), { name, description: 'Other.' })).toBe('changed');
    },
  );
});

describe('reconcilePins', () => {
  it('pins everything that is there first, tools that look alike too', () => {
    const book = see(null, [{}, { name: 'Read_File' }], { pinsNew: false });

    expect(book?.pins).toMatchObject([
      {
        toolName: 'read_file',
        source: 'files',
        hash: hashDefinition(toolOf()),
        pinnedAt: '2026-01-01T00:00:00.000Z',
        acceptedBy: null,
      },
      { toolName: 'Read_File' },
    ]);
  });

  it('changes nothing where nothing changed', () => {
    const book = bookOf(toolOf());

    expect(see(book, [{}], { listed: ['read_file'] })).toBe(book);
    expect(see(null, [{ description: '\ud800' }])).toBeNull();
  });

  it('pins new ones, or lets them wait', () => {
    const look = { name: 'look', description: 'Looks.' };

    expect(see(bookOf(toolOf()), [look])?.pins).toHaveLength(2);
    expect(see(bookOf(toolOf()), [look], { pinsNew: false })).toMatchObject({
      pins: [{ toolName: 'read_file' }],
      held: [{ toolName: 'look' }],
    });
  });

  it('lets a change wait, the last one of each tool, and keeps the pin', () => {
    const once = see(bookOf(toolOf()), [{ description: 'One.' }]);
    const twice = see(once, [{ description: 'Two.' }]);

    expect(see(once, [{ description: 'One.' }])).toBe(once);
    expect(twice?.held).toMatchObject([{ definition: { description: 'Two.' } }]);
    expect(twice?.pins).toMatchObject([
      { definition: { description: 'Reads a file of the project.' } },
    ]);
  });

  it('has nothing waiting for a tool that went back', () => {
    const changed = see(bookOf(toolOf()), [{ description: 'One.' }]);

    expect(see(changed, [{}])?.held).toEqual([]);
  });

  it('knows which tools are no longer there', () => {
    const gone = see(bookOf(toolOf()), [], { listed: ['look'] });

    expect(gone?.missing).toEqual(['read_file']);
    expect(see(gone, [], { listed: ['look'] })).toBe(gone);
    expect(see(gone, [{}], { listed: ['read_file'] })?.missing).toEqual([]);
  });
});

describe('acceptPin and forgetPin', () => {
  const changed = see(bookOf(toolOf()), [{ description: 'One.' }]) as PinBook;

  it('trust what waited, and say who said so', () => {
    const after = acceptPin(changed, 'read_file', { acceptedBy: 'ana' }, NOW);

    expect(after).toMatchObject({
      pins: [{ acceptedBy: 'ana', definition: { description: 'One.' } }],
      held: [],
    });
  });

  it('accept nothing else than what was named', () => {
    const hash = hashDefinition(toolOf({ description: 'One.' }));

    expect(
      acceptPin(changed, 'read_file', { acceptedBy: 'ana', hash: hashDefinition(toolOf()) }, NOW),
    ).toBeNull();
    expect(acceptPin(changed, 'read_file', { acceptedBy: 'ana', hash }, NOW)).not.toBeNull();
    expect(acceptPin(changed, 'constructor', { acceptedBy: 'ana' }, NOW)).toBeNull();
  });

  it('make a tool a new one again', () => {
    const after = forgetPin(changed, 'read_file') as PinBook;

    expect(after).toMatchObject({ pins: [], held: [] });
    expect(verdictOf(after)).toBe('new');
    expect(forgetPin(after, 'read_file')).toBeNull();
  });
});
