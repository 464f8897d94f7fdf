import { describe, expect, it } from 'vitest';
import { makeCall } from '../../conformance/index.ts';
import { composeToolCallers, ok } from '../../src/index.ts';
import { ORDINARY, seeded } from '../../src/redaction/corpus.fixture.ts';
import { FAMILIES } from '../../src/redaction/families/index.ts';
import { redaction } from './redaction.ts';

const SIZE = 120_000;
/**
 * Nothing takes three times as long as the licences of installed packages do; these words are read
 * faster, and a machine may be busy.
 */
const MOST = 20;

const stack = composeToolCallers([redaction()]);
const clean = (text: string): Promise<unknown> => stack(makeCall(), async (call) => ok(call, text));

/** Processor time, because others use the machine too. */
async function timeOf(text: string, work: (text: string) => unknown = clean): Promise<number> {
  const before = process.cpuUsage();
  await work(text);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * How many times as long as prose of the same length; the fastest of several, as soon as one is
 * within the bound.
 */
async function ratioOf(
  text: string,
  ordinary: number,
  work?: (text: string) => unknown,
): Promise<number> {
  let fastest = Infinity;
  const runs = work === undefined ? 4 : 1;
  for (let run = 0; run < runs && fastest > MOST * ordinary; run += 1)
    fastest = Math.min(fastest, await timeOf(text, work));
  return fastest / ordinary;
}

const fill = (unit: string) => unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE);
const prefixes = [...new Set(FAMILIES.flatMap((family) => family.prefixes))];
/** All prefixes, so many characters at a time in another encoding, each a word of its own. */
function encodedWords(encoding: 'base64' | 'hex', width: number): string {
  const plain = fill(prefixes.join(' '));
  const words = Array.from({ length: Math.floor(SIZE / width) }, (_, word) =>
    Buffer.from(plain.slice(word * width, (word + 1) * width)).toString(encoding),
  );
  return words.join(' ').slice(0, SIZE);
}
const prose = ORDINARY['prose']?.(seeded(5), SIZE) ?? '';

async function ordinaryTime(): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 12; run += 1) times.push(await timeOf(prose));
  return Math.max(500, times.sort((a, b) => a - b)[3] ?? 0);
}

describe('a text that is made to be slow', () => {
  it.each(['', ' ', '="', '\n'])(
    'takes some times as long as prose where it repeats a prefix and %j',
    { timeout: 180_000 },
    async (between) => {
      const ordinary = await ordinaryTime();
      const slow: string[] = [];
      for (const prefix of prefixes.filter((_, place) => place % (between === '' ? 8 : 24) === 0)) {
        const ratio = await ratioOf(fill(prefix + between), ordinary);
        if (ratio > MOST) slow.push(`${prefix} ${Math.round(ratio)}`);
      }

      expect(slow).toEqual([]);
    },
  );

  it.each([
    ['names with quotes', fill('password="')],
    ['names with escaped quotes', fill('password=\\"')],
    ['names without values', fill('token: ')],
    ['a name in a prefix', fill('X-Amz-Signature= ')],
    ['all prefixes', fill(prefixes.join(' '))],
    ['one letter', fill('A')],
    ['percent-encoding', fill('%41')],
    ['escapes', fill('\\u0041')],
    ['control sequences', fill('\u001b[31mpassword=')],
    ['strings of a terminal that do not end', fill('\u0090')],
    ['base64 of names', Buffer.from(fill('password=')).toString('base64').slice(0, SIZE)],
    ['words of base64', encodedWords('base64', 30)],
    ['words of hex', encodedWords('hex', 16)],
  ])('takes some times as long as prose for %s', { timeout: 180_000 }, async (_name, text) => {
    expect(await ratioOf(text, await ordinaryTime())).toBeLessThan(MOST);
  });

  it('would not if a value that was found were compared at every place', {
    timeout: 180_000,
  }, async () => {
    const naive = (text: string) => {
      const value = text.slice(0, SIZE / 2);
      return Array.from({ length: SIZE / 2 }, (_, start) => start).filter((start) =>
        text.startsWith(value, start),
      ).length;
    };

    expect(await ratioOf(fill('sk-'), await ordinaryTime(), naive)).toBeGreaterThan(MOST);
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
