import { describe, expect, it } from 'vitest';
import { ORDINARY, SECRETS, seeded } from './corpus.fixture.ts';
import { compileRules } from './rules.ts';
import { scanAll, scanText, textCleaner, WINDOW } from './scan.ts';

const rules = compileRules({
  detectors: ['secrets', 'email'],
  strategies: { email: 'tokenise' },
  paths: [],
  patterns: [],
});
const { detectors, markers } = rules;

const CROWD = 'token='.repeat(5_000);

/** Windows of prose, each with a secret in it, and one with more prefixes than effort to read. */
function longText(seed: number): string {
  const random = seeded(seed);
  return Array.from({ length: 4 }, (_, part) => {
    const prose = ORDINARY['prose']?.(random, WINDOW / 2) ?? '';
    const { text = '' } = SECRETS['github']?.(random) ?? {};
    return `${prose}\n${text}\n${part === 2 ? CROWD : ''}\nada${seed}@example.org\n`;
  }).join('');
}

const alone = (text: string) => markers.settle(text, scanText(text, detectors));

describe('texts that are looked at in turns', () => {
  it('keep what was found in each, and the effort of each, from the others', () => {
    const texts = [1, 2, 3].map(longText);
    const short = `${SECRETS['github']?.(seeded(9)).text} and %67hp_`;
    const works = texts.map((text) => scanAll([text], detectors, markers));
    const found = new Map<string, unknown>();
    for (let left = works; left.length > 0; ) {
      left = left.filter((work) => {
        const step = work.next();
        for (const [text, spans] of step.done === true ? step.value : []) found.set(text, spans);
        scanText(short, detectors);
        return step.done !== true;
      });
    }

    expect(texts.map((text) => found.get(text))).toEqual(texts.map(alone));
    expect(texts.every((text) => alone(text).length >= 8)).toBe(true);
  });
});

describe('texts that are looked at one after another', () => {
  const cleanerOf = () => textCleaner({ ...rules, plain: new Set() });
  const KEY = 'zK3yq8Zx81kkLmQ2vT77aB4cD5eF6g';
  const HEADER = '-----BEGIN PRIVATE KEY-----\n';

  it.each([
    ['tokens', SECRETS['github']?.(seeded(2)).secret ?? '', ''],
    ['values of names', 'password = "hunter2xyz"', ''],
    ['command lines', 'x curl -u ada:b2c3d4e5 ', ''],
    ['headers', `Authorization: Bearer ${KEY}`, ''],
    ['piped passwords', "echo 's3cr3tPass' | docker login --password-stdin", ''],
    ['private keys', `${HEADER}${'MIIEvQIBADANBgkqhkiG9w0BAQ'.repeat(4)}`, ''],
    ['whole private keys', `${HEADER}MIIEvQIBADANBgkqhk\n-----END PRIVATE KEY-----`, HEADER],
    ['looks', `x ghp_${KEY}aB1xY2`, `x ghp_${'a'.repeat(36)}`],
    ['the ends of tokens', `x ghp_${KEY} and more`, `x ghp_${KEY}${KEY}`],
    ['what is encoded', Buffer.from('password = "hunter2xyz"').toString('base64'), CROWD],
    ['words that say that a key follows', `a stripe key: ${KEY}`, `a stripe tool: ${KEY}`],
    ['crowds', CROWD, ''],
  ])('find the same as the first one did: %s', (_kind, text, other) => {
    const clean = cleanerOf();
    const last = `${'behind it '.repeat(1_000)}${text}`;
    const first = [text, last].map(cleanerOf());
    for (const before of [other, `${last} ${text}`, longText(1).slice(0, 2_000), other])
      clean(before);

    expect([text, last].map(clean)).toEqual(first);
    expect([text, last]).not.toContain(first[0]);
    expect([text, last]).not.toContain(first[1]);
  });

  it('tell a key by itself from an address, whichever detector looked last', () => {
    const text = `key of stripe -> ${KEY} of ada@example.org`;

    expect(scanText(text, detectors).map(({ group }) => group)).toEqual(['email', 'secrets']);
  });

  it('find nothing in what is clean, whatever was found in the one before', () => {
    const clean = cleanerOf();
    for (const before of [longText(1).slice(-40_000), 'key key key', `%67hp_ ${KEY}`]) {
      clean(before);

      expect(clean(`a stripe tool: ${KEY}`)).toBe(`a stripe tool: ${KEY}`);
    }
  });
});
