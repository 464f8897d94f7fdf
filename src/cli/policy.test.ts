import { PassThrough } from 'node:stream';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectWith } from './run-command.fixture.ts';
import { runCli } from './run-cli.ts';

const RULES = `policy:
  policies:
    - rulesPolicy:
        rules:
          - { id: workspace, decision: allow, tool: 'fs_*', when: 'args.path.startsWith("/work/")' }
          - { id: no_secrets, decision: deny, when: 'args.path.contains("secret")', reason: 'path must not be a secret' }
          - { id: payments, decision: ask, kind: payment }
`;
const CASES = `cases:
  - { name: reads in the workspace, request: { tool: fs_read, args: { path: /work/a } }, expect: allow, code: workspace }
  - { name: reads no secrets, request: { tool: fs_read, args: { path: /work/secret } }, expect: deny, code: no_secrets }
  - { name: says nothing elsewhere, request: { tool: other, args: { path: /etc/passwd } }, expect: no_opinion }
`;
const PAYMENT = `  - { name: asks before paying, request: { tool: pay, kind: payment, amount: 3, currency: EUR, args: { path: x } }, expect: ask }
`;

/** Runs the command in a folder with these files. */
async function policyTest(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    cwd: projectWith(files),
    signal: new AbortController().signal,
  };
  const code = await runCli(['policy', 'test', ...args], io);
  const textOf = (stream: PassThrough) => String((stream.read() as Buffer | null) ?? '');
  return { code, out: textOf(stdout), err: textOf(stderr) };
}

const withCase = (line: string): string => `${RULES}cases:\n  - ${line}\n`;
const withPolicy = (lines: string): string => `policy:\n${lines}\n${CASES}`;

