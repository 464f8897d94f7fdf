/**
 * The notation that rows of secret kinds are written in, and the samples it makes. `{hex:32}`
 * stands for 32 random characters of the secret, `{~digits:12}` for random characters that are no
 * secret (an account number, a host), `{name}` and `{name:argument}` for the makers below.
 * Everything else is taken as it is, so that a row says what a vendor's documentation says and no
 * file holds anything like a real secret.
 */

import { crc32 } from 'node:zlib';
import type { Random } from '../fuzz/random.ts';

/** A text that shows a secret. */
export interface Shown {
  readonly text: string;
  /**
   * The part of `text` that nobody can guess: from the first random character of the secret to the
   * last one.
   */
  readonly secret: string;
}

const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();

const ALPHABETS: Readonly<Record<string, string>> = {
  digits: DIGITS,
  hex: `${DIGITS}abcdef`,
  HEX: `${DIGITS}ABCDEF`,
  letters: LOWER + UPPER,
  lower: LOWER + DIGITS,
  upper: UPPER + DIGITS,
  base32: `${LOWER}234567`,
  BASE32: `${UPPER}234567`,
  base58: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  base62: DIGITS + UPPER + LOWER,
  base64: `${UPPER}${LOWER}${DIGITS}+/`,
  base64url: `${UPPER}${LOWER}${DIGITS}-_`,
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
};

const WORDS =
  'amber anchor bridge cactus copper dragon ember falcon garden harbor island jungle lantern maple meadow orchid pepper river saddle tiger';

/** Makes the text of one `{name:argument}`. */
type Maker = (random: Random, argument: string) => string;

const MAKERS: Readonly<Record<string, Maker>> = {
  uuid: (random) => dashed(random, 'hex', [8, 4, 4, 4, 12]),
  UUID: (random) => dashed(random, 'HEX', [8, 4, 4, 4, 12]),
  password,
  word: (random) => random.pick(WORDS.split(' ')),
  words: (random, count) =>
    Array.from({ length: Number(count) }, () => random.pick(WORDS.split(' '))).join(' '),
  github: (random) => withChecksum(some(random, 'base62', 30)),
  basic: (random) => toBase64(`${random.pick(WORDS.split(' '))}:${password(random)}`),
  base64of: (random, pattern) =>
    toBase64(render(pattern.replace('<', '{').replace('>', '}'), random).text),
  jwt: (random, claims) => jsonWebToken(random, claims),
  pem: (random, length) => lines(some(random, 'base64', Number(length)), 64, '\n'),
  pemline: (random, length) => lines(some(random, 'base64', Number(length)), 64, '\\n'),
  hexlines: (random, length) => lines(some(random, 'hex', Number(length)), 32, '\n'),
};

/** Characters of one alphabet. */
export function some(random: Random, alphabet: string, length: number): string {
  const characters = ALPHABETS[alphabet];
  if (characters === undefined) throw new RangeError(`there is no alphabet ${alphabet}`);
  return Array.from({ length }, () => characters[random.below(characters.length)]).join('');
}

/**
 * What people choose, and what password managers choose. Neither holds a quote or a backslash,
 * which would have to be escaped by its carrier.
 */
function password(random: Random): string {
  if (random.oneIn(3))
    return `${capital(random.pick(WORDS.split(' ')))}${random.pick(['', '-', '_', '.'])}${some(random, 'digits', 4)}${random.pick(['', '!', '*'])}`;
  const middle = random.pick(['', '-', '_', '.', '!', '~', '+']);
  return `${some(random, 'letters', 1)}${some(random, 'base62', 4 + random.below(6))}${middle}${some(random, 'base62', 5 + random.below(6))}`;
}

/** GitHub ends its tokens with the CRC32 of the random part, six characters in base 62. */
function withChecksum(random: string): string {
  const digits = ALPHABETS.base62 ?? '';
  let rest = crc32(random);
  let checksum = '';
  for (let place = 0; place < 6; place += 1) {
    checksum = `${digits[rest % 62]}${checksum}`;
    rest = Math.floor(rest / 62);
  }
  return `${random}${checksum}`;
}

function jsonWebToken(random: Random, algorithm: string): string {
  const header = { alg: algorithm === '' ? 'HS256' : algorithm, typ: 'JWT' };
  const claims = {
    sub: some(random, 'digits', 10),
    name: capital(random.pick(WORDS.split(' '))),
    iat: 1_700_000_000 + random.below(90_000_000),
  };
  const encoded = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return [...encoded, some(random, 'base64url', algorithm.startsWith('RS') ? 342 : 43)].join('.');
}

const dashed = (random: Random, alphabet: string, lengths: readonly number[]) =>
  lengths.map((length) => some(random, alphabet, length)).join('-');
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
const toBase64 = (text: string) => Buffer.from(text).toString('base64');
const lines = (text: string, width: number, end: string) =>
  (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(end);

const PLACE = /\{(~?)([A-Za-z0-9]+)(?::([^{}]*))?\}/g;

/** Makes a text from a pattern. A pattern without a place for a secret has an empty one. */
export function render(pattern: string, random: Random): Shown {
  let text = '';
  let from = 0;
  let start = -1;
  let end = 0;
  for (const place of pattern.matchAll(PLACE)) {
    const [whole, open, name = '', argument = ''] = place;
    text += pattern.slice(from, place.index);
    from = place.index + whole.length;
    const isSecret = open === '' && name !== 'word';
    if (isSecret && start < 0) start = text.length;
    text += make(random, name, argument);
    if (isSecret) end = text.length;
  }
  text += pattern.slice(from);
  return { text, secret: start < 0 ? '' : text.slice(start, end) };
}

function make(random: Random, name: string, argument: string): string {
  const maker = MAKERS[name];
  if (maker !== undefined) return maker(random, argument);
  const [least = '', most = least] = argument.split('-');
  return some(random, name, Number(least) + random.below(Number(most) - Number(least) + 1));
}
