import { spawn } from 'node:child_process';
import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { hasPty } from '../../consent/pty.fixture.ts';
import { approvalOf } from '../../approvals/approvals.fixture.ts';
import { contentsOf, keptPayment, waitingPayment, withTerminal } from '../approve.fixture.ts';
import { allium, type Ended, MAIN } from '../run-command.fixture.ts';

const me = userInfo().username;
const WRONG = '22222-22222';

/** Many at once, without a terminal. */
const together = (cwd: string, lines: readonly (readonly string[])[]): Promise<readonly Ended[]> =>
  Promise.all(
    lines.map(
      (args) =>
        new Promise<Ended>((done) => {
          const child = spawn(process.execPath, [MAIN, ...args], {
            cwd,
            env: { PATH: process.env.PATH },
            detached: true,
            timeout: 50_000,
          });
          let [out, err] = ['', ''];
          child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (out += chunk));
          child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (err += chunk));
          child.stdin.end();
          child.once('close', (code) => done({ code, out, err }));
        }),
    ),
  );

describe('allium approvals approve without a terminal', () => {
  it.each([
    [[], ''],
    [['--always'], 'y\n'],
    [['--args', '{"to":"eve"}', '--by', 'ada@terminal'], 'yes\n1234\n'],
  ])(
    'is refused in a sentence with %j and %j on standard input, and the call still waits',
    async (more, input) => {
      const { folder, id, reply } = await keptPayment();
      const refused = allium(folder, ['approvals', 'approve', id, ...more], { input });

      expect(refused).toEqual({
        ...{ code: 2, out: '' },
        err: expect.stringMatching(/^allium: approving a call .* needs a terminal.*\n$/) as string,
      });
      expect(await reply()).toBeNull();
    },
  );

  it('may still say no, which is safe', async () => {
    const { folder, id, reply } = await keptPayment();

    expect(allium(folder, ['approvals', 'deny', id, '--reason', 'no']).code).toBe(0);
    expect(await reply()).toMatchObject({ decision: 'reject_once', decidedBy: `${me}@command` });
  });
});

describe.runIf(hasPty)('allium approvals approve at a terminal', () => {
  it('shows the call there, takes the answer from there, and says how to go on', async () => {
    const { folder, id, reply, paid } = waitingPayment();
    const { code, out, err, screen } = await withTerminal(
      folder,
      ['approvals', 'approve', id],
      (number) => number,
    );

    expect({ code, out, err }).toEqual({
      code: 0,
      out: `approved ${id}; next: allium call --resume ${id}\n`,
      err: '',
    });
    expect(screen).toContain('"bob"');
    expect(await reply()).toMatchObject({ decision: 'allow_once', decidedBy: `${me}@terminal` });
    expect(allium(folder, ['call', '--resume', id])).toMatchObject({ code: 0, out: 'paid bob\n' });
    expect(paid()).toBe('bob\n');
  });

  it('changes nothing for another answer, and reads none from standard input', async () => {
    const { folder, id, reply } = await keptPayment();
    const blind = Array.from({ length: 9000 }, (_, index) => `${index + 1000}\n`).join('');
    const left = await withTerminal(folder, ['approvals', 'approve', id], () => 'y', blind);

    expect(left).toMatchObject({
      code: 1,
      out: '',
      err: `allium: nothing was decided, and ${id} still waits\n`,
    });
    expect(await reply()).toBeNull();
  });

  it('shows what would run instead, and keeps the channel behind the name that was given', async () => {
    const { folder, id, reply } = await keptPayment();
    const args = ['approvals', 'approve', id, '--args', '{"to":"carol"}', '--by', 'ada@code'];
    const { screen } = await withTerminal(folder, args, (number) => number);

    expect(screen).toContain('carol');
    expect(await reply()).toMatchObject({ decidedBy: 'ada@code@terminal', args: { to: 'carol' } });
  });
});

