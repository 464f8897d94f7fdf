/** Programs that work on files, and what makes them run others. */

import type { ProgramRow } from './program-row.ts';

const words = (text: string): readonly string[] => text.split(' ');

/** Rows; the reader of the table is `fitsRow`. */
export const PROGRAMS_FOR_FILES: readonly ProgramRow[] = Object.freeze([
  {
    programs: ['find', 'gfind'],
    can: 'run a program for each file, delete files or write lists',
    words: words('-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from'),
    endless: true,
    asked: 'find . -name x -exec rm {} ;',
    passes: 'find . -name x -type f',
  },
  {
    programs: ['fd', 'fdfind'],
    can: 'run a program for each file',
    short: 'xX',
    long: words('exec exec-batch'),
    asked: 'fd x -x rm',
    passes: 'fd x',
  },
  {
    programs: ['tar', 'gtar', 'bsdtar'],
    can: 'run a program as compressor, checkpoint or receiver, or read options from a file',
    long: words(
      'checkpoint-action to-command use-compress-program info-script new-volume-script rsh-command rmt-command files-from',
    ),
    short: 'IFT',
    bundled: true,
    asked: 'tar xf a.tar --checkp=exec=sh',
    passes: 'tar -tf a.tar',
  },
  {
    programs: ['tar', 'gtar', 'cpio'],
    can: 'reach another machine through a remote shell',
    pattern: /:/,
    asked: 'tar tf host:a.tar',
    passes: 'tar tf a.tar',
  },
  {
    programs: ['cpio'],
    can: 'start a remote shell',
    long: words('rsh-command file'),
    short: 'FIO',
    asked: 'cpio --rsh-command=x -i',
    passes: 'cpio -t',
  },
  {
    programs: ['zip'],
    can: 'run a program to test the archive',
    short: 'T',
    long: words('unzip-command test'),
    words: ['-TT'],
    asked: 'zip a.zip b -T -TT x',
    passes: 'zip a.zip b',
  },
  {
    programs: ['rsync'],
    can: 'start another remote shell or remote program',
    short: 'eM',
    long: words('rsh rsync-path remote-option config daemon'),
    pattern: /:/,
    asked: 'rsync -ae sh a b',
    passes: 'rsync -a b c',
  },
  {
    programs: ['split', 'gsplit'],
    can: 'pipe what it splits into a program',
    long: ['filter'],
    asked: 'split --filter=x a',
    passes: 'split a',
  },
  {
    programs: ['install', 'ginstall'],
    can: 'run a program to strip files',
    long: words('strip-program'),
    asked: 'install --strip-program=x a b',
    passes: 'install a b',
  },
  {
    programs: ['sort', 'gsort'],
    can: 'run a compressor or write a file',
    short: 'o',
    long: words('compress-program output'),
    asked: 'sort --compress-prog=x a',
    passes: 'sort -u a',
  },
  {
    programs: ['date', 'gdate'],
    can: 'read a file or set the clock',
    short: 'fs',
    long: words('file set'),
    asked: 'date -f x',
    passes: 'date -u',
  },
  { programs: ['tree'], can: 'write a file', short: 'oR', asked: 'tree -o x', passes: 'tree -a' },
  {
    programs: ['file'],
    can: 'write a compiled list of types',
    short: 'C',
    long: ['compile'],
    asked: 'file -C -m x',
    passes: 'file x',
  },
]);
