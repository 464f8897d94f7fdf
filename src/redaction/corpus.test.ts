import { describe, expect, it } from 'vitest';
import { ENCODINGS, ORDINARY, PERSONAL, SECRETS, seeded } from './corpus.fixture.ts';
import { FAMILIES as TOKENS } from './families/index.ts';
import { compileRules, type DetectorName } from './rules.ts';
import { textCleaner } from './scan.ts';

const cleanerOf = (...detectors: readonly DetectorName[]) =>
  textCleaner(compileRules({ detectors, strategies: {}, paths: [], patterns: [] }));
const clean = cleanerOf('secrets', 'email', 'phone', 'card');

const FAMILIES = { ...SECRETS, ...PERSONAL };
const SAMPLES = 25;

/** How many of the samples of a family leave nothing of themselves in the cleaned text. */
function recall(family: string, encoding: string, cleaner = clean): number {
  const random = seeded(7);
  return Array.from({ length: SAMPLES }, () => {
    const { secret, text } = FAMILIES[family as keyof typeof FAMILIES]?.(random) ?? {
      secret: '',
      text: '',
    };
    const encode = ENCODINGS[encoding] ?? String;
    // The ends of an encoded secret depend on what stands around it.
    const middle = encode(secret).slice(2, -4);
    return cleaner(`It says ${encode(text)} here.`).includes(middle) ? 0 : 1;
  }).reduce<number>((sum, hit) => sum + hit, 0);
}

describe('the detectors', () => {
  const encodings = Object.keys(ENCODINGS).filter((name) => name !== 'reversed');

  it.each(Object.keys(FAMILIES))('find every made-up %s in every encoding they know', (family) => {
    const found = Object.fromEntries(
      encodings.map((encoding) => [encoding, recall(family, encoding)]),
    );

    expect(found).toEqual(Object.fromEntries(encodings.map((encoding) => [encoding, SAMPLES])));
  });

  it('do not find what is written backwards', () => {
    expect(Object.keys(SECRETS).map((family) => recall(family, 'reversed'))).toEqual(
      Object.keys(SECRETS).map(() => 0),
    );
  });

  it('are needed: one expression finds one encoding of six', () => {
    const naive = (text: string) => text.replaceAll(/gh[pousr]_[A-Za-z0-9]{36}/g, '***');
    const tried = ['plain', 'base64', 'hex', 'percent', 'zero-width', 'unicode escape'];

    expect(tried.map((encoding) => recall('github', encoding, naive))).toEqual([
      SAMPLES,
      0,
      0,
      0,
      0,
      0,
    ]);
  });

  it.each(Object.keys(ORDINARY))('take nothing in a megabyte of %s for a secret', (kind) => {
    const text = ORDINARY[kind]?.(seeded(3), 1_000_000) ?? '';

    expect(text.length).toBeGreaterThan(900_000);
    expect(clean(text)).toBe(text);
  });

  it.each([
    'The password is required. Password: must have eight letters.',
    'const password = await prompt.password(); let token = getToken(user);',
    'Authorization: Bearer token, or Basic authentication; bearer certificates of 1999',
    '{"password":"string","token":"<your token>","secret":"${SECRET}","apiKey":"***"}',
    'sk-fading-circle-animation-container .sk-chasing-dot-before-everything',
    'https://example.org/a:b@c and mailto: nobody at example.org',
    'tokens: 1024, max_tokens=4096, keyboard: azerty, monkey: 3, passes: 12',
    'order 4111 1111 1111 1112, call 555-01, at 2026-01-01 10:00:00, 1700000000000',
  ])('leave alone: %s', (text) => {
    expect(clean(text)).toBe(text);
  });

  it.each([
    ['password = "correct horse"', 'password = "[redacted:password]"'],
    ['{"password":"pa\\"ss word","a":"b"}', '{"password":"[redacted:password]","a":"b"}'],
    ['mysql -u root --password=letmein\n', 'mysql -u root --password=[redacted:password]\n'],
    [
      '[{"name":"API_TOKEN","value":"Zx81kkLmQ2vT77"}]',
      '[{"name":"API_TOKEN","value":"[redacted:secret]"}]',
    ],
    ['GET /x?api_key=Zx81kkLmQ2vT77&page=2', 'GET /x?api_key=[redacted:secret]&page=2'],
    ['redis://:Zx81kkLm@cache:6379/0', 'redis://:[redacted:url-password]@cache:6379/0'],
  ])('hide in %j exactly what is secret', (text, expected) => {
    expect(clean(text)).toBe(expected);
  });
});

