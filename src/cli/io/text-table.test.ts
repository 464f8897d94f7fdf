import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderTable, safeText } from './text-table.ts';

const columns = [{ title: 'tool' }, { title: 'ms', align: 'right' }, { title: 'note' }] as const;
const widthsOf = (table: string) => table.split('\n').map((line) => stringWidth(line));

describe('renderTable', () => {
  it('lines up its columns and leaves no space at the end of a line', () => {
    const table = renderTable(columns, [
      ['send', '7', 'fine'],
      ['search_all', '1200', ''],
    ]);

    expect(table.split('\n')).toEqual([
      'tool          ms  note',
      'send           7  fine',
      'search_all  1200',
    ]);
  });

  it('counts columns of the terminal and not characters', () => {
    const table = renderTable(
      [{ title: 'a' }, { title: 'b' }],
      [
        ['漢字', 'x'],
        ['👍', 'y'],
      ],
    );

    expect(table.split('\n')).toEqual(['a     b', '漢字  x', '👍    y']);
  });

  it('is only a heading without rows, and takes a short row as it is', () => {
    expect(renderTable(columns, [])).toBe('tool  ms  note');
    expect(renderTable(columns, [['send']])).toBe('tool  ms  note\nsend');
    expect(renderTable([], [])).toBe('');
  });

  it('takes the room from the widest column first', () => {
    const table = renderTable(columns, [['a'.repeat(10), '1', 'b'.repeat(100)]], { width: 40 });

    expect(table.split('\n')[1]).toBe(`${'a'.repeat(10)}   1  ${'b'.repeat(23)}…`);
    expect(widthsOf(table)[1]).toBe(40);
  });

  it('min keeps a column from getting narrower', () => {
    const table = renderTable(
      [{ title: 'id', min: 12 }, { title: 'note' }],
      [['a'.repeat(12), 'b'.repeat(100)]],
      { width: 18 },
    );

    expect(table.split('\n')[1]).toBe(`${'a'.repeat(12)}  bbb…`);
  });

  it.each([1, 2, 3, 7, 12, 13, 40])('is never wider than %d', (width) => {
    const rows = [
      ['漢'.repeat(50), '9'.repeat(50), '👍'.repeat(50)],
      ['x', 'y', 'z'.repeat(100_000)],
    ];

    expect(Math.max(...widthsOf(renderTable(columns, rows, { width })))).toBeLessThanOrEqual(width);
  });

  it('cuts no character in two', () => {
    expect(renderTable([{ title: 'a' }], [['漢字漢字']], { width: 6 }).split('\n')[1]).toBe(
      '漢字…',
    );
    expect(renderTable([{ title: 'a' }], [['漢字漢']], { width: 6 }).split('\n')[1]).toBe('漢字漢');
  });

  it('cuts nothing without a width, or with the 0 of a terminal that does not know', () => {
    const long = 'x'.repeat(5000);

    expect(renderTable([{ title: 'a' }], [[long]])).toBe(`a\n${long}`);
    expect(renderTable([{ title: 'a' }], [[long]], { width: 0 })).toBe(`a\n${long}`);
  });

  it('has bold titles with colours and no escape without', () => {
    expect(renderTable(columns, [['a', 'b', 'c']], { colour: true }).split('\n')).toEqual([
      '\u001b[1mtool  ms  note\u001b[22m',
      'a      b  c',
    ]);
    expect(renderTable(columns, [['a', 'b', 'c']])).not.toContain('\u001b');
  });

  it('keeps a hostile cell on its line and away from the terminal', () => {
    const hostile = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202eevil\r\nfake  0  fine\u200b';
    const table = renderTable(columns, [[hostile, hostile, hostile]], { colour: true });

    expect(table.split('\n')).toHaveLength(2);
    expect(table.split('\n')[1]).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(table).toContain('\\u{1b}[2J');
  });

  it('renders a hostile heading as harmlessly as a cell', () => {
    expect(renderTable([{ title: 'a\u001b[2J' }], [])).toBe('a\\u{1b}[2J');
  });
});

describe('safeText', () => {
  it('shows what a terminal would act upon', () => {
    expect(safeText('a\u001b[31m\tb\nc\u202e')).toBe('a\\u{1b}[31m\\u{9}b\\u{a}c\\u{202e}');
  });

  it('leaves ordinary text alone', () => {
    expect(safeText('Größe 漢字 हिन्दी 👍 "x"')).toBe('Größe 漢字 हिन्दी 👍 "x"');
  });
});
