import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { BuiltinGrants } from './builtin-use.ts';
import { built } from '../../stores/built.fixture.ts';
import { useBuiltins } from './use.fixture.ts';

let workspace: string;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'allium-exec-')));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const run = (kwargs: JsonObject, grants: BuiltinGrants = {}) =>
  useBuiltins({ workspace, ...grants }).call('exec.run', [], kwargs);
const node = (script: string, ...args: readonly string[]) => ({
  cmd: process.execPath,
  args: ['-e', script, ...args],
});

/** Whether a process is there and is not one that only waits to be read. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
const pidsIn = (file: string) =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(Number) : [];
/**
 * A program that starts another, which starts a third; all three write their numbers down and never
 * end.
 */
const family = (file: string) => ({
  cmd: '/bin/sh',
  args: [
    '-c',
    `echo $$ >> ${file}; (echo $$ >/dev/null; sh -c 'echo $$ >> ${file}; sleep 1000' & sleep 1000 & echo $! >> ${file}; wait) & wait`,
  ],
});

/** Takes every handle there is, and starts a program then. */
const EXHAUSTED = `
  import { closeSync, openSync } from 'node:fs';
  import { endOfCommand, startCommand } from 'COMMAND';
  const clock = { after: () => () => {} };
  const command = { argv: ['true'], env: {}, stdin: '', timeoutMs: 1000, maxOutputBytes: 10, signal: new AbortController().signal, clock };
  const taken = [];
  try { for (;;) taken.push(openSync('/dev/null')); } catch {}
  const code = await endOfCommand(startCommand(command, '/'), command).catch(({ code }) => code);
  taken.forEach(closeSync);
  setImmediate(() => process.stdout.write(code + ' goes on'));
`;