const SIZE = 20_000;
/** The fastest of several runs: what else the machine does only ever adds. */
function fastest(text: string): number {
  const times = Array.from({ length: 12 }, () => {
    const start = performance.now();
    clean(text);
    return performance.now() - start;
  });
  return Math.min(...times);
}
const fill = (unit: string) => unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE);

const PREFIXES = [...new Set(TOKENS.flatMap(({ prefixes }) => prefixes))];

describe('a crowd of prefixes', () => {
  it('is hidden as a whole, with the token that stands in it', () => {
    const { secret } = SECRETS['github']?.(seeded(4)) ?? { secret: '' };
    const cleaned = clean(`before ${'sk-'.repeat(100)}${secret} after it`);

    expect(cleaned).not.toContain(secret.slice(8));
    expect(cleaned).toMatch(/^before .* after it$/);
  });

  it('is none where a page lists some', () => {
    const text = 'Tokens begin with ghp_, gho_, ghs_, glpat-, sk_live_, hf_ or npm_.';

    expect(clean(text)).toBe(text);
  });
});

describe('what a terminal shows', () => {
  const { secret } = SECRETS['github']?.(seeded(8)) ?? { secret: '' };
  const cut = (between: string) =>
    `so: ${secret.slice(0, 3)}${between}${secret.slice(3, 20)}${between}${secret.slice(20)} .`;

  it.each([
    ['a colour', '\u001b[01;31m\u001b[K'],
    ['a colour in one character', '\u009b32m'],
    ['a hyperlink', '\u001b]8;;https://example.org\u0007'],
    ['a device string', '\u001bPq#0\u001b\\'],
    ['a character set', '\u001b(B'],
    ['a soft hyphen', '\u00ad'],
    ['a joiner', '\u034f'],
    ['a variation selector', '\ufe0f'],
    ['a supplementary variation selector', '\u{e0101}'],
    ['a tag', '\u{e0041}'],
    ['a Hangul filler', '\u3164'],
    ['a Mongolian separator', '\u180e'],
    ['a bidi control', '\u2066'],
    ['an annotation', '\ufff9'],
    ['a musical control', '\u{1d173}'],
    ['an overstruck character', 'x\b'],
    ['a null character', '\u0000'],
    ['a soft line break', '=\r\n'],
    ['a continued line', '\\\n'],
  ])('hides a token with %s inside, and what stands beside it stays', (_name, between) => {
    expect(clean(cut(between))).toBe('so: [redacted:github] .');
  });
});

describe('the time the detectors take', () => {
  it.each([
    ['dots before an at sign', `${fill('a.')}@`],
    ['at signs', fill('a@')],
    ['digits', fill('4111111111111111')],
    ['digits in groups', fill('4111 ')],
    ['beginnings of web tokens', fill('eyJ')],
    ['beginnings of web tokens with dots', fill('eyJhbGciOi.')],
    ['beginnings of private keys', fill(['-----BEGIN PRIVATE', 'KEY-----'].join(' '))],
    ['beginnings of keys', fill('sk-ghp_AKIA')],
    ['one prefix', fill('sk-')],
    ['every prefix', fill(PREFIXES.join(''))],
    ['every prefix and a blank', fill(PREFIXES.join(' '))],
    [
      'every prefix but its last character',
      fill(PREFIXES.map((prefix) => prefix.slice(0, -1)).join('')),
    ],
    ['colours of a terminal', fill('\u001b[31msk-')],
    ['schemes', fill('a://b:')],
    ['escapes', fill('%5c')],
    ['backslashes', fill('\\')],
    [
      'base64 in base64',
      Buffer.from(Buffer.from(fill('password=')).toString('base64'))
        .toString('base64')
        .slice(0, SIZE),
    ],
    ['hex of hex', Buffer.from(fill('61')).toString('hex').slice(0, SIZE)],
    ['plus signs', fill('+1 ')],
    ['names of values', fill('token=')],
    ['names of passwords', fill('password="')],
  ])('is of the order of ordinary text for %s', (_name, text) => {
    const ordinary = ORDINARY['code']?.(seeded(5), SIZE) ?? '';
    fastest(ordinary);

    // What is quadratic takes hundreds of times as long; texts full of findings take some, and so
    // does a busy machine.
    expect(fastest(text) / fastest(ordinary)).toBeLessThan(40);
  });

  it('would not with the usual expression for addresses', () => {
    const usual = /[\w.+-]+@[\w-]+\.[\w.-]+/;
    const timeOf = (text: string) => {
      const start = performance.now();
      usual.test(text);
      return performance.now() - start;
    };
    const ordinary = ORDINARY['prose']?.(seeded(5), SIZE) ?? '';
    timeOf(ordinary);

    expect(timeOf(fill('a.')) / timeOf(ordinary)).toBeGreaterThan(100);
  });
});
