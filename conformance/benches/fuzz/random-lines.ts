/**
 * Random lines for shells: plain ones that were tampered with, and words and signs thrown together.
 */

import type { Random } from './random.ts';

const WORDS = [
  'pa',
  'pb',
  'pc',
  'pf',
  'px',
  'pu',
  'x',
  'E',
  'a',
  'f1',
  '-n',
  '--',
  '-',
  '.',
  '/',
  '/dev/null',
  'é',
  'exec',
  'eval',
  'command',
];
const RESERVED =
  'if then elif else fi for in do done while until case esac function time select coproc { } ! [[ ]] [ ]'.split(
    ' ',
  );
const SIGNS = [
  ...[
    ' ',
    ' ',
    ' ',
    '\n',
    '\t',
    "'",
    "'",
    '"',
    '"',
    '`',
    '\\',
    '$',
    '(',
    ')',
    '{',
    '}',
    '<',
    '>',
    '&',
    '|',
    ';',
    '#',
    '!',
    '~',
    '*',
    '?',
  ],
  ...[
    '=',
    '+',
    '-',
    '^',
    '%',
    '@',
    ',',
    ':',
    '[',
    ']',
    '0',
    '1',
    '2',
    '9',
    '10',
    '\r',
    '\v',
    '\f',
    '\u00a0',
    '\u3000',
    '\0',
  ],
];
const TOKENS = [
  ...[
    '&>',
    '&>>',
    '>&',
    '|&',
    ';;',
    ';&',
    '<<',
    '<<<',
    '<(',
    '>(',
    '>|',
    '<>',
    '<&',
    '$(',
    '${',
    '$((',
    '$[',
    "$'",
    '$"',
    '((',
    '))',
    '&&',
    '||',
  ],
  ...[
    '2>&1',
    '>/dev/null',
    '1>',
    '10>',
    '{fd}>',
    'x=',
    'x+=',
    'x=(',
    'x[0]=',
    '$x',
    '"$x"',
    '${x}',
    '${x-',
    '${x:-',
    '"${x-',
    '${#x}',
    '$@',
    '$?',
    '$1',
  ],
  ...[
    '\\\n',
    '{px,pa}',
    '{a,b}',
    '{}',
    '!!',
    '~root',
    '~+',
    '=pa',
    '<<E\n',
    '\nE\n',
    '@(a)',
    '*(px)',
    '$(px)',
    '`px`',
    ' px ',
    '; px',
    '\\"',
    "\\'",
  ],
  ...[
    "'\\''",
    '"\\\\"',
    '$(pa)',
    '"$(pa b)"',
    '(pa)',
    'if pa; then ',
    '; fi',
    'for x in a b; do ',
    '; done',
    '2>',
    '> f2',
    'LC_ALL=C ',
    ' # ',
    '#',
  ],
];
const PLAIN = [
  ...[
    'pa',
    'pa -n',
    "pa 'a b'",
    'pa "a b"',
    'pa "$x"',
    'pa $x',
    'pa ${x}',
    'pa a\\ b',
    'pa; pb',
    'pa && pb',
    'pf || pb',
    'pa | pb',
    'pa\npb',
  ],
  ...[
    '(pa; pb)',
    'pa $(pb)',
    'pa "$(pb "a")"',
    'if pa; then pb; fi',
    'if pf; then pa; else pb; fi',
    'for x in a b; do pa "$x"; done',
    'pa 2>&1',
  ],
  ...[
    'pa >/dev/null',
    'pa > /dev/null 2>&1',
    'pa < f1',
    'x=1; pa "$x"',
    'LC_ALL=C pa',
    'pa *',
    'pa ~',
    'pa ~/a',
    'exec pa',
    "eval 'pa b'",
    'command pa',
  ],
  ...[
    'pa \\\n b',
    'pa # px',
    'pa {}',
    "pa 'px; px'",
    'pa "px; px"',
    'pa a=b',
    "'pa' b",
    'p\\a b',
    "pa 'é'",
    'pa b | (pb c; pc) && pa',
    'pa 2>/dev/null | pb',
  ],
];
const ALL = [WORDS, RESERVED, SIGNS, SIGNS, TOKENS, TOKENS];

/** The tokens of every kind, for lines that repeat one of them. */
export const SHELL_TOKENS: readonly string[] = Object.freeze([
  ...new Set([...WORDS, ...RESERVED, ...SIGNS, ...TOKENS]),
]);

/** The next line. Most of them are no lines any shell accepts, or none that is allowed. */
export function randomLine(random: Random): string {
  const token = (): string => random.pick(random.pick(ALL));
  if (random.oneIn(4))
    return `pa ${Array.from({ length: 1 + random.below(6) }, token).join(random.oneIn(2) ? '' : ' ')}`;
  let line = random.pick(PLAIN);
  if (random.oneIn(2)) line += random.pick([' ', '; ', ' && ', ' | ', '\n']) + random.pick(PLAIN);
  for (let changes = random.below(4); changes > 0; changes -= 1) {
    const at = random.below(line.length + 1);
    const isCut = random.oneIn(3);
    line =
      line.slice(0, at) +
      (isCut && random.oneIn(2) ? '' : token()) +
      line.slice(isCut ? at + 1 + random.below(2) : at);
  }
  return line;
}
