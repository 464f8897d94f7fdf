import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasPty, KEYS, openPty, type Pty } from '../consent/pty.fixture.ts';
import { runCli } from './run-cli.ts';
import { projectWith } from './run-command.fixture.ts';

const FILES = {
  'allium.yaml':
    'version: 1\nlayers: [{ consent: { default: ask } }]\ntools: [{ module: ./tools.mjs }]\n',
  'tools.mjs': `export default { name: 'wipe', description: 'Wipes.', inputSchema: { type: 'object' }, execute: () => 'gone \\u001b[2J' };`,
};

/** The command at a terminal, whose keys and screen the test has. */
async function callAt(pty: Pty, stdoutIsTerminal = false): Promise<{ code: number; out: string }> {
  const stdout = Object.assign(new PassThrough(), { isTTY: stdoutIsTerminal });
  const io = {
    stdin: pty.input,
    stdout,
    stderr: pty.output,
    env: {},
    cwd: projectWith(FILES),
    signal: new AbortController().signal,
  };
  const code = await runCli(['call', 'wipe', '--args', '{"path":"/tmp/x"}'], io);
  return { code, out: String(stdout.read() ?? '') };
}

async function terminal(): Promise<Pty> {
  const pty = await openPty();
  onTestFinished(() => pty.close());
  return pty;
}

describe.runIf(hasPty)('allium call at a terminal', () => {
  it('shows the call and runs it when it is allowed', async () => {
    const pty = await terminal();
    const calling = callAt(pty);
    await pty.shows('Allow this call?');
    pty.press(KEYS.up, KEYS.enter);

    expect(await calling).toEqual({ code: 0, out: 'gone \u001b[2J\n' });
    expect(pty.screen()).toContain('/tmp/x');
  });

  it('refuses it when the question is left', async () => {
    const pty = await terminal();
    const calling = callAt(pty);
    await pty.shows('Allow this call?');
    pty.press(KEYS.ctrlC);
    const { code, out } = await calling;

    expect(code).toBe(1);
    expect(out).toContain('wipe was not approved');
  });

  it('keeps what a tool says from acting upon the screen', async () => {
    const pty = await terminal();
    const calling = callAt(pty, true);
    await pty.shows('Allow this call?');
    pty.press(KEYS.up, KEYS.enter);

    expect((await calling).out).toBe('gone \\u{1b}[2J\n');
  });
});