describe('exec.run', () => {
  it('runs a program with its arguments, and tells what it said and how it ended', async () => {
    const use = useBuiltins({ workspace });
    const script =
      'process.stdin.pipe(process.stdout); process.stderr.write(process.argv[1]); process.exitCode = 3';

    expect(
      await use.call('exec.run', [process.execPath, ['-e', script, 'a b $HOME;'], 20_000, 'given']),
    ).toEqual({
      ...{ stdout: 'given', stderr: 'a b $HOME;', exit_code: 3, timed_out: false },
    });
    expect(use.asked).toEqual([
      {
        kind: 'process.command',
        argv: [process.execPath, '-e', script, 'a b $HOME;'],
        cwd: workspace,
      },
    ]);
    expect(use.recorded).toMatchObject([{ builtin: 'exec.run', outcome: 'ok' }]);
  });

  it('does not run what is not permitted', async () => {
    const use = useBuiltins({ workspace }, { denies: 'process.' });

    await expect(use.call('exec.run', ['touch', ['made']])).rejects.toThrow('not permitted');
    expect(readdirSync(workspace)).toEqual([]);
    expect(use.recorded).toMatchObject([{ outcome: 'refused' }]);
  });

  it('takes no line for a shell, unless the tool was granted one', async () => {
    await expect(run({ cmd: 'echo a; touch made' })).rejects.toThrow(
      'exec.run: the program could not be started (ENOENT)',
    );
    await run({ cmd: 'echo', args: ['$(touch made)', '; touch made', '`touch made`'] });
    expect(readdirSync(workspace)).toEqual([]);

    const use = useBuiltins({ workspace, shell: true });
    expect(await use.call('exec.run', ['echo a | tr a b'])).toMatchObject({
      stdout: 'b\n',
      exit_code: 0,
    });
    expect(await use.call('exec.run', ['echo', ['a | tr a b']])).toMatchObject({
      stdout: 'a | tr a b\n',
    });
    expect(use.asked.map((request) => ('command' in request ? request.command : 'argv'))).toEqual([
      'echo a | tr a b',
      'argv',
    ]);
  });

  it('says so where the arguments are longer than the system takes', async () => {
    await expect(run({ cmd: 'echo', args: ['a'.repeat(4_000_000)] })).rejects.toThrow(
      'exec.run: the program could not be started (E2BIG)',
    );
  });

  it('says so where no handle is left for a program, and the process goes on', async () => {
    const program = join(workspace, 'exhausted.mjs');
    writeFileSync(
      program,
      EXHAUSTED.replace(
        'COMMAND',
        pathToFileURL(built('src/artifacts/builtins/run-command.ts')).href,
      ),
    );
    const child = spawn(
      '/bin/sh',
      ['-c', `ulimit -n 64; exec "$0" "$1"`, process.execPath, program],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(child, 'close');

    expect(said).toBe('EMFILE goes on');
  });

  it('gives a program the search path and what was granted, and nothing else', async () => {
    const environment = {
      PATH: `.:relative:${process.env.PATH ?? ''}`,
      LANG: 'C',
      SECRET: 'canary',
      GIVEN: 'yes',
      HOME: '/canary',
    };
    const answer = await run(
      { ...node('console.log(JSON.stringify(process.env))'), env: { TZ: 'UTC' } },
      { environment, env: ['GIVEN'] },
    );
    const seen = JSON.parse((answer as { stdout: string }).stdout) as Record<string, string>;

    expect(Object.keys(seen).sort()).toEqual(['GIVEN', 'LANG', 'PATH', 'TZ']);
    expect(seen.PATH).not.toMatch(/(?:^|:)(?:\.|relative)?(?::|$)/);
    expect(JSON.stringify(seen)).not.toContain('canary');
  });

  it.each([
    'LD_PRELOAD',
    'NODE_OPTIONS',
    'PATH',
    'BASH_ENV',
    'GIT_SSH_COMMAND',
    'PYTHONPATH',
    'A=B',
    '',
  ])('lets no script set %j', async (name) => {
    await expect(run({ cmd: 'true', env: { [name]: 'x' } })).rejects.toThrow('is not granted');
  });

  it('tells the permission engine the names of variables, and no value', async () => {
    const use = useBuiltins({ workspace, env: ['TOKEN'] });
    await use.call('exec.run', ['true'], { env: { TOKEN: 'canary' } });

    expect(use.asked).toMatchObject([{ env: { TOKEN: '' } }]);
    expect(JSON.stringify([use.asked, use.recorded])).not.toContain('canary');
  });

  it('works in the workspace and below, and nowhere else', async () => {
    mkdirSync(join(workspace, 'sub'));
    symlinkSync('/', join(workspace, 'link'));

    expect(await run({ cmd: 'pwd' })).toMatchObject({ stdout: `${workspace}\n` });
    expect(await run({ cmd: 'pwd', cwd: 'sub' })).toMatchObject({ stdout: `${workspace}/sub\n` });
    for (const cwd of ['..', '/', 'sub/..', 'link', 'link/etc', 'missing', 'sub\0', '\\']) {
      await expect(run({ cmd: 'pwd', cwd })).rejects.toThrow('exec.run: jail:');
    }
    await expect(useBuiltins({}).call('exec.run', ['pwd'])).rejects.toThrow('not granted');
  });

  it('ends a program with all that it started when its time is over', async () => {
    const file = join(workspace, 'pids');
    const answer = await run({ ...family(file), timeout_ms: 1500 });
    const pids = pidsIn(file);

    expect(answer).toMatchObject({ exit_code: -1, timed_out: true });
    expect(pids.length).toBe(3);
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 5000 });
  });

  it('ends it all when nobody waits any more, and does not wait for that', async () => {
    const file = join(workspace, 'pids');
    const use = useBuiltins({ workspace });
    const running = use.call('exec.run', [], family(file));
    await vi.waitFor(() => expect(pidsIn(file).length).toBe(3), { timeout: 10_000 });
    use.controller.abort();

    await expect(running).rejects.toThrow('exec.run: cancelled');
    await vi.waitFor(() => expect(pidsIn(file).filter(isAlive)).toEqual([]), { timeout: 5000 });
    expect(use.recorded).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('leaves nothing running in the background when the program itself has ended', async () => {
    const file = join(workspace, 'pids');
    const answer = await run({
      cmd: '/bin/sh',
      args: ['-c', `sleep 1000 & echo $! > ${file}; echo done`],
    });

    expect(answer).toMatchObject({ stdout: 'done\n', exit_code: 0, timed_out: false });
    await vi.waitFor(() => expect(pidsIn(file).filter(isAlive)).toEqual([]), { timeout: 5000 });
  });

  it('needs the group: whoever ends the child alone leaves its children', async () => {
    const file = join(workspace, 'pids');
    const { cmd, args } = family(file);
    const child = spawn(cmd, args, { stdio: 'ignore', detached: true });
    await vi.waitFor(() => expect(pidsIn(file).length).toBe(3), { timeout: 10_000 });
    child.kill('SIGKILL');
    await once(child, 'exit');

    expect(pidsIn(file).filter(isAlive).length).toBeGreaterThan(0);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  });

  it('keeps the beginning of what is written, with a mark, and ends what never stops', async () => {
    const cut = await run(
      node('process.stdout.write("é".repeat(700)); process.stderr.write("x".repeat(10))'),
      { maxOutputBytes: 1001 },
    );
    expect(cut).toMatchObject({
      stdout: `${'é'.repeat(500)}\n[cut: more than 1001 bytes]`,
      stderr: 'x'.repeat(10),
    });

    const endless = await run({ cmd: 'yes' }, { maxOutputBytes: 1000 });
    expect(endless).toMatchObject({ exit_code: -1, timed_out: false });
    expect((endless as { stdout: string }).stdout.length).toBeLessThan(1100);
  });

  it('does not mind a program that reads nothing', async () => {
    expect(await run({ cmd: 'true', stdin: 'x'.repeat(1_000_000) })).toMatchObject({
      exit_code: 0,
    });
  });

  it.each([
    [{}, 'exec.run: missing argument "cmd", a string'],
    [{ cmd: 7 }, 'exec.run: "cmd" must be a string, got an int'],
    [{ cmd: '' }, 'exec.run: "cmd" must not be empty'],
    [{ cmd: 'a\0b' }, 'without NUL'],
    [{ cmd: 'a', args: 'b' }, 'exec.run: "args" must be a list of strings, got a string'],
    [{ cmd: 'a', args: [1] }, 'exec.run: "args" must be a list of strings, got a list'],
    [
      { cmd: 'a', timout_ms: 1 },
      'exec.run: has no argument "timout_ms"; did you mean "timeout_ms"?',
    ],
    [
      { cmd: 'a', timeout_ms: 0 },
      'exec.run: "timeout_ms" must be a whole number from 1 to 3600000, got an int',
    ],
    [{ cmd: 'a', timeout_ms: 1.5 }, 'got a float'],
    [{ cmd: 'a', env: [] }, 'exec.run: "env" must be a dict of strings, got a list'],
    [{ cmd: 'a', stdin: null }, 'could not be started'],
    [
      { cmd: 'a', shell: true },
      'exec.run: has no argument "shell"; it takes cmd, args, timeout_ms, stdin, env, cwd',
    ],
    [{ cmd: 'no-such-program-here' }, 'exec.run: the program could not be started (ENOENT)'],
  ])('refuses %j', async (kwargs, message) => {
    await expect(run(kwargs)).rejects.toThrow(message);
  });

  it('refuses arguments that are too many or given twice', async () => {
    const { call } = useBuiltins({ workspace });

    await expect(call('exec.run', ['a', [], 1, '', {}, '', 7])).rejects.toThrow(
      'exec.run: takes at most 6 arguments',
    );
    await expect(call('exec.run', ['a'], { cmd: 'b' })).rejects.toThrow(
      'exec.run: "cmd" is given twice',
    );
  });

  it('runs a script of the workspace by its own path', async () => {
    writeFileSync(join(workspace, 'say.sh'), '#!/bin/sh\necho said\n', { mode: 0o755 });

    expect(await run({ cmd: './say.sh' })).toMatchObject({ stdout: 'said\n' });
  });
});