describe('allium policy test', () => {
  it('says so where every case comes out as expected, and ends with 0', async () => {
    expect(await policyTest({ 'a.yaml': RULES + CASES + PAYMENT }, 'a.yaml')).toEqual({
      code: 0,
      out: '4 cases, 4 passed; 3 of 3 rules and policies tested\n',
      err: '',
    });
  });

  it('shows what a case expected and got, with the reason, and ends with 1', async () => {
    const wrong =
      '{ name: reads secrets, request: { tool: fs_read, args: { path: /work/secret } }, expect: allow }';
    const { code, out } = await policyTest({ 'a.yaml': withCase(wrong) }, 'a.yaml');

    expect(code).toBe(1);
    expect(out).toContain(
      '✗ a.yaml: reads secrets\n    - expected allow\n    + got      deny (no_secrets) from rulesPolicy\n    reason: path must not be a secret\n',
    );
    expect(out).toContain('1 cases, 0 passed, 1 failed; 1 of 3 rules and policies tested\n');
  });

  it('knows networkPolicy', async () => {
    const file = `policy:
  policies: [{ networkPolicy: { allow: ['*.example.org:443'], unknown: ask } }]
cases:
  - { name: listed, request: { tool: t, kind: network.connect, host: a.example.org, port: 443 }, expect: allow, code: host_allowed }
  - { name: inside, request: { tool: t, kind: network.connect, host: '0x7f.1', port: 443 }, expect: deny, code: host_private }
  - { name: elsewhere, request: { tool: t, kind: network.connect, host: example.net, port: 443 }, expect: ask, code: host_unknown }
  - { name: no connection, request: { tool: t }, expect: no_opinion }
`;

    expect(await policyTest({ 'a.yaml': file }, 'a.yaml')).toMatchObject({ code: 0, err: '' });
  });

  it('holds a case to the rule that decides, where it names one', async () => {
    const wrong =
      '{ name: n, request: { tool: fs_read, args: { path: /work/a } }, expect: allow, code: other }';
    const { code, out } = await policyTest({ 'a.yaml': withCase(wrong) }, 'a.yaml');

    expect(code).toBe(1);
    expect(out).toContain(
      '    - expected allow (other)\n    + got      allow (workspace) from rulesPolicy\n',
    );
  });

  it('tells which rules no case is about, without making that a finding', async () => {
    const { code, out } = await policyTest({ 'a.yaml': RULES + CASES }, 'a.yaml');

    expect(code).toBe(0);
    expect(out).toBe(
      '· a.yaml: untested: rulesPolicy rule "payments"\n3 cases, 3 passed; 2 of 3 rules and policies tested\n',
    );
  });

  it('--require-coverage: makes an untested rule a finding', async () => {
    expect(
      await policyTest({ 'a.yaml': RULES + CASES }, 'a.yaml', '--require-coverage'),
    ).toMatchObject({ code: 1 });
    expect(
      await policyTest({ 'a.yaml': RULES + CASES + PAYMENT }, 'a.yaml', '--require-coverage'),
    ).toMatchObject({ code: 0 });
  });

  it('--json: prints counts, each case and what is untested', async () => {
    const { code, out } = await policyTest(
      { 'a.yaml': RULES + CASES, 'b.yaml': RULES + PAYMENT.replace(/^/, 'cases:\n') },
      'a.yaml',
      'b.yaml',
      '--json',
    );
    const report = JSON.parse(out) as { results: object[]; untested: object[] };

    expect(code).toBe(0);
    expect(report).toMatchObject({ ok: true, total: 4, passed: 4, failed: 0 });
    expect(report.results[0]).toEqual({
      file: 'a.yaml',
      name: 'reads in the workspace',
      ok: true,
      expected: { verdict: 'allow', code: 'workspace' },
      got: {
        verdict: 'allow',
        code: 'workspace',
        reason: 'rule "workspace" allows this: it looks at args.path',
        by: 'rulesPolicy',
      },
    });
    expect(report.untested).toEqual([
      { file: 'a.yaml', policy: 'rulesPolicy', rule: 'payments' },
      { file: 'b.yaml', policy: 'rulesPolicy', rule: 'workspace' },
      { file: 'b.yaml', policy: 'rulesPolicy', rule: 'no_secrets' },
    ]);
  });

  it('asks the capability policy first, and counts it', async () => {
    const file = `policy: { capability: { tools: [fs_read], sideEffectLevel: read_only } }
cases:
  - { name: another tool, request: { tool: rm }, expect: deny, code: permission_denied }
  - { name: that tool, request: { tool: fs_read, annotations: { sideEffectLevel: read_only } }, expect: no_opinion }
`;

    expect(await policyTest({ 'a.yaml': file }, 'a.yaml')).toMatchObject({
      code: 0,
      out: '2 cases, 2 passed; 1 of 1 rules and policies tested\n',
    });
  });

  it('holds files that are proposed to the folders of the capability policy', async () => {
    const file = `policy: { capability: { workspaceRoots: [/work] } }
cases:
  - { name: inside, request: { tool: w, kind: filesystem.write, path: /work/a }, expect: no_opinion }
  - { name: outside, request: { tool: w, kind: filesystem.write, path: /work/../etc/a }, expect: deny }
  - { name: moved out, request: { tool: w, kind: filesystem.move, path: /work/a, to: /etc/a }, expect: deny }
  - { name: relative, request: { tool: w, kind: filesystem.read, path: a }, expect: deny, code: permission_denied }
`;

    expect(await policyTest({ 'a.yaml': file }, 'a.yaml')).toMatchObject({ code: 0 });
  });

  it('puts several policies together: deny goes before allow', async () => {
    const two = `policy:
  policies:
    - rulesPolicy: { rules: [{ id: all, decision: allow }] }
    - commandPolicy: { deny: [rm] }
cases:
  - { name: removes, request: { tool: shell, kind: process.command, command: 'ls && rm -rf /' }, expect: deny }
`;

    expect(await policyTest({ 'a.yaml': two }, 'a.yaml')).toMatchObject({ code: 0 });
  });

  it('reads JSON', async () => {
    const file = {
      policy: { policies: [{ rulesPolicy: { rules: [{ decision: 'deny' }] } }] },
      cases: [{ name: 'n', request: { tool: 't' }, expect: 'deny' }],
    };

    expect(await policyTest({ 'a.json': JSON.stringify(file) }, 'a.json')).toMatchObject({
      code: 0,
    });
  });

  it('lets no name in a file act upon the terminal', async () => {
    const evil =
      '{ name: "a\\e[2Jb\\nc", request: { tool: fs_read, args: { path: "" } }, expect: deny }';
    const { out } = await policyTest({ 'a.yaml': withCase(evil) }, 'a.yaml');

    expect(out).not.toContain('\u001b');
    expect(out.split('\n')[0]).toMatch(/^✗ a\.yaml: a.*b c$/);
  });

  it.each<[string, string, RegExp]>([
    [
      'no cases',
      `${RULES}cases: []\n`,
      /a\.yaml:1:1: the file: "cases" must be a list, each an object, not empty/,
    ],
    ['no policy', CASES, /the file: "policy" must be an object, got nothing/],
    ['an empty policy', `policy: {}\n${CASES}`, /a\.yaml:1:9: policy has neither/],
    [
      'a misspelt verdict',
      withCase('{ name: n, request: { tool: t }, expect: allowed }'),
      /a\.yaml:9:5: cases\[0\]: "expect" must be one of/,
    ],
    [
      'a misspelt member',
      withCase('{ name: n, request: { tool: t }, expects: deny }'),
      /did you mean "expect"\?/,
    ],
    [
      'no tool',
      withCase('{ name: n, request: {}, expect: deny }'),
      /a\.yaml:9:25: cases\[0\]\.request: "tool" must be/,
    ],
    [
      'a misspelt kind',
      withCase('{ name: n, request: { tool: t, kind: filesytem.read }, expect: deny }'),
      /did you mean "filesystem.read"\?/,
    ],
    [
      'a member that the kind lacks',
      withCase(
        '{ name: n, request: { tool: t, kind: network.connect, path: a, host: b }, expect: deny }',
      ),
      /no option "path"/,
    ],
    [
      'another policy',
      withPolicy('  policies: [{ rulePolicy: {} }]'),
      /a\.yaml:2:14: there is no such policy; did you mean "rulesPolicy"\?/,
    ],
    [
      'two policies in one',
      withPolicy('  policies: [{ rulesPolicy: { rules: [] }, commandPolicy: {} }]'),
      /one policy an entry/,
    ],
    [
      'a name nobody knows',
      withPolicy('  policies: [{ rulesPolicy: { rules: [{ decision: deny, when: "arg.a" }] } }]'),
      /rule "rule_1".*did you mean "args"/,
    ],
    [
      'a misspelt ceiling',
      withPolicy('  capability: { tool: [a] }'),
      /policy\.capability has no option "tool"; did you mean "tools"\?/,
    ],
    ['something that is no YAML', 'policy: [', /a\.yaml:1:\d+: this is not YAML/],
    ['an object of another language', 'policy: !!js/function "x"\n', /tags are not taken/],
  ])('refuses a file with %s, and ends with 2', async (_what, text, message) => {
    const { code, out, err } = await policyTest({ 'a.yaml': text }, 'a.yaml');

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  });

  it('tells every mistake at once', async () => {
    const { err } = await policyTest(
      { 'a.yaml': `${RULES}cases:\n  - { name: a }\n  - { name: b }\n` },
      'a.yaml',
    );

    expect(err.trim().split('\n')).toHaveLength(2);
  });

  it('ends with 2 for a file that is not there, a folder, and no file at all', async () => {
    expect(await policyTest({}, 'gone.yaml')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/gone\.yaml: there is no such file/) as string,
    });
    expect(await policyTest({}, '.')).toMatchObject({ code: 2, err: 'allium: .: is no file\n' });
    expect(await policyTest({})).toMatchObject({
      code: 2,
      err: expect.stringContaining('missing required argument') as string,
    });
    expect(
      await policyTest({ 'a.yaml': RULES + CASES }, 'a.yaml', join('no', 'such.yaml')),
    ).toMatchObject({ code: 2, out: '' });
  });
});
