import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasPty, KEYS } from '../consent/pty.fixture.ts';
import { allium, atTerminal, misbehaving, misbehavingFile } from './cli.fixture.ts';

const version = (
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  }
).version;
const usage = (stderr: unknown) => ({ code: 2, signal: null, stdout: '', stderr });
/** One line, in which nothing acts upon a terminal. */
const line = (text: string): unknown =>
  expect.stringMatching(new RegExp(`^allium: [^\\p{Cc}]*${text}[^\\p{Cc}]*\\n$`, 'u'));

describe('allium', () => {
  it('alone shows help as a mistake', () => {
    expect(allium()).toEqual(usage(expect.stringContaining('Usage: allium <command>')));
  });

  it('--version prints the version of the package', () => {
    expect(allium('--version')).toEqual({
      code: 0,
      signal: null,
      stdout: `${version}\n`,
      stderr: '',
    });
  });

  it('--help and help print the same, as a result', () => {
    const { code, stdout, stderr } = allium('--help');

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('  schema [options] [name] ');
    expect(allium('help').stdout).toBe(stdout);
  });

  it('help of a command is that of the command', () => {
    expect(allium('help', 'schema')).toEqual(allium('schema', '--help'));
    expect(allium('help', 'schema').stdout).toMatch(
      /Usage: allium schema [^]*--out <folder>[^]*Examples:/,
    );
  });

  it.each([
    ['an unknown command', ['shema'], 'Did you mean schema\\?'],
    ['help of an unknown command', ['help', 'shema'], 'did you mean "schema"\\?'],
    ['an unknown option', ['schema', '--lst'], 'Did you mean --list\\?.*allium schema --help'],
    ['an option without its value', ['schema', '--out'], 'argument missing'],
    ['one argument too many', ['schema', 'event', 'span'], 'too many arguments'],
    ['a command that would act upon the terminal', ['\u001b[2J\u202e\nx'], '\\\\u\\{1b\\}\\[2J'],
  ])('tells of %s in one line', (_name, args, text) => {
    expect(allium(...args)).toEqual(usage(line(text)));
  });
});

describe('a command', () => {
  it('that breaks is one line, and the place of it only for ALLIUM_DEBUG', async () => {
    const plain = await misbehaving('fail').ended();
    const debug = await misbehaving('fail', { ALLIUM_DEBUG: '1' }).ended();

    expect(plain).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: line('unexpected: broken.*ALLIUM_DEBUG'),
    });
    expect(debug.stderr).toMatch(/^ +at /m);
    expect(debug.stderr).not.toContain('\u001b');
  });

  it('that breaks outside of its promise is one line too', async () => {
    expect(await misbehaving('fail-later').ended()).toMatchObject({
      code: 1,
      stderr: line('unexpected: broken'),
    });
  });

  it('that finds no file says which', async () => {
    expect(await misbehaving('read').ended()).toEqual(
      usage(line('/there/is\\\\u\\{1b\\}nothing: there is no such file')),
    );
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends cleanly on %s', async (signal, code) => {
    const running = misbehaving('wait');
    await running.shows('ready');
    running.child.kill(signal);

    expect(await running.ended()).toEqual({
      code,
      signal: null,
      stdout: 'ready\n',
      stderr: 'asked to end\n',
    });
  });

  it('that does not end is ended by the second signal', async () => {
    const running = misbehaving('ignore');
    await running.shows('ready');
    running.child.kill('SIGINT');
    await running.shows('asked to end');
    running.child.kill('SIGINT');

    expect(await running.ended()).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  it.each([
    ['flood', 1],
    ['flood-and-fail', 0],
  ])('ends when nobody reads any more: %s', async (command, code) => {
    const running = misbehaving(command);
    await running.shows('xxx');
    running.child.stdout?.destroy();

    expect(await running.ended()).toMatchObject({ code, signal: null, stderr: 'asked to end\n' });
  });
});

describe.skipIf(!hasPty)('at a terminal', () => {
  it('help fits its width', async () => {
    const { code, stdout } = await atTerminal(64, ['help', 'schema']).ended();
    const [options = ''] = stdout.split('Examples:');

    expect(code).toBe(0);
    expect(Math.max(...options.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(64);
    expect(options).toContain('<name>.schema.json');
  });

  it('help is there where the terminal does not know its width', async () => {
    expect((await atTerminal(0, ['help', 'schema']).ended()).stdout).toContain(
      'instead: the one that is\r\n',
    );
  });

  it('a mistake is one line without an escape', async () => {
    const { code, stdout } = await atTerminal(80, ['\u001b[2Jshema']).ended();

    expect(code).toBe(2);
    expect(stdout).toMatch(/^allium: unknown command '\\u\{1b\}\[2Jshema'[^\r\n]*\r\n$/);
  });

  it('Ctrl-C ends a command cleanly', async () => {
    const running = atTerminal(80, ['wait'], misbehavingFile());
    await running.shows('ready');
    running.child.stdin?.write(KEYS.ctrlC);

    expect(await running.ended()).toMatchObject({
      code: 130,
      stdout: expect.stringContaining('asked to end') as unknown,
    });
  });
});
