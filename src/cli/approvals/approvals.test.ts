import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isoTime } from '../../core/time/clock.ts';
import { type Approval, fileApprovals } from '../../policy/index.ts';
import { endedWith, takenUp } from '../../approvals/store/approval-rules.ts';
import { approvalOf, REPLY } from '../../approvals/approvals.fixture.ts';
import { personAtTerminal } from '../person.fixture.ts';
import { runCli } from '../run-cli.ts';

const HOUR_MS = 3_600_000;

function project() {
  const cwd = mkdtempSync(join(tmpdir(), 'allium-approvals-cli-'));
  writeFileSync(join(cwd, 'allium.yaml'), 'version: 1\nlayers: []\n');
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const dir = join(cwd, '.allium', 'approvals');
  const store = fileApprovals({ dir });
  const wait = async (id: string, changes: Partial<Approval> = {}) => {
    const approval = approvalOf({ id, requestedAt: isoTime(Date.now() - 2 * HOUR_MS), ...changes });
    await store.add(approval);
    return approval;
  };
  const allium = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const io = {
      stdin,
      stdout,
      stderr,
      env,
      cwd,
      signal: new AbortController().signal,
      openTerminal: personAtTerminal().openTerminal,
    };
    const code = await runCli(['approvals', ...args], io);
    return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
  };
  return { cwd, dir, store, wait, allium };
}

const cells = (line: string) => line.split(/ {2,}/);

