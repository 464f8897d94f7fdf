import { createHash, hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical.ts';
import { hashCanonical } from './hash-canonical.ts';
import { snapshotObject } from './json.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** Name, input text, canonical text: the published examples of RFC 8785. */
const VECTORS: readonly (readonly [string, string, string])[] = [
  [
    'arrays',
    String.raw`[ 56, { "d": true, "10": null, "1": [ ] } ]`,
    '[56,{"1":[],"10":null,"d":true}]',
  ],
  [
    'french',
    `{ "peach": "This sorting order", "péché": "is wrong according to French", "pêche": "but canonicalization MUST", "sin": "ignore locale" }`,
    '{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}',
  ],
  [
    'structures',
    String.raw`{ "1": {"f": {"f": "hi","F": 5} ,"\n": 56.0}, "10": { }, "": "empty", "a": { }, "111": [ {"e": "yes","E": "no" } ], "A": { } }`,
    String.raw`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
  ],
  [
    'unicode',
    String.raw`{ "Unnormalized Unicode": "A\u030a" }`,
    '{"Unnormalized Unicode":"A\u030a"}',
  ],
  [
    'values',
    String.raw`{ "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false] }`,
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  ],
  [
    'weird',
    String.raw`{ "\u20ac": "Euro Sign", "\r": "Carriage Return", "\u000a": "Newline", "1": "One", "\u0080": "Control\u007f",
      "\ud83d\ude02": "Smiley", "\u00f6": "Latin Small Letter O With Diaeresis", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "</script>": "Browser Challenge" }`,
    `{"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f",` +
      `"ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😂":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}`,
  ],
];

/** Bits and text of the numbers in appendix B of RFC 8785. */
const NUMBERS: readonly (readonly [string, string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

const numberOf = (bits: string): number => Buffer.from(bits, 'hex').readDoubleBE();

describe('canonicalJson, against what RFC 8785 publishes,', () => {
  it.each(VECTORS)('writes the vector %s', (_name, input, output) => {
    expect(canonicalJson(JSON.parse(input))).toBe(output);
    expect(canonicalJson(snapshotObject({ inside: JSON.parse(input) as unknown }))).toBe(
      `{"inside":${output}}`,
    );
  });

  it.each(VECTORS)('leaves the canonical text of %s as it is', (_name, _input, output) => {
    expect(canonicalJson(JSON.parse(output))).toBe(output);
  });

  it.each(NUMBERS)('writes the number with the bits %s as %s', (bits, text) => {
    expect(canonicalJson([numberOf(bits)])).toBe(`[${text}]`);
  });

  it.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])(
    'refuses the number with the bits %s',
    (bits) => {
      expect(() => canonicalJson([numberOf(bits)])).toThrow('[0] is not a finite number');
    },
  );
});

/** A third of the powers of ten, from 10^22 down, as repeated division leaves them. */
const THIRDS = `
446696695dbd1cc3 443211ede4974a35 43fce97ca0f21056 43c7213080c1a6ac 439280f39a348556 435d9b1f5d20d557 4327af4c4a80aaac
42f2f2a36ecd5556 42be51057e155558 428840d131aaaaac 4253670dc1555557 421f0b4935555557 41e8d5d42aaaaaac 41b3de4355555556
417fca0555555556 41496e6aaaaaaaab 4114585555555555 40e046aaaaaaaaab 40aa0aaaaaaaaaaa 4074d55555555555 4040aaaaaaaaaaab
400aaaaaaaaaaaab 3fd5555555555555 3fa1111111111111 3f6b4e81b4e81b4f 3f35d867c3ece2a5 3f0179ec9cbd821e 3ecbf647612f3696
3e965e9f80f29212 3e61e54c672874db 3e2ca213d840baf8 3df6e80fe033c8c6 3dc2533fe68fd3d2 3d8d51ffd74c861c 3d5774ccac3d3817
3d22c3d6f030f9ac 3cee0624b3818f79 3cb804ea293472c7 3c833721ba905bd3 3c4ebe9c5db3c61e 3c18987d17c304e5 3be3ad30dfcf371d
3baf7b816618582f 3b792f9ab81379bf 3b442615600f9499 3b101e77800c76e1 3ad9ca58cce0be35 3aa4a1e0a3e6fe90 3a708180831f320d
3a3a68cd9e985016`
  .trim()
  .split(/\s+/)
  .map(numberOf);

/**
 * Fives, what rounds to 0.000005, and the neighbours of 1, 0.3, 2^53 and of the ends of the range.
 */
const EDGES = `
4024000000000000 4014000000000000 3fe0000000000000 3fa999999999999a 3f747ae147ae147b 3f40624dd2f1a9fc 3f0a36e2eb1c432d
3ed4f8b588e368f1 3ea0c6f7a0b5ed8d 3e6ad7f29abcaf48 3e35798ee2308c3a 3ed539223589fa95 3ed4ff26cd5a7781 3ed4f95a762283ff
3ed4f8c60703520c 3ed4f8b72f19cd0d 3ed4f8b5b31c0c8d 3ed4f8b58d1c461a 3ed4f8b5894f7f0e 3ed4f8b588ee37f3 3ed4f8b588e47da4
3ed4f8b588e3849c 3ed4f8b588e36bb5 3ed4f8b588e36937 3ed4f8b588e368f8 3ed4f8b588e368f1 3ff0000000000000 bff0000000000000
bfeffffffffffffa bfeffffffffffffb 3feffffffffffffa 3feffffffffffffb 3feffffffffffffc 3feffffffffffffe bfefffffffffffff
bfefffffffffffff 3fefffffffffffff 3fefffffffffffff 3fd3333333333332 3fd3333333333333 3fd3333333333334 0010000000000000
000ffffffffffffd 000fffffffffffff`
  .trim()
  .split(/\s+/)
  .map(numberOf);

const SMALLEST_NORMAL = numberOf('0010000000000000');
const SMALLEST = numberOf('0000000000000001');

/**
 * The published sequence: fixed numbers, two thousand neighbours, then what SHA-256 makes of its
 * own output.
 */
function* publishedNumbers(): Generator<number, never> {
  yield* [0, -0, SMALLEST, -SMALLEST];
  yield* THIRDS.map((third) => -third);
  yield* THIRDS;
  yield* EDGES;
  yield* NUMBERS.slice(4).map(([bits]) => numberOf(bits));
  for (let step = 0; step < 2000; step += 1) yield SMALLEST_NORMAL + step * SMALLEST;
  let block = Buffer.alloc(32);
  for (;;) {
    block = hash('sha256', block, 'buffer');
    for (let at = 0; at < 32; at += 8) {
      const number = block.readDoubleLE(at);
      if (Number.isFinite(number) && number !== 0) yield number;
    }
  }
}

const view = new DataView(new ArrayBuffer(8));

/** The bits of a number in hexadecimal, without leading zeros. */
function bitsOf(number: number): string {
  view.setFloat64(0, number);
  const [high, low] = [view.getUint32(0), view.getUint32(4).toString(16)];
  return high === 0 ? low : high.toString(16) + low.padStart(8, '0');
}

/** SHA-256 of the lines `bits,text` after 10^3, 10^4, … of them. */
function checksums(write: (number: number) => string, count: number): ReadonlyMap<number, string> {
  const lines = createHash('sha256');
  const found = new Map<number, string>();
  const numbers = publishedNumbers();
  let chunk = '';
  for (let line = 1; line <= count; line += 1) {
    const number = numbers.next().value;
    chunk += `${bitsOf(number)},${write(number)}\n`;
    if (line % 1000 !== 0) continue;
    lines.update(chunk);
    chunk = '';
    if (PUBLISHED.has(line)) found.set(line, lines.copy().digest('hex'));
  }
  return found;
}

const PUBLISHED = new Map([
  [1_000, 'be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687'],
  [10_000, 'b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892'],
  [100_000, '22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7'],
  [1_000_000, '49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16'],
]);

describe('canonicalJson, over the published sequence of numbers,', () => {
  it('gives the published checksums', () => {
    const lines = howMany(100_000, 1_000_000);

    expect(checksums(canonicalJson, lines)).toEqual(
      new Map([...PUBLISHED].filter(([count]) => count <= lines)),
    );
  });

  it('would be caught writing a zero with its sign, or one digit less', () => {
    const signed = (number: number) => (Object.is(number, -0) ? '-0' : canonicalJson(number));
    const rounded = (number: number) => String(Number(number.toPrecision(16)));

    for (const wrong of [signed, rounded])
      expect(checksums(wrong, 1_000).get(1_000)).not.toBe(PUBLISHED.get(1_000));
  });
});

/** The same value with the members of every object in another order. */
function shuffled(value: unknown, pick: (below: number) => number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => shuffled(item, pick));
  const left = Object.entries(value);
  const taken: [string, unknown][] = [];
  while (left.length > 0) taken.push(...left.splice(pick(left.length), 1));
  return Object.fromEntries(taken.map(([name, item]) => [name, shuffled(item, pick)]));
}

describe('hashCanonical', () => {
  it('gives arguments in any order of their names one hash', () => {
    const args = fc.dictionary(
      fc.string({ unit: 'grapheme', maxLength: 4 }),
      fc.jsonValue({ maxDepth: 4 }),
      { maxKeys: 8 },
    );
    let plainDiffers = 0;
    fc.assert(
      fc.property(args, fc.infiniteStream(fc.nat()), (given, numbers) => {
        const value = JSON.parse(JSON.stringify(given)) as object;
        const other = shuffled(
          value,
          (below) => (numbers.next().value as number) % below,
        ) as object;

        expect(hashCanonical(snapshotObject(other))).toBe(hashCanonical(value));
        if (JSON.stringify(other) !== JSON.stringify(value)) plainDiffers += 1;
      }),
      { numRuns: howMany(250, 1_000) },
    );

    expect(plainDiffers).toBeGreaterThan(100);
  });
});
