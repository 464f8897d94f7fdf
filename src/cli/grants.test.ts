import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGrant, fileGrants, type GrantRequest } from '../policy/index.ts';
import { type Terminal, UsageError } from './io/io.ts';
import { personAtTerminal } from './person.fixture.ts';
import { runCli } from './run-cli.ts';

const QUERY = {
  toolName: 'read_file',
  args: { path: 'a' },
  definition: 'sha256:one',
  sessionId: 's-1',
  workspace: '/work',
};
const REQUEST = {
  ...QUERY,
  decision: 'allow',
  scope: 'session',
  grantedBy: 'ana',
  shown: 'read a',
  ttlMs: 3_600_000,
} as const;

const nobody = (what: string): Terminal => {
  throw new UsageError(`${what}: nobody is there`);
};

function project() {
  const cwd = mkdtempSync(join(tmpdir(), 'allium-grants-cli-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const dir = join(cwd, '.allium', 'grants');
  const store = fileGrants({ dir });
  const grant = async (id: string, changes: Partial<GrantRequest> = {}) =>
    store.add(createGrant({ ...REQUEST, ...changes }, { createId: () => id }));
  const allium = async (
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    person = nobody,
  ) => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const io = {
      stdin,
      stdout,
      stderr,
      env,
      cwd,
      signal: new AbortController().signal,
      openTerminal: person,
    };
    const code = await runCli(['grants', ...args], io);
    return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
  };
  return { cwd, dir, store, grant, allium };
}

describe('allium grants', () => {
  it('lists what is allowed, one line each', async () => {
    const { grant, allium } = project();
    await grant('g-1');
    const { code, out } = await allium(['list']);

    expect(code).toBe(0);
    expect(out).toMatch(
      /^g-1 {2}allows read_file with exactly the arguments that were shown \(read a\) .* by ana at .*\n$/,
    );
  });

  it('lists nothing where nobody granted anything, and makes no folder', async () => {
    const { cwd, allium } = project();

    expect(await allium(['list'])).toEqual({ code: 0, out: '', err: '' });
    expect(existsSync(join(cwd, '.allium'))).toBe(false);
  });

  it('leaves out what has ended unless it is asked for all, also as JSON', async () => {
    const { grant, store, allium } = project();
    await grant('g-1');
    await grant('g-2');
    await store.revoke('g-1', 'bob');
    const all = await allium(['list', '--all', '--json']);

    expect((await allium(['list'])).out).not.toContain('g-1');
    const lines = all.out.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id).sort()).toEqual([
      'g-1',
      'g-2',
    ]);
  });

  it('shows one grant', async () => {
    const { grant, allium } = project();
    await grant('g-1', { reason: 'for the build' });

    expect((await allium(['show', 'g-1'])).out).toContain('for the build');
    expect(JSON.parse((await allium(['show', 'g-1', '--json'])).out)).toMatchObject({
      id: 'g-1',
      uses: 0,
    });
    expect(await allium(['show', 'unheard'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('unheard') as string,
    });
  });

  it('revokes for good, and goes on behind one that is not there', async () => {
    const { grant, store, allium } = project();
    await grant('g-1');
    await grant('g-2');

    expect(await allium(['revoke', 'g-1', 'unheard', 'g-2'])).toMatchObject({
      code: 1,
      out: 'revoked g-1\nrevoked g-2\n',
    });
    expect(await store.use(QUERY)).toBeNull();
    expect((await allium(['revoke', 'g-1'])).code).toBe(1);
  });

  it('revokes one that rejects only where a person confirms it', async () => {
    const { grant, store, allium } = project();
    await grant('g-1', { decision: 'reject' });

    expect(await allium(['revoke', 'g-1'])).toMatchObject({ code: 2, out: '' });
    expect(
      await allium(['revoke', 'g-1'], {}, personAtTerminal(() => 'y').openTerminal),
    ).toMatchObject({ code: 1, out: '' });
    expect(await store.get('g-1')).toMatchObject({ revoked: null });
    expect(await allium(['revoke', 'g-1'], {}, personAtTerminal().openTerminal)).toMatchObject({
      code: 0,
      out: 'revoked g-1\n',
    });
    expect((await store.get('g-1'))?.revoked?.by).toMatch(/@terminal$/);
  });

  it('looks where it is told to', async () => {
    const { cwd, dir, grant, allium } = project();
    await grant('g-1');

    expect((await allium(['list', '--dir', dir])).out).toContain('g-1');
    expect((await allium(['list'], { ALLIUM_STATE_DIR: join(cwd, '.allium') })).out).toContain(
      'g-1',
    );
    expect((await allium(['list'], { ALLIUM_STATE_DIR: join(cwd, 'else') })).out).toBe('');
    expect(await allium(['list', '--dir', 'nowhere'])).toMatchObject({ code: 2, out: '' });
  });

  it('names a file that is no grant, and lists the others', async () => {
    const { dir, grant, allium } = project();
    await grant('g-1');
    writeFileSync(join(dir, `${'0'.repeat(32)}-${'1'.repeat(32)}.grant`), '{', { mode: 0o600 });
    const { code, out, err } = await allium(['list']);

    expect(code).toBe(1);
    expect(out).toContain('g-1');
    expect(err).toContain('1.grant');
  });

  it('does not use a folder that others can look into', async () => {
    const { dir, grant, allium } = project();
    await grant('g-1');
    chmodSync(dir, 0o755);

    expect(await allium(['list'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('0700') as string,
    });
    expect(await allium(['revoke', 'g-1'])).toMatchObject({ code: 2, out: '' });
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('prints nothing that acts upon a terminal', async () => {
    const { grant, allium } = project();
    await grant('g-\u001b[2J\u202e', {
      toolName: 'rm\u001b[2J\n\u009b',
      grantedBy: 'a\u202eb',
      shown: 'x\u001b[2J',
    });

    for (const args of [
      ['list'],
      ['list', '--json'],
      ['show', 'g-\u001b[2J\u202e'],
      ['show', 'g-\u001b[2J\u202e', '--json'],
    ]) {
      expect((await allium(args)).out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect((await allium(['revoke', 'un\u001bheard'])).err).not.toContain('\u001b');
  });

  it.each([[['revoke']], [['show']], [['list', '--unheard']], [['unheard']]])(
    'refuses %j',
    async (args) => {
      expect(await project().allium(args)).toMatchObject({ code: 2, out: '' });
    },
  );
});
