/**
 * Configurations as nobody would write them: odd white space, comments, escapes, hostile names, and
 * what each of them means.
 */

import fc from 'fast-check';

/** A map as a list of pairs: the order counts, and a key may be `__proto__`. */
export interface Pairs {
  readonly pairs: readonly (readonly [string, Written])[];
}
export type Written = string | number | boolean | null | readonly Written[] | Pairs;

export const isPairs = (value: Written): value is Pairs =>
  typeof value === 'object' && value !== null && 'pairs' in value;

const names = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'files',
    '',
    '--http',
    '--',
    'a.b',
    'a b',
    '"',
    '\u2028',
    'ünïcode 🧅',
    '\ud800',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const words = fc.oneof(
  fc.constantFrom(
    '',
    '--',
    'proxy',
    '-y',
    '${input:key}',
    '// no comment',
    '/*',
    '[mcp_servers.x]',
    '\\',
  ),
  names,
);
const unknown: fc.Arbitrary<Written> = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    pairsOf(tie('value')),
  ),
})).value;

function pairsOf(value: fc.Arbitrary<Written>, key = names): fc.Arbitrary<Pairs> {
  return fc
    .uniqueArray(fc.tuple(key, value), { maxLength: 4, selector: ([name]) => name })
    .map((pairs) => ({ pairs }));
}

const extras = fc.uniqueArray(
  fc.tuple(fc.constantFrom('cwd', 'disabled', 'x-mine', '__proto__', 'envFile', 'tools'), unknown),
  {
    maxLength: 2,
    selector: ([key]) => key,
  },
);

/** Members in any order. */
const shuffled = (
  ...members: readonly fc.Arbitrary<readonly (readonly [string, Written])[]>[]
): fc.Arbitrary<Pairs> =>
  fc
    .tuple(fc.tuple(...members), fc.array(fc.nat(), { minLength: 12, maxLength: 12 }))
    .map(([lists, order]) => ({
      pairs: lists
        .flat()
        .map((pair, at) => [order[at] ?? 0, pair] as const)
        .sort(([a], [b]) => a - b)
        .map(([, pair]) => pair),
    }));

const maybe = (key: string, value: fc.Arbitrary<Written>) =>
  fc
    .option(value, { nil: undefined })
    .map((found) => (found === undefined ? [] : [[key, found] as const]));
const always = (key: string, value: fc.Arbitrary<Written>) =>
  value.map((found) => [[key, found] as const]);

const processServer = shuffled(
  always('command', fc.constantFrom('npx', '/usr/bin/node', 'C:\\Program Files\\x.exe', 'ünï')),
  maybe('args', fc.array(words, { maxLength: 4 })),
  maybe('type', fc.constant('stdio')),
  maybe('env', pairsOf(words)),
  extras,
);
const httpServer = shuffled(
  always(
    'url',
    fc.constantFrom('https://a.example/mcp', 'http://127.0.0.1:1/', 'https://${HOST}/mcp'),
  ),
  maybe('type', fc.constantFrom('http', 'streamable-http')),
  maybe(
    'headers',
    pairsOf(words, fc.constantFrom('Authorization', 'X-Key', 'constructor', '__proto__')),
  ),
  extras,
);
const servers = pairsOf(fc.oneof(processServer, processServer, httpServer, unknown)).filter(
  ({ pairs }) => pairs.length > 0,
);

/** What a configuration says. */
export const configs: fc.Arbitrary<Pairs> = fc
  .tuple(
    fc.constantFrom('mcpServers', 'servers'),
    servers,
    fc.uniqueArray(fc.tuple(fc.constantFrom('inputs', 'x', '__proto__', 'theme'), unknown), {
      maxLength: 2,
      selector: ([key]) => key,
    }),
    fc.boolean(),
  )
  .map(([key, found, rest, isFirst]) => ({
    pairs: isFirst ? [[key, found], ...rest] : [...rest, [key, found]],
  }));

const trivia = fc.constantFrom(
  '',
  '',
  ' ',
  '\n',
  '\t',
  '\r\n  ',
  ' // "a": [ {\n',
  '/* , */',
  '/**/',
  '\n\n    ',
);
/**
 * How it is written: what stands between the signs, which strings are escaped, where a comma too
 * many is.
 */
export const manners = fc.record({
  between: fc.array(trivia, { minLength: 1, maxLength: 40 }),
  escapes: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
  trailing: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  mark: fc.constantFrom('', '\ufeff'),
});

type Manners = typeof manners extends fc.Arbitrary<infer T> ? T : never;

/** Writes it down. The same manners always come to the same text. */
export function written(config: Pairs, { between, escapes, trailing, mark }: Manners): string {
  let [gaps, strings, ends] = [0, 0, 0];
  const gap = () => between[gaps++ % between.length] ?? '';
  const quote = (text: string) =>
    escapes[strings++ % escapes.length] === true ? escaped(text) : JSON.stringify(text);
  const series = (parts: readonly (() => string)[]): string =>
    parts.map((part) => gap() + part() + gap()).join(',') +
    (parts.length > 0 && trailing[ends++ % trailing.length] === true ? ',' : '') +
    gap();
  const write = (value: Written): string => {
    if (typeof value === 'string') return quote(value);
    if (Array.isArray(value)) return `[${series(value.map((each: Written) => () => write(each)))}]`;
    if (isPairs(value))
      return `{${series(
        value.pairs.map(
          ([key, each]) =>
            () =>
              `${quote(key)}${gap()}:${gap()}${write(each)}`,
        ),
      )}}`;
    return JSON.stringify(value);
  };
  return `${mark}${gap()}${write(config)}${gap()}`;
}

const escaped = (text: string): string =>
  `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

/** What a text means, by a reader that shares nothing with the one that is tested. */
export function meaningOf(text: string): unknown {
  const bare = text
    .replace(/^\ufeff/, '')
    .replace(
      /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g,
      (_all, string: string | undefined) => string ?? ' ',
    );
  return JSON.parse(
    bare.replace(
      /("(?:\\.|[^"\\])*")|,(?=\s*[\]}])/g,
      (_all, string: string | undefined) => string ?? '',
    ),
  );
}
