import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  addChainedLine,
  addLine,
  type BatchBytes,
  bytesOf,
  giveBackBytes,
  joinedLines,
  openLines,
  takeBytes,
} from './render-batch.ts';
import { asciiJson, chainLine, GENESIS } from '../receipt-line.ts';

/** The same lines as one text, and the hash of the last. */
function asText(receipts: readonly string[]): { text: string; head: string } {
  let [text, head] = ['', GENESIS];
  receipts.forEach((open, nth) => {
    const line = chainLine(open, nth + 1, head);
    [text, head] = [text + line.text, line.hash];
  });
  return { text, head };
}

/** Adds a receipt that stands between others. */
function addChained(lines: BatchBytes, open: string, seq: number, prevHash: string): string {
  const { buffer, ends } = openLines('{"other":1', open, '{"other":2');
  return addChainedLine(lines, buffer, ends[0] ?? 0, ends[1] ?? 0, seq, prevHash);
}

const openObject = fc
  .string({ unit: 'binary', maxLength: 5000 })
  .map((reason) => asciiJson({ reason }).slice(0, -1));

describe('batch bytes', () => {
  it('hold the lines that chainLine makes, whatever is in them and however many there are', () => {
    fc.assert(
      fc.property(fc.array(openObject, { maxLength: 20 }), fc.nat(30), (receipts, guess) => {
        const lines = takeBytes(guess);
        let head = GENESIS;
        receipts.forEach((open, nth) => (head = addChained(lines, open, nth + 1, head)));
        const found = { text: bytesOf(lines).toString('latin1'), head };
        giveBackBytes(lines);

        expect(found).toEqual(asText(receipts));
      }),
    );
  });

  it('grow for a line that is longer than all before', () => {
    const lines = takeBytes(1);
    addLine(lines, 'first\n');
    addLine(lines, `${'x'.repeat(4 * 1024 * 1024)}\n`);
    addLine(lines, 'last\n');

    expect(bytesOf(lines).toString('latin1')).toBe(`first\n${'x'.repeat(4 * 1024 * 1024)}\nlast\n`);
    giveBackBytes(lines);
  });

  it('have room for the longest number', () => {
    const lines = takeBytes(0);
    const open = `{"reason":"${'x'.repeat(40)}"`;
    const hash = addChained(lines, open, Number.MAX_SAFE_INTEGER, GENESIS);

    expect({ text: bytesOf(lines).toString('latin1'), hash }).toEqual(
      chainLine(open, Number.MAX_SAFE_INTEGER, GENESIS),
    );
  });

  it('are nobody else’s until they are given back', () => {
    const [one, other] = [takeBytes(1), takeBytes(1)];
    addLine(one, 'one\n');
    addLine(other, 'other\n');

    expect(bytesOf(one).toString('latin1')).toBe('one\n');
    expect(bytesOf(other).toString('latin1')).toBe('other\n');
  });

  it('begin empty, also where others have been', () => {
    const before = takeBytes(4);
    addLine(before, 'what another session wrote\n');
    giveBackBytes(before);
    const after = takeBytes(4);
    addLine(after, 'mine\n');

    expect(bytesOf(after).toString('latin1')).toBe('mine\n');
  });
});

describe('receipts that are left', () => {
  it('stand before those that came later, each as it was', () => {
    const left = joinedLines(openLines('{"a":1', '{"b":22', '{"c":333'), 1, openLines('{"d":4'));

    expect(bytesOf(left).toString('latin1')).toBe('{"b":22{"c":333{"d":4');
    expect(left.ends).toEqual([7, 15, 21]);
    expect(joinedLines(left, 2, null).ends).toEqual([6]);
  });
});
