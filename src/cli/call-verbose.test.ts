import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasPty } from '../consent/pty.fixture.ts';
import { atTerminalIn } from './cli.fixture.ts';
import { DUAL, startProxy } from './proxy/proxy.fixture.ts';
import { allium, MAIN, projectWith } from './run-command.fixture.ts';

const TALKATIVE = `---
parameters: { n: { type: number } }
script: |
  def run(args):
      print("printed", args.get("n"), "\\x1b[2J")
      log.info("an info")
      log.warn("a warning")
      return 1 // args.get("n", 1)
---
Talks.
`;

function project(): string {
  const folder = projectWith();
  mkdirSync(join(folder, '.allium', 'tools'), { recursive: true });
  writeFileSync(join(folder, '.allium', 'tools', 'get_talk.md'), TALKATIVE);
  return folder;
}

const messagesIn = (err: string) =>
  err
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { readonly msg: string }).msg);

describe('what scripts print and log', () => {
  it('is JSON on a standard error that is no terminal: warnings, and with -v everything', () => {
    const folder = project();
    const quiet = allium(folder, ['call', 'get_talk', '--args', '{}'], { fresh: true });
    const verbose = allium(folder, ['call', 'get_talk', '--args', '{"n":1}', '-v'], {
      fresh: true,
    });

    expect([quiet.code, quiet.out, verbose.out]).toEqual([0, '1\n', '1\n']);
    expect(messagesIn(quiet.err)).toEqual(['a warning']);
    expect(messagesIn(verbose.err)).toEqual(['printed 1 \u001b[2J', 'an info', 'a warning']);
  });

  it('is lines for people where text is asked for, and acts upon nothing', () => {
    const { err } = allium(project(), [
      'call',
      'get_talk',
      '--args',
      '{"n":1}',
      '--verbose',
      '--log-format',
      'text',
    ]);

    expect(err).toBe(
      'info  get_talk: printed 1 \\u{1b}[2J\ninfo  get_talk: an info\nwarn  get_talk: a warning\n',
    );
  });

  it('shows where a script failed, below the line', () => {
    const { code, err } = allium(project(), [
      'call',
      'get_talk',
      '--args',
      '{"n":0}',
      '--log-format',
      'text',
    ]);

    expect(code).toBe(1);
    expect(err).toContain(
      'warn  get_talk: script of get_talk: floored division by zero\n      at .allium/tools/get_talk.md:8:16 in run\n',
    );
  });

  it.runIf(hasPty)('is lines for people at a terminal', async () => {
    const { stdout } = await atTerminalIn(
      project(),
      'call',
      'get_talk',
      '--args',
      '{"n":1}',
      '-v',
    ).ended();
    const text = stripVTControlCharacters(stdout).replaceAll('\r', '');

    expect(text).toContain('info  get_talk: an info\nwarn  get_talk: a warning\n');
    expect(text).not.toContain('"level"');
  });

  it('takes no other format', () => {
    expect(allium(project(), ['call', 'get_talk', '--log-format', 'xml'])).toMatchObject({
      code: 2,
      out: '',
    });
  });

  it('is shown by serve as well', async () => {
    const program = [process.execPath, MAIN, 'serve'];
    const server = startProxy(['-v', '--log-format', 'text'], {
      cwd: project(),
      env: { PATH: process.env.PATH ?? '' },
      program,
    });
    await server.greet();
    const answer = await server.call('get_talk', { n: 1 });
    server.leave();

    expect(answer).toMatchObject({ result: { content: [{ type: 'text', text: '1' }] } });
    expect(await server.ended).toBe(0);
    expect(server.err()).toContain('info  get_talk: an info\nwarn  get_talk: a warning\n');
  });

  it('is shown by proxy as well: where the script of a hook failed', async () => {
    const cwd = projectWith({ 'allium.yaml': 'version: 1\nlayers: [{ hooks: { dir: . } }]\n' });
    mkdirSync(join(cwd, '.allium', 'hooks'), { recursive: true });
    const hook = `---
event: tool.pre
script: |
  def handle(event, payload):
      return payload["nothing"]
---
Fails.
`;
    writeFileSync(join(cwd, '.allium', 'hooks', 'failing.md'), hook);
    const words = ['-v', '--log-format', 'text', '--', process.execPath, DUAL];
    const proxy = startProxy(words, { cwd, env: { PATH: process.env.PATH ?? '' } });
    await proxy.greet();
    const answer = await proxy.call('write_note', { text: 'one' });
    proxy.leave();

    expect(answer).toMatchObject({ result: { isError: true } });
    expect(await proxy.ended).toBe(0);
    expect(proxy.err()).toMatch(
      /^warn {2}write_note: the script of a hook failed \(\w+\)\n {6}at /m,
    );
  });
});
