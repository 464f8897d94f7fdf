import { fullFormats } from 'ajv-formats/dist/formats.js';
import { describe, expect, it } from 'vitest';
import { checkSchema } from './check-schema.ts';
import { FORMATS } from './formats.ts';
import { validateJson } from './validator.ts';

const fits = (format: string, text: string): boolean =>
  validateJson(checkSchema({ format }, 'test'), text).length === 0;

describe('formats', () => {
  it.each([
    ['date-time', '2024-02-29T12:00:00Z', '2023-02-29T12:00:00Z'],
    ['date', '2024-02-29', '2024-02-30'],
    ['time', '12:00:00+01:00', '25:00:00Z'],
    ['duration', 'P1DT2H', 'PT'],
    ['email', 'a.b@example.org', 'a@b@c'],
    ['hostname', 'a.example', '-a.example'],
    ['ipv4', '10.0.0.1', '10.0.0.256'],
    ['ipv6', '::1', ':::1'],
    ['uri', 'urn:a:b', 'no scheme'],
    ['uri-reference', '/a?b#c', 'a b'],
    ['uuid', '8b6ad1d1-5a5c-4f3c-9f43-6e1f0d5a1b2c', '8b6ad1d1'],
    ['json-pointer', '/a~1b', 'a'],
    ['regex', '^a+$', '('],
    ['byte', 'YWJj', 'YWJ'],
    ['url', 'https://example.org/a?b=c', 'https://exa mple.org'],
  ])('check %s', (format, good, bad) => {
    expect([fits(format, good), fits(format, bad)]).toEqual([true, false]);
  });

  it('that are not known are not checked', () => {
    for (const format of ['no-such-format', 'constructor', '__proto__', 'toString'])
      expect(fits(format, 'anything')).toBe(true);
  });

  it('look at texts only', () => {
    expect(validateJson({ format: 'email' }, 7)).toEqual([]);
  });

  it('find a bad line wherever it stands', () => {
    expect(fits('byte', 'YWJj\n!!!')).toBe(false);
  });
});

const LENGTH = 20_000;
const UNITS = [
  'a',
  'a.',
  'a-',
  'a.a-',
  '.',
  '1',
  '/',
  ':',
  'a:',
  '@',
  '%41',
  'é',
  '{a,',
  '~0',
  'T',
  ' ',
  '\n',
  '[',
  '(',
  '::',
];
const STARTS = ['', 'a@', 'http://', 'http://a.', 'P', '2024-01-01T00:00:00.', '#/', '1/'];
const ENDS = ['', '!', '@'];

const attacks = STARTS.flatMap((start) =>
  UNITS.flatMap((unit) => ENDS.map((end) => start + unit.repeat(LENGTH / unit.length) + end)),
);
const ordinary = 'An ordinary text, as long as the others. '.repeat(LENGTH / 41);

/**
 * Milliseconds, the best of five: a pause of the process can hit any one, and what is slow is slow
 * every time.
 */
function timeOf(act: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    act();
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe('formats, on 20 KB made to be slow,', () => {
  const names = [...FORMATS]
    .filter(([, format]) => format !== true && !(typeof format === 'object' && 'type' in format))
    .map(([name]) => name);

  it.each(names)('take for %s at most a hundred times what an ordinary text takes', (name) => {
    const schema = checkSchema({ format: name }, 'test');
    const usual = Math.max(
      timeOf(() => validateJson(schema, ordinary)),
      0.2,
    );
    const slow = attacks.filter((text) => timeOf(() => validateJson(schema, text)) > 100 * usual);

    expect(slow.map((text) => `${text.slice(0, 30)}…${text.slice(-1)}`)).toEqual([]);
  });

  it('show by the url of ajv-formats what slow means', () => {
    const attack = `http://${':'.repeat(LENGTH)}`;
    const { url } = fullFormats;
    const theirs = timeOf(() => url instanceof RegExp && url.test(attack));

    expect(timeOf(() => fits('url', attack))).toBeLessThan(theirs / 5);
  });
});
