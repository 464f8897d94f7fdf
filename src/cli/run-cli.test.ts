import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { buildProgram, commandsFor } from './run-cli.ts';

const stream = new PassThrough();
const io = {
  stdin: stream,
  stdout: stream,
  stderr: stream,
  env: {},
  cwd: '/',
  signal: new AbortController().signal,
};
const namesFor = async (...args: readonly string[]) =>
  buildProgram(io, async () => {}, await commandsFor(args)).commands.map((command) =>
    command.name(),
  );

describe('the commands of a command line', () => {
  it('are the one that is named first, under its own name, and help', async () => {
    const all = await namesFor();

    expect(all.length).toBeGreaterThan(10);
    for (const name of all.filter((each) => each !== 'help'))
      expect(await namesFor(name, 'schema')).toEqual([name, 'help']);
  });

  it.each([
    ['help', 'proxy'],
    ['--version'],
    ['-h', 'proxy'],
    ['recipts'],
    ['toString'],
    ['__proto__'],
    [''],
  ])('are all where none is named first: %s', async (...args) =>
    expect(await namesFor(...args)).toEqual(await namesFor()),
  );
});
