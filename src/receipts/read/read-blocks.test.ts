import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linesOf, readBlocks } from './read-blocks.ts';
import { testFolder } from '../receipts.fixture.ts';

async function read(content: string): Promise<readonly (string | number)[]> {
  const path = join(testFolder(), 'x');
  writeFileSync(path, content);
  const found: (string | number)[] = [];
  for await (const block of readBlocks(path)) {
    if (block.kind === 'lines')
      found.push(...[...linesOf(block.bytes)].map((line) => line.toString()));
    else found.push(block.kind, block.kind === 'unreadable' ? 0 : block.length);
  }
  return found;
}

const MIB = 1024 * 1024;

describe('readBlocks', () => {
  it('gives every line once, also those that lie across two pieces', async () => {
    const lines = Array.from({ length: 40 }, (_, nth) => `${nth}`.repeat(40_000 + nth * 997));

    expect(await read(`${lines.join('\n')}\n`)).toEqual(lines);
  });

  it.each([
    ['', []],
    ['\n', ['']],
    ['a\nb', ['a', 'rest', 1]],
    [`a\n${'x'.repeat(3 * MIB)}\nb\nc`, ['a', 'too_long', 3 * MIB + 1, 'b', 'rest', 1]],
    ['x'.repeat(3 * MIB), ['rest', 3 * MIB]],
    [`${'x'.repeat(3 * MIB)}\n`, ['too_long', 3 * MIB + 1]],
    [`${'x'.repeat(MIB)}\n${'y'.repeat(MIB)}\n`, ['x'.repeat(MIB), 'y'.repeat(MIB)]],
  ])('takes a file apart (case %#)', async (content, expected) => {
    expect(await read(content)).toEqual(expected);
  });

  it('says that there is nothing to read', async () => {
    const blocks: unknown[] = [];
    for await (const block of readBlocks(testFolder())) blocks.push(block);

    expect(blocks).toEqual([{ kind: 'unreadable' }]);
  });
});
