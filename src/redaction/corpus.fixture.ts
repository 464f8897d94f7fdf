/**
 * Generated secrets, the disguises they come in, and ordinary text to mistake for them. Nothing in
 * here is real.
 */

/** The same numbers for the same seed, so that a measured table can be measured again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Random = () => number;

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = UPPER.toLowerCase();
const DIGITS = '0123456789';
const ALNUM = UPPER + LOWER + DIGITS;
const HEX = '0123456789abcdef';

export const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)] as T; // Never empty here.
export const chars = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet.charAt(Math.floor(random() * alphabet.length))).join('');

/** One of each class first, as every generator of secrets does. */
const mixed = (random: Random, length: number, alphabet = ALNUM): string =>
  chars(random, UPPER, 1) +
  chars(random, LOWER, 1) +
  chars(random, DIGITS, 1) +
  chars(random, alphabet, length - 3);
const base64url = (random: Random, length: number) => mixed(random, length, `${ALNUM}-_`);
const base64 = (random: Random, length: number) => mixed(random, length, `${ALNUM}+/`);
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Written apart, so that no scanner of repositories takes a prefix for a key. */
const glue = (...parts: readonly string[]) => parts.join('');

/** A made-up secret, and the text in which it usually stands. */
export interface Sample {
  readonly secret: string;
  readonly text: string;
}

const alone = (secret: string): Sample => ({ secret, text: secret });
const pem = (random: Random, kind: string, length: number): Sample => {
  const body = base64(random, length).match(/.{1,64}/g) ?? [];
  const word = glue('PRIVATE', ' KEY');
  return {
    secret: body[0] ?? '',
    text: `-----BEGIN ${kind}${word}-----\n${body.join('\n')}\n-----END ${kind}${word}-----`,
  };
};

function luhn(random: Random, prefix: string, length: number): string {
  const digits = prefix + chars(random, DIGITS, length - prefix.length - 1);
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, index) => {
      const counted = Number(digit) * (index % 2 === 0 ? 2 : 1);
      return total + (counted > 9 ? counted - 9 : counted);
    }, 0);
  return digits + String((10 - (sum % 10)) % 10);
}

type Make = (random: Random) => Sample;

/** One generator for each family that the own set knows. */
export const SECRETS: Readonly<Record<string, Make>> = {
  jwt: (r) =>
    alone(
      `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ sub: chars(r, HEX, 12), iat: 1 })}.${base64url(r, 43)}`,
    ),
  bearer: (r) => {
    const secret = base64url(r, 32);
    return { secret, text: `Authorization: Bearer ${secret}` };
  },
  basic: (r) => {
    const secret = Buffer.from(`${chars(r, LOWER, 6)}:${mixed(r, 10)}`).toString('base64');
    return { secret: secret.replace(/=+$/, ''), text: `Authorization: Basic ${secret}` };
  },
  stripe: (r) =>
    alone(glue(pick(r, ['sk', 'rk', 'pk']), '_', pick(r, ['live', 'test']), '_', mixed(r, 24))),
  'stripe webhook': (r) => alone(glue('wh', 'sec_', mixed(r, 32))),
  google: (r) => alone(glue('AI', 'za', base64url(r, 35))),
  'azure account': (r) => {
    const secret = `${base64(r, 86)}==`;
    return {
      secret: secret.slice(0, -2),
      text: `AccountName=${chars(r, LOWER, 8)};${glue('Account', 'Key')}=${secret};`,
    };
  },
  'azure sas': (r) => {
    const secret = base64url(r, 43);
    return { secret, text: `https://a.blob.example/x?sv=2024-01-01&sig=${secret}%3D` };
  },
  'aws key id': (r) => alone(glue(pick(r, ['AK', 'AS']), 'IA', chars(r, UPPER + '234567', 16))),
  'aws secret': (r) => {
    const secret = base64(r, 40);
    return { secret, text: `aws_secret_access_key = ${secret}` };
  },
  github: (r) => alone(glue('gh', pick(r, ['p', 'o', 'u', 's', 'r']), '_', mixed(r, 36))),
  'github fine-grained': (r) => alone(glue('github', '_pat_', mixed(r, 22), '_', mixed(r, 59))),
  slack: (r) =>
    alone(glue('xo', 'x', pick(r, ['b', 'p', 'a']), '-', chars(r, DIGITS, 12), '-', mixed(r, 24))),
  'slack hook': (r) => {
    const secret = `T${chars(r, UPPER, 8)}/B${chars(r, UPPER, 8)}/${mixed(r, 24)}`;
    return { secret, text: `https://${glue('hooks', '.slack')}.com/services/${secret}` };
  },
  openai: (r) => alone(glue('sk', '-', pick(r, ['', 'proj-']), mixed(r, 48))),
  anthropic: (r) => alone(glue('sk', '-ant-', 'api03-', base64url(r, 80))),
  npm: (r) => alone(glue('np', 'm_', mixed(r, 36))),
  'private key': (r) => pem(r, pick(r, ['RSA ', '', 'OPENSSH ']), 800),
  'private key ed25519': (r) => pem(r, '', 64),
  password: (r) => {
    const secret = mixed(r, 12);
    return {
      secret,
      text: pick(r, [`password=${secret}`, `"password": "${secret}"`, `DB_PASSWD: '${secret}'`]),
    };
  },
  'url password': (r) => {
    const secret = mixed(r, 12);
    return { secret, text: `postgres://app:${secret}@db.example:5432/app` };
  },
  'named value': (r) => {
    const secret = mixed(r, 24);
    return {
      secret,
      text: pick(r, [`api_key: ${secret}`, `{"clientSecret":"${secret}"}`, `--token=${secret}`]),
    };
  },
};

