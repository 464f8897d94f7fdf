import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram, commandsFor } from '../src/cli/run-cli.ts';
import { headingsOf, tableRows } from './check-docs.ts';

const page = readFileSync(join(import.meta.dirname, 'command-line.md'), 'utf8');
const stream = new PassThrough();
const io = {
  stdin: stream,
  stdout: stream,
  stderr: stream,
  env: {},
  cwd: '/',
  signal: new AbortController().signal,
};

interface Documented {
  readonly heading: string;
  /** As `--help` shows them. */
  readonly parts: readonly string[];
}

/**
 * Every command of the real program, with the commands of commands. commander's own help is
 * everywhere and on no page.
 */
const commandsIn = (parent: Command, path: string): readonly Documented[] =>
  parent.commands
    .filter((command) => parent.parent === null || command.name() !== 'help')
    .flatMap((command) => {
      const name = `${path} ${command.name()}`;
      const args = command.registeredArguments.map((each) => {
        const word = `${each.name()}${each.variadic ? '...' : ''}`;
        return each.required ? `<${word}>` : `[${word}]`;
      });
      const parts = [
        ...args,
        ...command.options.filter(({ hidden }) => !hidden).map(({ flags }) => flags),
      ];
      return [{ heading: `\`${name}\``, parts }, ...commandsIn(command, name)];
    });

const commands = commandsIn(
  buildProgram(io, async () => {}, await commandsFor([])),
  'allium',
);

describe('the page of the command line', () => {
  it('has a section for every command, and for no other', () => {
    const sections = headingsOf(page).map(({ text }) => text);

    expect(commands.length).toBeGreaterThan(1);
    expect(sections.filter((text) => text.startsWith('`allium ')).sort()).toEqual(
      commands.map(({ heading }) => heading).sort(),
    );
  });

  it.each(commands)(
    '$heading lists its arguments and options, and no other',
    ({ heading, parts }) => {
      expect(tableRows(page, heading).map(([part]) => part)).toEqual(parts);
    },
  );
});