describe('allium approvals approve --code', () => {
  it('takes the code that the notifier was told, on standard input and in no argument', async () => {
    const { folder, id, told, code, reply } = waitingPayment();
    const approved = allium(folder, [
      'approvals',
      'approve',
      id,
      '--code',
      code.toLowerCase().replace('-', ' '),
    ]);

    expect(told()).toMatchObject({
      arguments: [],
      question: {
        id,
        tool_name: 'pay',
        shown: { args: { to: 'bob' } },
        code: expect.stringMatching(/^[2-9A-Z]{5}-[2-9A-Z]{5}$/) as string,
      },
    });
    expect(approved).toMatchObject({ code: 0, err: '' });
    expect(await reply()).toMatchObject({ decision: 'allow_once', decidedBy: `${me}@code` });
  });

  it('leaves the code in no file, no output and no receipt', () => {
    const { folder, asked, id, code } = waitingPayment();
    const before = contentsOf(folder);
    allium(folder, ['approvals', 'approve', id, '--code', WRONG]);
    const listed =
      allium(folder, ['approvals', 'list', '--json']).out +
      allium(folder, ['approvals', 'show', id, '--json']).out;
    const approved = allium(folder, ['approvals', 'approve', id, '--code', code]);
    const resumed = allium(folder, ['call', '--resume', id, '--json']);
    const traces = [
      before,
      listed,
      JSON.stringify([asked, approved, resumed]),
      contentsOf(folder),
    ].join('\n');

    expect(code).toHaveLength(11);
    expect(before).toContain('scrypt:');
    expect(listed).not.toContain('scrypt:');
    for (const form of [
      code,
      code.replace('-', ''),
      Buffer.from(code).toString('base64'),
      Buffer.from(code).toString('hex'),
    ])
      expect(traces.toUpperCase()).not.toContain(form.toUpperCase());
  });

  it.runIf(hasPty)(
    'is over after five wrong codes, for the right one too; a terminal still approves',
    async () => {
      const { folder, id, code, reply } = await keptPayment();
      const tries = Array.from({ length: 5 }, () =>
        allium(folder, ['approvals', 'approve', id, '--code', WRONG]),
      );
      const right = allium(folder, ['approvals', 'approve', id, '--code', code]);

      expect(tries.map((each) => [each.code, /(\d) (?:try|tries)/.exec(each.err)?.[1]])).toEqual(
        ['4', '3', '2', '1', '0'].map((left) => [1, left]),
      );
      expect(right).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining('only a terminal can approve it') as string,
      });
      expect(await reply()).toBeNull();
      expect(
        (await withTerminal(folder, ['approvals', 'approve', id], (number) => number)).code,
      ).toBe(0);
    },
  );

  it('is compared five times by many processes at once, and no more', async () => {
    const { folder, id, store } = await keptPayment();
    const ended = await together(
      folder,
      Array.from({ length: 9 }, () => ['approvals', 'approve', id, '--code', WRONG]),
    );

    expect(ended.filter(({ err }) => err.includes('has another code'))).toHaveLength(5);
    expect(ended.filter(({ err }) => err.includes('only a terminal can approve it'))).toHaveLength(
      4,
    );
    expect((await store.get(id))?.code?.tries).toBe(5);
  });

  it('does not approve another call, and none that nobody was told of', async () => {
    const { folder, store, id, code } = await keptPayment();
    const { code: _code, ...silent } = (await store.get(id)) ?? approvalOf();
    await store.add({ ...silent, id: 'approval_silent' });
    await store.add({
      ...silent,
      id: 'approval_other',
      code: { hash: `scrypt:${'0'.repeat(64)}`, tries: 0 },
    });

    expect(
      allium(folder, ['approvals', 'approve', 'approval_other', '--code', code]),
    ).toMatchObject({ code: 1, out: '' });
    expect(
      allium(folder, ['approvals', 'approve', 'approval_silent', '--code', code]),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining('has no code') as string,
    });
  });
});
