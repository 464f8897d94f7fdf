/** `allium init`: a stack to begin with. */

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { type AddCommand, UsageError, writeLine } from './io/io.ts';
import { STARTER_CONFIG, STARTER_TOOLS } from './starter-files.ts';

const FILES: readonly (readonly [string, string])[] = [
  ['allium.yaml', STARTER_CONFIG],
  ['tools.ts', STARTER_TOOLS],
];

/** Writes a file with a stack and one with tools. */
export const addInit: AddCommand = (program, io, run) => {
  program
    .command('init')
    .description('write an allium.yaml to begin with, and two tools to try it on')
    .option('--dir <folder>', 'where to write them', '.')
    .option('--force', 'replace files that are there')
    .addHelpText(
      'after',
      '\nExamples:\n  allium init\n  allium init --dir agent\n\nThen:\n  allium explain\n  allium call add --args \'{"a":1,"b":2,"reason":"a first try"}\'',
    )
    .action((options: { dir: string; force?: boolean }) =>
      run(async () => {
        const folder = resolve(io.cwd, options.dir);
        const taken = FILES.map(([name]) => name).filter((name) => existsSync(join(folder, name)));
        if (taken.length > 0 && options.force !== true) {
          throw new UsageError(
            `${taken.join(' and ')} in ${options.dir} would be replaced; --force does it`,
          );
        }
        try {
          await mkdir(folder, { recursive: true });
          for (const [name, text] of FILES)
            await writeFile(join(folder, name), text, {
              flag: options.force === true ? 'w' : 'wx',
            });
        } catch (error) {
          throw new UsageError(`${options.dir} cannot be written to: ${codeOf(error)}`);
        }
        const path = relative(io.cwd, folder);
        await writeLine(io.stdout, FILES.map(([name]) => `wrote ${join(path, name)}`).join('\n'));
        await writeLine(io.stderr, nextSteps(path === '' ? '' : `cd ${path}\n  `));
        return 0;
      }),
    );
};

const nextSteps = (enter: string): string => `
Next:
  ${enter}allium explain
  allium call add --args '{"a":1,"b":2,"reason":"a first try"}'
  allium call write_note --args '{"text":"hello","reason":"a first try"}'    (you are asked)

Receipts and their keys are kept in .allium: leave that folder out of version control.`;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'it failed';
