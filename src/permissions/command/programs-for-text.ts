/** Programs that show and change text, shell builtins included, and what makes them run others. */

import type { ProgramRow } from './program-row.ts';

const words = (text: string): readonly string[] => text.split(' ');

const TEXT: readonly ProgramRow[] = [
  {
    programs: ['sed', 'gsed'],
    can: 'run commands and write files from its script; only one plain p, d, q, = or s command passes',
    short: 'efil',
    long: words('expression file in-place line-length'),
    first:
      /^(?:(?:\d+|\$)(?:,(?:\d+|\$))?|\/(?:[^/\\\n]|\\[^\n])*\/)?(?:[pdq=]|s\/(?:[^/\\\n]|\\[^\n])*\/(?:[^/\\\n]|\\[^\n])*\/[gpiI0-9]*)$/,
    asked: 'sed 1e x',
    passes: "sed -n 's/a/b/gp' x",
  },
  {
    programs: words('awk gawk mawk nawk original-awk'),
    can: 'run commands, read and write files, or load code from its script',
    short: 'fiIlEeopdDW',
    long: words('file include load exec source profile dump-variables pretty-print debug inplace'),
    pattern: /system|getline|[|>@]|\\\n|ARGV|ENVIRON/,
    asked: "awk 'BEGIN{system(x)}'",
    passes: "awk '{print $1}' x",
  },
  {
    programs: ['less', 'more', 'most'],
    can: 'run commands or write logs',
    short: 'koO',
    long: words('lesskey-file lesskey-src log-file LOG-FILE lesskey-content'),
    pattern: /^\+/,
    asked: "less '+!x' a",
    passes: 'less -N a',
  },
  {
    programs: ['man', 'info'],
    can: 'run another pager, browser or formatter',
    short: 'PHpCRoO',
    long: words('pager html preprocessor config-file output restore'),
    asked: 'man -P x ls',
    passes: 'man ls',
  },
  {
    programs: ['rg'],
    can: 'run a program on each file',
    short: 'z',
    long: words('pre hostname-bin search-zip'),
    asked: 'rg --pre=x y',
    passes: 'rg -n y',
  },
  {
    programs: ['ag', 'ack'],
    can: 'run a pager or filter',
    long: words('pager output ackrc'),
    short: 'z',
    asked: 'ag --pager=x y',
    passes: 'ag y',
  },
  {
    programs: ['bat', 'batcat'],
    can: 'run a pager',
    long: words('pager paging config-file'),
    asked: 'bat --pager=x y',
    passes: 'bat y',
  },
  {
    programs: ['fzf'],
    can: 'run commands for previews and keys',
    long: words('preview bind execute listen with-shell become'),
    asked: 'fzf --preview=x',
    passes: 'fzf -f y',
  },
  {
    programs: ['diff3'],
    can: 'run another program to compare with',
    long: ['diff-program'],
    asked: 'diff3 --diff-program=x a b c',
    passes: 'diff3 a b c',
  },
  {
    programs: ['sdiff'],
    can: 'write a file or run an editor',
    short: 'o',
    long: words('output diff-program'),
    asked: 'sdiff -o x a b',
    passes: 'sdiff a b',
  },
  {
    programs: ['exiftool'],
    can: 'load code and write files',
    short: 'io',
    words: words('-config -if -p -api -@ -w -execute -stay_open'),
    asked: 'exiftool -config x y',
    passes: 'exiftool y',
  },
  {
    programs: words('convert magick identify mogrify composite'),
    can: 'run delegates, scripts and pipes',
    pattern: /[|:@]/,
    words: ['-script'],
    asked: "identify '|x'",
    passes: 'identify a.png',
  },
];

const SHELL: readonly ProgramRow[] = [
  {
    programs: ['test', '['],
    can: 'evaluate the index of a variable, and in some shells any arithmetic',
    words: words('-v -R -eq -ne -lt -le -gt -ge'),
    asked: "test 'a[$(x)]' -eq 0",
    passes: 'test -f x',
  },
  {
    programs: ['printf'],
    can: 'set a variable, and evaluate arithmetic for other formats than %s and %b',
    short: 'v',
    first: /^(?:[^%]|%[%sb])*$/,
    leading: true,
    asked: 'printf -v PATH x',
    passes: 'printf %s x -v',
  },
  {
    programs: words('exit return shift break continue ulimit'),
    can: 'evaluate arithmetic in some shells',
    pattern: /[^\w-]/,
    asked: "shift 'a[$(x)]'",
    passes: 'exit 1',
  },
  {
    programs: ['jobs', 'wait'],
    can: 'run a command or set a variable',
    short: 'xp',
    asked: 'jobs -x y',
    passes: 'jobs -l',
  },
];

/** Programs that show and change text, shell builtins included, and what makes them run others. */
export const PROGRAMS_FOR_TEXT: readonly ProgramRow[] = Object.freeze([...TEXT, ...SHELL]);
