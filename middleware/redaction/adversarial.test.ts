import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { licenceProse } from '../../conformance/benches/redaction/measure-cost.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';
import { makeCall } from '../../conformance/index.ts';
import { composeToolCallers, ok } from '../../src/index.ts';
import { FAMILIES } from '../../src/redaction/families/index.ts';
import { redaction } from './redaction.ts';

const SIZE = 2 ** 20;
const SHORT = 120_000;
/** Of a machine that may be busy; `npm run fuzz -- --secrets` holds thousands of texts to three. */
const MOST = howMany(5, 3);
/** A text is measured in turns with prose, until it is within the bound or so often. */
const TURNS = 12;

const stack = composeToolCallers([redaction()]);
const clean = (text: string): Promise<unknown> => stack(makeCall(), async (call) => ok(call, text));
const prose = licenceProse(fileURLToPath(new URL('../..', import.meta.url)), SIZE);

/** Processor time, because others use the machine too. */
async function timeOf(text: string, work: (text: string) => unknown = clean): Promise<number> {
  const before = process.cpuUsage();
  await work(text);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** How many times as long a text takes as prose of the same length; of both, the fastest time. */
async function ratioOf(text: string): Promise<number> {
  let [slow, plain] = [Infinity, Infinity];
  for (let turn = 0; turn < TURNS; turn += 1) {
    slow = Math.min(slow, await timeOf(text));
    plain = Math.min(plain, await timeOf(prose));
    if (slow < MOST * plain) break;
  }
  return slow / plain;
}

const fill = (unit: string, size = SHORT) =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
const prefixes = [...new Set(FAMILIES.flatMap((family) => family.prefixes))];
/** All prefixes, so many characters at a time in another encoding, each a word of its own. */
function encodedWords(encoding: 'base64' | 'hex', width: number): string {
  const plain = fill(prefixes.join(' '), SIZE);
  const words = Array.from({ length: Math.floor(SIZE / width) }, (_, word) =>
    Buffer.from(plain.slice(word * width, (word + 1) * width)).toString(encoding),
  );
  return words.join(' ').slice(0, SIZE);
}
describe('a text that is made to be slow', () => {
  it.each(['', ' ', '="', '\n'])(
    'takes some times as long as prose where it repeats a prefix and %j',
    { timeout: 180_000 },
    async (between) => {
      const slow: string[] = [];
      for (const prefix of prefixes.filter((_, place) => place % (between === '' ? 8 : 24) === 0)) {
        const ratio = await ratioOf(fill(prefix + between, SIZE));
        if (ratio > MOST) slow.push(`${prefix} ${Math.round(ratio)}`);
      }

      expect(slow).toEqual([]);
    },
  );

  it.each([
    ['names with quotes', fill('password="', SIZE)],
    ['names with escaped quotes', fill('password=\\"', SIZE)],
    ['names without values', fill('token: ', SIZE)],
    ['a name in a prefix', fill('X-Amz-Signature= ', SIZE)],
    ['all prefixes', fill(prefixes.join(' '), SIZE)],
    ['one letter', fill('A', SIZE)],
    ['percent-encoding', fill('%41', SIZE)],
    ['escapes', fill('\\u0041', SIZE)],
    ['control sequences', fill('\u001b[31mpassword=', SIZE)],
    ['strings of a terminal that do not end', fill('\u0090', SIZE)],
    ['base64 of names', Buffer.from(fill('password=')).toString('base64').slice(0, SIZE)],
    ['words of base64', encodedWords('base64', 30)],
    ['words of hex', encodedWords('hex', 16)],
  ])('takes some times as long as prose for %s', { timeout: 180_000 }, async (_name, text) => {
    expect(await ratioOf(text)).toBeLessThan(MOST);
  });

  it('would not if a value that was found were compared at every place', {
    timeout: 180_000,
  }, async () => {
    const naive = (text: string) => {
      const value = text.slice(0, SHORT / 2);
      return Array.from({ length: SHORT / 2 }, (_, start) => start).filter((start) =>
        text.startsWith(value, start),
      ).length;
    };

    const plain = Math.min(await timeOf(prose), await timeOf(prose), await timeOf(prose));
    expect((await timeOf(fill('sk-'), naive)) / plain).toBeGreaterThan(MOST);
  });

  it('shows no key that begins where a text is passed over', async () => {
    const body = Buffer.from(fill('k3Y')).toString('base64').slice(0, 1_600).match(/.{64}/g) ?? [];
    const key = [
      '-----BEGIN',
      ' PRIVATE KEY-----\n',
      body.join('\n'),
      '\n-----END',
      ' PRIVATE KEY-----',
    ].join('');
    const cleaned = JSON.stringify(await clean(`${fill('sk-x ')}${key} ${fill('sk-x ')}`));

    expect(body.filter((line) => cleaned.includes(line))).toEqual([]);
  });

  it('shows no key whose base64 was written in lines', async () => {
    const body = Buffer.from(fill('k3Y')).toString('base64').slice(0, 640);
    const key = ['-----BEGIN', ` PRIVATE KEY-----\n${body}\n-----END`, ' PRIVATE KEY-----'].join(
      '',
    );
    const lines =
      Buffer.from(key)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    const cleaned = JSON.stringify(await clean(`data: |\n  ${lines.join('\n  ')}\n`));

    // The last line holds the end of the footer.
    expect(lines.slice(0, -1).filter((line) => cleaned.includes(line))).toEqual([]);
  });

  it('shows no part of a value in quotes that a text ends with which is passed over', async () => {
    const phrase = ['correct', 'horse', 'battery', 'staple'].join(' ').repeat(3);

    expect(
      JSON.stringify(await clean(`${fill('password="x" ')}password="${phrase}"\n`)).includes(
        'staple',
      ),
    ).toBe(false);
  });

  it('shows no disguised token that begins where a text is passed over and ends behind', async () => {
    const escaped = Array.from(
      'a1B2c3D4e5F6'.repeat(3),
      (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
    );
    const crowd = fill('sk-x ');
    const shown = await Promise.all(
      Array.from({ length: 16 }, async (_, gap) =>
        JSON.stringify(await clean(`${crowd}${' '.repeat(gap * 5)}ghp_${escaped.join('')} `)),
      ),
    );

    expect(
      shown.filter((text) =>
        text.includes(JSON.stringify(escaped.slice(-12).join('')).slice(1, -1)),
      ),
    ).toEqual([]);
  });

  it('shows ordinary text that stands behind one that is passed over', async () => {
    const prose =
      'The committee met on Tuesday and will meet again in May, when the weather allows it. ';
    const cleaned = JSON.stringify(await clean(`${fill('sk-x ')}\n${prose.repeat(3)}`));

    expect(cleaned.includes(prose)).toBe(true);
  });

  it('shows no token that stands in a crowd which goes through several slices of a large text', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const text = `${fill('apikey="')}${fill('apikey="')}${secret}"`;

    expect(JSON.stringify(await clean(text)).includes(secret)).toBe(false);
  });
});