describe('allium approvals list', () => {
  it('lists what waits: state, age, end, tool, gate and session', async () => {
    const { wait, allium } = project();
    await wait('approval_a', { expiresAt: isoTime(Date.now() + 3.5 * HOUR_MS) });
    await wait('approval_b', {
      expiresAt: isoTime(Date.now() - 1.5 * HOUR_MS),
      requestedAt: isoTime(Date.now() - 1.5 * HOUR_MS),
    });
    const { code, out } = await allium(['list']);

    expect(code).toBe(0);
    expect(out.trimEnd().split('\n').map(cells)).toEqual([
      ['id', 'state', 'age', 'expires', 'tool', 'gate', 'session'],
      ['approval_a', 'pending', '2h', 'in 3h', 'pay', 'consent', 'session-1'],
      ['approval_b', 'expired', '1h', '1h ago', 'pay', 'consent', 'session-1'],
    ]);
  });

  it('lists nothing where nothing waits, and makes no folder', async () => {
    const { cwd, allium } = project();

    expect(await allium(['list'])).toEqual({ code: 0, out: '', err: '' });
    expect(existsSync(join(cwd, '.allium'))).toBe(false);
  });

  it('leaves out what has ended unless it is asked for all, also as JSON', async () => {
    const { wait, store, allium } = project();
    const taken = takenUp(await wait('approval_a'), REPLY, Date.now());
    await store.replace(taken);
    await store.replace(endedWith(taken, { status: 'ok', executed: 'yes' }, Date.now()));
    await wait('approval_b');
    const all = (await allium(['list', '--all', '--json'])).out.trim().split('\n');

    expect((await allium(['list'])).out).not.toContain('approval_a');
    expect((await allium(['list', '--all'])).out).toMatch(
      /approval_a +ok +\w+ +pay[^]*approval_b +pending +\w+ +never /,
    );
    expect((await allium(['show', 'approval_a'])).out).not.toContain('Open until');
    expect(all.map((line) => JSON.parse(line) as object)).toMatchObject([
      { id: 'approval_a', state: 'ended' },
      { id: 'approval_b', state: 'pending' },
    ]);
  });

  it('names a file that is no approval, and lists the others', async () => {
    const { dir, wait, allium } = project();
    await wait('approval_a');
    writeFileSync(join(dir, `${'0'.repeat(32)}.approval`), '{', { mode: 0o600 });
    const { code, out, err } = await allium(['list']);

    expect(code).toBe(1);
    expect(out).toContain('approval_a');
    expect(err).toContain('0.approval');
  });

  it('looks where it is told to, and not into a folder that others can look into', async () => {
    const { cwd, dir, wait, allium } = project();
    await wait('approval_a');

    expect((await allium(['list', '--dir', dir])).out).toContain('approval_a');
    expect((await allium(['list'], { ALLIUM_STATE_DIR: join(cwd, 'else') })).out).toBe('');
    expect(await allium(['list', '--dir', 'nowhere'])).toMatchObject({ code: 2, out: '' });
    chmodSync(dir, 0o755);
    expect(await allium(['list'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('0700') as string,
    });
  });
});

describe('allium approvals show', () => {
  it('shows all of the arguments and requests, why, and what to type next', async () => {
    const { wait, allium } = project();
    const shown = {
      args: { to: 'b'.repeat(900) },
      requests: [{ kind: 'payment', amount: 5 }],
      reason: 'more than 3',
    };
    await wait('approval_abc', { shown, gate: 'permissions', policy: 'sha256:rules' });
    const { code, out } = await allium(['show', 'ab']);

    expect(code).toBe(0);
    expect(out.match(/b/g)?.length).toBeGreaterThan(900);
    for (const text of [
      'Asked because: more than 3',
      'About to:',
      '"payment"',
      'sha256:rules',
      'waits for a decision',
      'session-1',
    ])
      expect(out).toContain(text);
    expect(out).toContain(
      'Next:\n  allium approvals approve approval_abc\n  allium approvals deny approval_abc\n',
    );
    expect(JSON.parse((await allium(['show', 'ab', '--json'])).out)).toMatchObject({
      id: 'approval_abc',
      state: 'pending',
    });
  });

  it('shows who answered, and no arguments once the call was taken up', async () => {
    const { wait, store, allium } = project();
    const approval = await wait('approval_a');
    await allium(['approve', 'approval_a', '--by', 'ada', '--reason', 'rent']);
    const answered = (await allium(['show', 'approval_a'])).out;
    await store.replace({
      ...takenUp(approval, { ...REPLY, decidedBy: 'ada' }, Date.now()),
      revision: 2,
    });
    const taken = (await allium(['show', 'approval_a'])).out;

    expect(answered).toMatch(/allow_once by ada@terminal at .*\n {2}because {5}rent\n/);
    expect(answered).toContain('allium call --resume approval_a');
    expect(taken).toContain('no longer kept');
    expect(taken).not.toContain('Next:');
  });

  it('prints nothing that acts upon a terminal', async () => {
    const { wait, allium } = project();
    const id = 'approval_\u001b[2J\u202e';
    const args = { 'k\u001b[2J': 'v\u009b\u202e\n\u200b' };
    await wait(id, {
      toolName: 'rm\u001b[2J',
      shown: { args, reason: 'x\u001b' },
      arguments: args,
      gate: 'g\u001b',
      callId: 'c\u202e',
    });

    for (const line of [
      ['list'],
      ['list', '--json'],
      ['show', id],
      ['show', id, '--json'],
      ['approve', id],
    ]) {
      expect((await allium(line)).out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect((await allium(['show', 'un\u001bheard'])).err).not.toContain('\u001b');
  });
});

describe('allium approvals approve and deny', () => {
  it('write the answer down, with the name of the user, and take nothing up', async () => {
    const { wait, store, allium } = project();
    await wait('approval_a');
    await wait('approval_b');

    expect(await allium(['approve', 'approval_a'])).toEqual({
      code: 0,
      out: 'approved approval_a; next: the program that made the call resumes it; for a tool of allium.yaml: allium call --resume approval_a\n',
      err: '',
    });
    await allium(['deny', 'approval_b', '--by', 'ada', '--reason', 'too much']);
    const decidedBy = `${userInfo().username}@terminal`;
    expect(await store.get('approval_a')).toMatchObject({
      reply: { decision: 'allow_once', decidedBy },
      taken: null,
    });
    expect(await store.get('approval_b')).toMatchObject({
      reply: { decision: 'reject_once', decidedBy: 'ada@command', reason: 'too much' },
    });
  });

  it.each([
    ['client', 'consent', 'make the same call again in the client'],
    ['client', 'queue', 'nothing: the call goes on by itself'],
    ['command', 'consent', 'allium call --resume approval_a'],
  ] as const)(
    'name the next step of a call from a %s that %s asks about',
    async (route, gate, next) => {
      const { wait, allium } = project();
      await wait('approval_a', { route, gate });

      expect((await allium(['approve', 'approval_a'])).out).toBe(
        `approved approval_a; next: ${next}\n`,
      );
      expect((await allium(['show', 'approval_a'])).out).toContain(`Next:\n  ${next}\n`);
    },
  );

  it('say that the file has to be named where there is none in this folder', async () => {
    const { cwd, wait, allium } = project();
    await wait('approval_a', { route: 'command' });
    rmSync(join(cwd, 'allium.yaml'));

    expect((await allium(['approve', 'approval_a'])).out).toBe(
      'approved approval_a; next: allium call --resume approval_a --config <the file that the call was made with>\n',
    );
  });

  it('show neither the code of a call nor its hash', async () => {
    const { wait, allium } = project();
    await wait('approval_a', { code: { hash: 'scrypt:c4n4ry', tries: 2 } });
    const [listed, shown, approved] = [
      ['list', '--json'],
      ['show', 'approval_a', '--json'],
      ['approve', 'approval_a', '--json'],
    ];

    for (const args of [listed, shown, approved, ['show', 'approval_a']])
      expect((await allium(args ?? [])).out).not.toContain('c4n4ry');
  });

  it('take other arguments, or a result in the place of the call', async () => {
    const { wait, store, allium } = project();
    await wait('approval_a');
    await wait('approval_b');
    await allium(['approve', 'approval_a', '--args', '{"to":"carol"}']);
    await allium(['approve', 'approval_b', '--result', 'null']);

    expect((await store.get('approval_a'))?.reply).toMatchObject({ args: { to: 'carol' } });
    expect((await store.get('approval_b'))?.reply).toMatchObject({ supplied: { value: null } });
  });

  it.each([
    [['approve', 'approval_a', '--args', '{']],
    [['approve', 'approval_a', '--args', '[1]']],
    [['approve', 'approval_a', '--result', 'canary']],
    [['approve', 'approval_a', '--args', '{}', '--result', '1']],
    [['approve', 'approval_a', '--always']],
    [['deny', 'approval_a', '--always']],
    [['deny', 'approval_a', '--args', '{}']],
    [['approve', 'approval_']],
    [['approve']],
  ])('refuse %j in one line, and the call still waits', async (args) => {
    const { wait, store, allium } = project();
    const approval = await wait('approval_a');
    await wait('approval_b');
    const { code, out, err } = await allium(args);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).not.toContain('canary');
    expect(await store.get('approval_a')).toEqual(approval);
  });

  it('answer for always where that is offered', async () => {
    const { wait, store, allium } = project();
    await wait('approval_a', {
      options: ['allow_once', 'allow_always', 'reject_once', 'reject_always'],
    });
    const { out } = await allium(['approve', 'approval_a', '--always']);

    expect(out).toMatch(
      /^approved approval_a; next: .*\nThe answer for always is kept when the call is resumed: until then it counts for no other\.\n$/,
    );
    expect((await store.get('approval_a'))?.reply?.decision).toBe('allow_always');
  });

  it('are told in one line that it is too late, or that nobody knows the approval', async () => {
    const { wait, allium } = project();
    await wait('approval_a');
    await wait('approval_b', { expiresAt: isoTime(Date.now() - 1) });
    await allium(['deny', 'approval_a']);

    expect(await allium(['approve', 'approval_a'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^allium: ERR_APPROVAL_RESOLVED: .*\n$/) as string,
    });
    expect(await allium(['approve', 'approval_b'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('ERR_APPROVAL_EXPIRED') as string,
    });
    expect(await allium(['deny', 'unheard'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('ERR_UNKNOWN_APPROVAL') as string,
    });
    expect(await allium(['deny', ''])).toMatchObject({ code: 1 });
  });

  it('change nothing in a folder that others can look into', async () => {
    const { dir, wait, allium } = project();
    await wait('approval_a');
    chmodSync(dir, 0o755);

    expect(await allium(['approve', 'approval_a'])).toMatchObject({ code: 2, out: '' });
    expect(readdirSync(dir)).toHaveLength(1);
  });
});

describe('allium approvals with --any-arguments', () => {
  const always = {
    exact: 'pay with exactly these arguments, here',
    anyArguments: 'pay with any arguments, here',
  };
  const offered = {
    options: ['allow_once', 'allow_always', 'reject_once', 'reject_always'],
    shown: { args: {}, always },
  };

  it('shows what an answer for always covers', async () => {
    const { wait, allium } = project();
    await wait('approval_a', offered);

    expect((await allium(['show', 'approval_a'])).out).toMatch(
      /--always +pay with exactly these.*\n +--any-arguments +pay with any arguments, here/,
    );
  });

  it('leaves the arguments of an answer for always open', async () => {
    const { wait, store, allium } = project();
    await wait('approval_a', offered);
    await allium(['deny', 'approval_a', '--always', '--any-arguments', '--reason', 'never']);

    expect((await store.get('approval_a'))?.reply).toMatchObject({
      decision: 'reject_always',
      anyArguments: true,
      reason: 'never',
    });
  });

  it('is refused for a single answer, which stays open', async () => {
    const { wait, store, allium } = project();
    await wait('approval_a', offered);

    expect(await allium(['deny', 'approval_a', '--any-arguments'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--any-arguments needs --always') as string,
    });
    expect((await store.get('approval_a'))?.reply).toBeNull();
  });
});
