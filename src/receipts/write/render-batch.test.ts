import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  addLine,
  type Batch,
  type ChainRules,
  giveBackLines,
  joinedLines,
  openLines,
  type ReceiptLines,
  renderBatch,
} from './render-batch.ts';
import { type ChainEnd, NEW_CHAIN } from './open-chain.ts';
import { createSigner } from '../checkpoint.ts';
import { asciiJson, chainLine, digestOf, GENESIS } from '../receipt-line.ts';
import { signingKey } from '../receipts.fixture.ts';

const RULES: ChainRules = {
  chain: 'session',
  signer: createSigner('test', signingKey),
  checkpointEvery: 1_000_000,
  checkpointMs: 1000,
  maxFileBytes: 1e9,
  clock: { now: () => 0 },
};

/** The end of a chain whose last line is a checkpoint: no other is due. */
const signedAt = (count: number, head = GENESIS): ChainEnd => ({
  ...NEW_CHAIN,
  due: false,
  signedAt: 0,
  count,
  head,
});

/** The same lines as one text, and the hash of the last. */
function asText(receipts: readonly string[], from: ChainEnd): { text: string; head: string } {
  let [text, { head }] = ['', from];
  receipts.forEach((open, nth) => {
    const line = chainLine(open, from.count + nth + 1, head);
    [text, head] = [text + line.text, line.hash];
  });
  return { text, head };
}

/** The lines of receipts that come behind `count` others. */
function linesOf(receipts: readonly string[], count = 0): ReceiptLines {
  const lines = openLines();
  receipts.forEach((open, nth) =>
    addLine(lines, Buffer.from(`${open}not this`), open.length, count + nth + 1),
  );
  return lines;
}

const found = ({ bytes, end: { head } }: Batch) => ({ text: bytes.toString('latin1'), head });

const openObject = fc
  .string({ unit: 'binary', maxLength: 5000 })
  .map((reason) => asciiJson({ reason }).slice(0, -1));
const openObjects = fc.array(openObject, { minLength: 1, maxLength: 20 });

describe('a batch', () => {
  it('holds the lines that chainLine makes, whatever is in them and however many there are', () => {
    fc.assert(
      fc.property(openObjects, fc.nat(1e9), (receipts, count) => {
        const lines = linesOf(receipts, count);
        const batch = found(renderBatch(RULES, signedAt(count), lines, 0));
        giveBackLines(lines);

        expect(batch).toEqual(asText(receipts, signedAt(count)));
      }),
    );
  });

  it('is the same behind another line, also where it was rendered before', () => {
    fc.assert(
      fc.property(openObjects, fc.string(), (receipts, before) => {
        const lines = linesOf(receipts);
        const from = signedAt(0, digestOf(before));
        renderBatch(RULES, signedAt(0), lines, 0);
        const batch = found(renderBatch(RULES, from, lines, 0));
        giveBackLines(lines);

        expect(batch).toEqual(asText(receipts, from));
      }),
    );
  });

  it('begins with any receipt, and leaves those before it as they are', () => {
    const receipts = ['{"a":1', '{"b":22', '{"c":333'];
    const lines = linesOf(receipts);
    const { end } = renderBatch(RULES, signedAt(0), linesOf(receipts.slice(0, 1)), 0);

    expect(found(renderBatch(RULES, { ...end, signedAt: 0 }, lines, 1))).toEqual(
      asText(receipts.slice(1), end),
    );
  });

  it('has its checkpoints where they are due, each behind what it signs', () => {
    const rules = { ...RULES, checkpointEvery: 2 };
    const receipts = Array.from({ length: 5 }, (_, nth) => `{"nth":${nth}`);
    const { bytes, end, checkpoint } = renderBatch(rules, NEW_CHAIN, linesOf(receipts), 0);
    const written = bytes.toString('latin1').split('\n').slice(0, -1);

    expect(
      written.map((line) => /"record":"checkpoint"|"nth":\d/.exec(line)?.[0].slice(-1)),
    ).toEqual(['"', '0', '1', '"', '2', '3', '"', '4']);
    expect(`${written[6]}\n`).toBe(checkpoint);
    expect(end).toMatchObject({ count: 5, unsigned: 1, size: bytes.length });
    written.reduce((head, line) => {
      expect(line).toContain(`"prev_hash":"${head}"`);
      return digestOf(line.slice(0, line.lastIndexOf(',"hash"')));
    }, GENESIS);
  });

  it('has room for a line that is longer than all before', () => {
    const receipts = ['{"first":1', `{"x":"${'x'.repeat(4 * 1024 * 1024)}"`, '{"last":1'];
    const lines = linesOf(receipts);
    const first = renderBatch(RULES, signedAt(0), lines, 0);
    const second = renderBatch(RULES, first.end, lines, first.taken);

    expect(first.taken).toBe(2);
    expect(found(first).text + found(second).text).toBe(asText(receipts, signedAt(0)).text);
    giveBackLines(lines);
  });

  it('has room for the longest number', () => {
    const open = `{"reason":"${'x'.repeat(40)}"`;
    const from = signedAt(Number.MAX_SAFE_INTEGER - 1);

    expect(found(renderBatch(RULES, from, linesOf([open], from.count), 0))).toEqual(
      asText([open], from),
    );
  });
});

describe('lines', () => {
  const rendered = (lines: ReceiptLines) => found(renderBatch(RULES, signedAt(0), lines, 0)).text;
  const textOf = (open: string) => asText([open], signedAt(0)).text;

  it('are nobody else’s until they are given back', () => {
    const [one, other] = [linesOf(['{"one":1']), linesOf(['{"other":2'])];

    expect(rendered(one)).toBe(textOf('{"one":1'));
    expect(rendered(other)).toBe(textOf('{"other":2'));
  });

  it('begin empty, also where others have been', () => {
    giveBackLines(linesOf(['{"session":"another session"']));

    expect(rendered(linesOf(['{"mine":1']))).toBe(textOf('{"mine":1'));
  });
});

describe('receipts that are left', () => {
  const receipts = ['{"a":1', '{"b":22', '{"c":333', '{"d":4'];

  it('stand before those that came later, each as it was', () => {
    const left = joinedLines(linesOf(receipts.slice(0, 3)), 1, linesOf(receipts.slice(3), 3));
    const from = signedAt(1);

    expect(found(renderBatch(RULES, from, left, 0))).toEqual(asText(receipts.slice(1), from));
    expect(left.ends).toHaveLength(3);
    expect(joinedLines(left, 2, openLines()).ends).toHaveLength(1);
  });
});
