/**
 * Ways to write a path that ends up somewhere else when somebody decodes, cleans, joins or follows
 * it.
 */

import { createRandom, type Random } from '../../conformance/benches/fuzz/random.ts';

const UP = [
  ...[
    '..',
    '../..',
    '../../..',
    './..',
    '.././..',
    '...',
    '....//',
    '..././',
    '.. ',
    ' ..',
    '..\t',
    '..\u00a0',
    '.\u200b.',
    '..\u0000',
    '..\u00ad',
  ],
  ...[
    '%2e%2e',
    '%2E%2E',
    '.%2e',
    '%2e.',
    '%252e%252e',
    '%c0%ae%c0%ae',
    '%e0%80%ae%e0%80%ae',
    '%u002e%u002e',
    '&#46;&#46;',
    '\\.\\.',
  ],
  ...[
    '\uff0e\uff0e',
    '\u2024\u2024',
    '\u2025',
    '\ufe52\ufe52',
    '\u3002\u3002',
    '\ud800..',
    '..;',
    '..%00',
    '..%0d',
    '..#',
    '..?',
    '..::$DATA',
    '..:',
  ],
];
const SLASHES = [
  '/',
  '//',
  '///',
  '\\',
  '\\\\',
  '/\\',
  '\\/',
  '%2f',
  '%5c',
  '%252f',
  '\uff0f',
  '\u2215',
  '\u2044',
  '\uff3c',
  '%c0%af',
  '/./',
  '/.//',
];
const STARTS = [
  ...[
    '',
    '',
    '',
    '/',
    '//',
    './',
    './/',
    'dir/',
    'dir/deep/',
    'dir/../',
    'inside.txt/',
    'missing/',
    'missing/../',
    ' ',
    '~/',
    '~root/',
    'C:\\',
    'c:/',
  ],
  ...[
    '\\\\?\\',
    '\\\\.\\',
    '//server/share/',
    'file://',
    'file:///',
    'file:',
    '\ufeff',
    'dir\u0000/',
    '%00/',
    'link-up/',
    'link-out/',
    'link-absolute/',
  ],
  ...[
    'link-chain/',
    'link-loop/',
    'link-proc/',
    'link-fd/',
    'proc/self/root/',
    '/proc/self/root/',
    '/proc/self/cwd/',
    '/dev/fd/',
    'dir/link-out/',
  ],
];
const ENDS = [
  ...[
    'outside/secret.txt',
    'secret.txt',
    'outside/new.txt',
    'new.txt',
    'outside',
    '',
    '.',
    '..',
    'outside/secret.txt/',
    'outside/secret.txt/.',
  ],
  ...[
    'outside/secret.txt.',
    'outside/secret.txt ',
    'OUTSIDE/SECRET.TXT',
    'outside/secret.txt\u0000.png',
    'outside%2fsecret.txt',
    'root/../outside/secret.txt',
  ],
  ...[
    'link-file',
    'link-dangling',
    'link-file/',
    'dir/link-file',
    'link-up/outside/secret.txt',
    'etc/passwd',
    'proc/self/environ',
    'outside//secret.txt',
  ],
];

function spelling(random: Random, base: string): string {
  if (random.oneIn(40))
    return `${base}/outside/${random.pick(['secret.txt', 'new.txt', '', '../outside/secret.txt'])}`;
  if (random.oneIn(60))
    return (
      random.pick(['../', 'dir/../', './', 'missing/../']).repeat(1 + random.below(600)) +
      random.pick(ENDS)
    );
  let text = random.pick(STARTS);
  for (let ups = random.below(4); ups > 0; ups -= 1) text += random.pick(UP) + random.pick(SLASHES);
  // Some go up plainly, so that whoever joins without looking gets there.
  return text + random.pick(['', '', '../', 'dir/../../']) + random.pick(ENDS);
}

/**
 * `count` different spellings; the same seed gives the same. `base` holds the folders `root` and
 * `outside`.
 */
export function traversalSpellings(count: number, base: string, seed = 1): readonly string[] {
  const random = createRandom(seed);
  const found = new Set<string>(
    UP.flatMap((up) => SLASHES.map((slash) => `${up}${slash}outside${slash}secret.txt`)),
  );
  while (found.size < count) found.add(spelling(random, base));
  return [...found].slice(0, count);
}