export const PERSONAL: Readonly<Record<'email' | 'phone' | 'card', Make>> = {
  email: (r) => alone(`${chars(r, LOWER, 5)}.${chars(r, LOWER, 6)}@${chars(r, LOWER, 7)}.example`),
  phone: (r) =>
    alone(
      pick(r, [
        `+49 ${chars(r, '123456789', 3)} ${chars(r, DIGITS, 7)}`,
        `(${chars(r, '23456789', 3)}) ${chars(r, '23456789', 3)}-${chars(r, DIGITS, 4)}`,
        `+1-${chars(r, '23456789', 3)}-${chars(r, '23456789', 3)}-${chars(r, DIGITS, 4)}`,
      ]),
    ),
  card: (r) => {
    const [prefix, length] = pick(r, [
      ['4', 16],
      ['51', 16],
      ['37', 15],
      ['6011', 16],
    ] as const);
    const digits = luhn(r, prefix, length);
    const separator = pick(r, ['', ' ', '-']);
    return alone(
      (length === 15
        ? [digits.slice(0, 4), digits.slice(4, 10), digits.slice(10)]
        : (digits.match(/.{4}/g) ?? [])
      ).join(separator),
    );
  },
};

const bytesOf = (text: string) => [...Buffer.from(text)];

/** The disguises. */
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'zero-width': (text) => Array.from(text).join('\u200b'),
  'full-width': (text) =>
    text.replace(/[A-Za-z0-9]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
  percent: (text) =>
    bytesOf(text)
      .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
      .join(''),
  'percent twice': (text) =>
    encodeURIComponent(
      bytesOf(text)
        .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
        .join(''),
    ),
  'unicode escape': (text) =>
    Array.from(text, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  'json in json': (text) => JSON.stringify(JSON.stringify({ text })),
  'html entity': (text) =>
    bytesOf(text)
      .map((byte) => `&#${byte};`)
      .join(''),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 inside': (text) => Buffer.from(`x: ${text} yz`).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 twice': (text) => Buffer.from(Buffer.from(text).toString('base64')).toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex'),
  reversed: (text) => Array.from(text).reverse().join(''),
};

const WORDS =
  'the of and to in is that for it as was with be by on not he this are or his from at which but have an had they you were there one all we can her has been if more when will would who so no out up into do any your what its about than other time could these two may then first over new only some such people like between after most made many must through before back years where much way well down should because each just those how too little state good very make world still own see work long here get both life being under never day same another know while last might us great since against go came right used take three himself few house use during without again place around however home small found thought went say part once general high upon school every password secret token key basic bearer authorization session account login card phone address'.split(
    ' ',
  );

/** Ordinary text of a kind, about as long as asked for. */
export const ORDINARY: Readonly<Record<string, (random: Random, length: number) => string>> = {
  prose: (r, length) =>
    fill(length, () => `${Array.from({ length: 12 }, () => pick(r, WORDS)).join(' ')}. `),
  code: (r, length) =>
    fill(length, () => {
      const [a, b, c] = [pick(r, WORDS), pick(r, WORDS), pick(r, WORDS)];
      return `const ${a}${b.toUpperCase()} = await ${c}.get${a}(token, { key: '${b}', retries: ${Math.floor(r() * 9)} }); // ${a} ${b}\n`;
    }),
  uuids: (r, length) =>
    fill(
      length,
      () =>
        `{"id":"${[8, 4, 4, 4, 12].map((size) => chars(r, HEX, size)).join('-')}","page":${Math.floor(r() * 900)}}\n`,
    ),
  hashes: (r, length) =>
    fill(length, () => `commit ${chars(r, HEX, 40)} sha256:${chars(r, HEX, 64)}\n`),
  'base64 image': (r, length) => `data:image/png;base64,${chars(r, `${ALNUM}+/`, length)}==`,
  numbers: (r, length) =>
    fill(
      length,
      () =>
        `{"at":${1_700_000_000_000 + Math.floor(r() * 1e10)},"price":${(r() * 1000).toFixed(2)},"order":"2024-${chars(r, DIGITS, 6)}"}\n`,
    ),
};

function fill(length: number, make: () => string): string {
  const parts: string[] = [];
  for (let size = 0; size < length; size += parts.at(-1)?.length ?? 1) parts.push(make());
  return parts.join('').slice(0, length);
}
