import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { hashingKey } from '../../receipts/key-files.ts';
import { localReceiptSink, type Receipt } from '../../receipts/index.ts';
import {
  makeReceipt,
  publicKey,
  receiptFiles,
  signingKey,
} from '../../receipts/receipts.fixture.ts';
import { MAIN, runInProcess, runWarm } from '../warm-command.fixture.ts';

const hasPython =
  process.platform !== 'win32' && spawnSync('python3', ['-c', 'import pty']).status === 0;
const PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString();

interface State {
  readonly state: string;
  readonly dir: string;
}

/** A state folder as a program leaves it, with receipts in `receipts`. */
async function stateWith(
  receipts: readonly Partial<Receipt>[],
  options: { readonly hasKey?: boolean } = {},
): Promise<State> {
  const state = mkdtempSync(join(tmpdir(), 'allium-cli-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const dir = join(state, 'receipts');
  mkdirSync(dir);
  const sink = localReceiptSink({ dir, key: false, signingKey });
  for (const [nth, receipt] of receipts.entries()) {
    sink.append(receipt.session_id ?? 'session-1', () => makeReceipt(receipt), 'background');
    if (nth % 10_000 === 9999) await sink.flush();
  }
  await sink.close();
  if (options.hasKey !== false) {
    mkdirSync(join(state, 'keys'));
    writeFileSync(join(state, 'keys', 'receipts-ed25519.pub.pem'), PEM);
  }
  return { state, dir };
}

function allium(
  args: readonly string[],
  { state }: Pick<State, 'state'>,
  nodeFlags: readonly string[] = [],
) {
  const env = { PATH: process.env.PATH, ALLIUM_STATE_DIR: state };
  const run = { args: ['receipts', ...args], cwd: state, input: '', env };
  const { code, out, err } =
    nodeFlags.length > 0 ? runInProcess(run, 120_000, nodeFlags) : runWarm(run, 120_000);
  return { status: code, stdout: out, stderr: err };
}

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;

/** Two sessions whose calls were made in turns. */
const CALLS: readonly Partial<Receipt>[] = [
  {
    tool_call_id: 'a',
    session_id: 'one',
    tool_name: 'read_file',
    emitted_at: at(1),
    duration_ms: 10,
  },
  {
    tool_call_id: 'b',
    session_id: 'two',
    tool_name: 'write_file',
    emitted_at: at(2),
    status: 'consent_denied',
    executed: 'no',
    blocked_by: 'consent',
  },
  {
    ...{
      tool_call_id: 'c',
      session_id: 'one',
      tool_name: 'read_page',
      emitted_at: at(3),
      duration_ms: 1000,
      executed: 'unknown',
    },
    audit: {
      consent: { decision: 'approved', decided_by: 'ada@terminal' },
      layers: [{ name: 'consent', status: 'approved' }, 'x'],
      hints: [],
    },
  },
  {
    tool_call_id: 'd',
    session_id: 'two',
    tool_name: 'read_file',
    emitted_at: at(4),
    record: 'intent',
    status: null,
  },
  {
    tool_call_id: 'd',
    session_id: 'two',
    tool_name: 'read_file',
    emitted_at: at(5),
    reason: 'to see',
  },
];

const idsIn = (jsonLines: string) =>
  jsonLines
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as Receipt).tool_call_id)
    .join('');

describe('allium receipts list', () => {
  it('prints a table of all sessions, newest last', async () => {
    const { status, stdout, stderr } = allium(['list'], await stateWith(CALLS));

    const [heading, ...rows] = stdout.trimEnd().split('\n');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(heading?.split(/ {2,}/)).toEqual([
      'time',
      'call',
      'session',
      'tool',
      'status',
      'ran',
      'blocked by',
      'ms',
      'reason',
    ]);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 5).join(' '))).toEqual([
      '2026-01-01 00:00:01 a one read_file ok',
      '2026-01-01 00:00:02 b two write_file consent_denied',
      '2026-01-01 00:00:03 c one read_page ok',
      '2026-01-01 00:00:04 d two read_file (intent)',
      '2026-01-01 00:00:05 d two read_file ok',
    ]);
  });

  it.each<[string, readonly string[], string]>([
    ['all', [], 'abcdd'],
    ['a session', ['--session', 'one'], 'ac'],
    ['a tool', ['--tool', 'read_file'], 'add'],
    ['a pattern', ['--tool', 'read_*'], 'acdd'],
    ['a status', ['--status', 'consent_denied'], 'b'],
    ['a call', ['--call', 'd'], 'dd'],
    ['what may have run', ['--executed', 'unknown'], 'c'],
    ['what did not run', ['--executed', 'no'], 'b'],
    ['what a layer turned away', ['--blocked-by', 'consent'], 'b'],
    ['what any layer turned away', ['--blocked-by', '*'], 'b'],
    ['what another layer turned away', ['--blocked-by', 'consen'], ''],
    ['what one person decided', ['--decided-by', 'ada@terminal'], 'c'],
    ['what one person decided at any place', ['--decided-by', 'ada@*'], 'c'],
    ['a person who decided nothing', ['--decided-by', 'bob'], ''],
    ['a server', ['--server', 'files'], ''],
    ['a rule', ['--rule', '*'], ''],
    ['a time from', ['--since', at(3)], 'cdd'],
    ['a time to', ['--until', at(3)], 'ab'],
    ['the last minutes', ['--since', '5m'], ''],
    ['the newest', ['--limit', '2'], 'dd'],
    ['the newest that fit', ['--limit', '1', '--session', 'one'], 'c'],
    ['none', ['--limit', '0'], ''],
  ])('takes %s', async (_name, args, ids) => {
    const { status, stdout } = allium(['list', '--json', ...args], await stateWith(CALLS));

    expect({ status, ids: idsIn(stdout) }).toEqual({ status: 0, ids });
  });

  it('names the server and the rule, and finds calls by them', async () => {
    const rule = 'consent rule 2 (deny write_*)';
    const denied = {
      status: 'consent_denied',
      executed: 'no',
      blocked_by: 'consent',
      server: 'myfiles',
    } as const;
    const state = await stateWith([
      { tool_call_id: 'a', server: 'myfiles', rule: 'consent rule 1 (allow *)' },
      { ...denied, tool_call_id: 'b', rule },
      { ...denied, tool_call_id: 'c', blocked_by: 'own', rule: 'no writes' },
      { tool_call_id: 'd' },
    ]);
    const [heading, ...rows] = allium(['list'], state).stdout.trimEnd().split('\n');
    const found = (...args: readonly string[]) =>
      idsIn(allium(['list', '--json', ...args], state).stdout);

    expect(heading?.split(/ {2,}/).at(-1)).toBe('server');
    expect(rows.map((row) => row.includes('myfiles'))).toEqual([true, true, true, false]);
    expect(rows.map((row) => /consent rule \d \(.*?\)|own: no writes/.exec(row)?.[0])).toEqual([
      undefined,
      rule,
      'own: no writes',
      undefined,
    ]);
    expect(allium(['show', 'b'], state).stdout).toMatch(
      /^ {2}server +myfiles\n {2}rule +consent rule 2 \(deny write_\*\)$/m,
    );
    expect([
      found('--server', 'my*'),
      found('--rule', rule),
      found('--server', 'x'),
      found('--rule', 'consent*'),
    ]).toEqual(['abc', 'b', '', 'ab']);
    expect(allium(['export', '--format', 'csv'], state).stdout).toContain(`,myfiles,${rule}\r\n`);
    expect(allium(['verify'], state).status).toBe(0);
  });

  it('csv: has every field, and nothing that a spreadsheet runs', async () => {
    const reasons = [
      '=cmd()',
      ' +1',
      '@x',
      '-2',
      '\tx',
      'a,"b"\r\nc',
      '\u001b]0;x\u0007',
      '\uff1dx',
    ];
    const { stdout } = allium(
      ['list', '--csv'],
      await stateWith(reasons.map((reason) => ({ reason }))),
    );

    expect(stdout.startsWith('emitted_at,session_id,')).toBe(true);
    expect(stdout.endsWith('\r\n')).toBe(true);
    for (const cell of [
      ",'=cmd(),",
      ",' +1,",
      ",'@x,",
      ",'-2,",
      ",'\tx,",
      ',"a,""b""\r\nc",',
      ",'\uff1dx,",
    ])
      expect(stdout).toContain(cell);
    expect(stdout).not.toMatch(/[\u001b\u0007]/);
  });

  it.each([[[]], [['--json']], [['--csv']], [['--limit', '9']]])(
    'lets nothing in a receipt act upon the terminal (%j)',
    async (args) => {
      const evil = '\u001b[2J\u009b31m\u202e\u0007\r\n\u2028x';
      const state = await stateWith([
        {
          tool_name: evil,
          reason: evil.repeat(200),
          session_id: evil,
          status: evil,
          blocked_by: evil,
        },
      ]);

      const { status, stdout } = allium(['list', ...args], state);

      expect(status).toBe(0);
      expect(stdout.replaceAll('\r\n', '\n').replaceAll(/"[^"]*"/g, '')).not.toMatch(
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
      );
      expect(stdout).not.toContain('\u001b');
    },
  );

  it('counts damaged lines on stderr, and goes on', async () => {
    const { state, dir } = await stateWith(CALLS);
    const [first = ''] = receiptFiles(dir);
    const wrong = [
      '{"schema_version":1,"record":"receipt",broken',
      '',
      '[]',
      '{"schema_version":1,"record":"other","x":1}',
      'x'.repeat(300_000),
    ];
    appendFileSync(first, `${wrong.join('\n')}\n{"schema_version":1,"rec`);

    const { status, stdout, stderr } = allium(['list', '--json'], { state });

    expect({ status, ids: idsIn(stdout) }).toEqual({ status: 1, ids: 'abcdd' });
    expect(stderr).toMatch(
      /^allium: one-\w+\.jsonl: the last line has no end.*\nallium: one-\w+\.jsonl: 5 damaged lines left out\n/,
    );
    expect(stderr).not.toContain('  at ');
  });

  it('is content with a reader that has seen enough', async () => {
    const { state } = await stateWith(
      Array.from({ length: 3000 }, (_, nth) => ({ tool_call_id: `c${nth}` })),
    );
    const child = spawn(process.execPath, [MAIN, 'receipts', 'list', '--json'], {
      cwd: state,
      env: { ALLIUM_STATE_DIR: state },
    });
    child.stdout.once('data', () => child.stdout.destroy());
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));

    expect(await new Promise((done) => child.once('close', done))).toBe(0);
    expect(stderr).toBe('');
  });

  it('finds a call in a file that would not fit into memory', { timeout: 180_000 }, async () => {
    const receipts = Array.from({ length: 200_000 }, (_, nth) => ({ tool_call_id: `call-${nth}` }));
    const { state, dir } = await stateWith(receipts);
    const small = ['--max-old-space-size=64'];

    expect(
      idsIn(allium(['list', '--json', '--call', 'call-177777'], { state }, small).stdout),
    ).toBe('call-177777');
    // The naive way, so that this can fail.
    const naive = `for (const file of ${JSON.stringify(receiptFiles(dir))}) require('fs').readFileSync(file, 'utf8').split('\\n').map((line) => line && JSON.parse(line)).find((one) => one.tool_call_id === 'call-177777')`;
    expect(spawnSync(process.execPath, [...small, '-e', naive]).status).not.toBe(0);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['a folder that is not there', ['list', 'gone'], /gone: there is no such file or folder/],
    ['a file that is no receipt file', ['list', 'keys/receipts-ed25519.pub.pem'], /must name/],
    ['a time that is none', ['list', '--since', 'yesterday'], /"yesterday" is no time/],
    ['a number that is none', ['list', '--limit', '-1'], /is no whole number/],
    ['an ending that is none', ['list', '--executed', 'maybe'], /maybe/],
    ['a URI that is none', ['show', 'file:///x.jsonl'], /is no receipt URI/],
    [
      'a URI of a file that is gone',
      ['show', 'file:///gone/x.jsonl#seq=1'],
      /there is no such file; where receipts were moved/,
    ],
    ['a file that is gone', ['show', 'x.jsonl#seq=1'], /there is no such file/],
    [
      'a URI of another machine',
      ['show', 'file://host/x.jsonl#seq=1'],
      /names no file of this machine/,
    ],
    ['nothing to match', ['match'], /give the arguments/],
    ['no object to match', ['match', '--args', '[1]'], /must be a JSON object/],
    ['two formats', ['list', '--json', '--csv'], /cannot both/],
    ['an unknown option', ['list', '--sesion', 'x'], /unknown option/],
    ['a format that is none', ['export', '--format', 'xml'], /xml/],
    [
      'a key that is not there',
      ['verify', '--public-key', 'gone.pem'],
      /gone\.pem: the public key cannot be read/,
    ],
    [
      'a place to write that is none',
      ['export', '--format', 'csv', '--out', 'no/where.csv'],
      /cannot be written \(ENOENT\)/,
    ],
  ])('says in one line that there is %s', async (_name, args, message) => {
    const { status, stdout, stderr } = allium(args, await stateWith(CALLS));

    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('    at ');
  });

  it.each(['list', 'stats', 'tail'])(
    '%s: has nothing to say about an empty folder',
    async (command) => {
      expect(allium([command], await stateWith([]))).toMatchObject({ status: 0, stderr: '' });
    },
  );
});

describe('allium receipts show', () => {
  it('prints intent and receipt with their place in file and chain', async () => {
    const state = await stateWith(CALLS);

    const { status, stdout } = allium(['show', 'd'], state);
    const parsed = allium(['show', 'd', '--json'], state)
      .stdout.trimEnd()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { file: string; line: number; receipt: Receipt & { seq: number } },
      );

    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^two-\w+\.jsonl:3\n[^]*record +intent\n[^]*\ntwo-\w+\.jsonl:4\n[^]*reason +to see\n[^]*prev_hash +sha256:/,
    );
    expect(parsed.map(({ line, receipt }) => [line, receipt.record, receipt.seq])).toEqual([
      [3, 'intent', 2],
      [4, 'receipt', 3],
    ]);
  });

  it('prints the audit record a line for each member', async () => {
    const { stdout } = allium(['show', 'c'], await stateWith(CALLS));

    const audit = [
      '  audit',
      '    consent',
      '      decision    approved',
      '      decided_by  ada@terminal',
    ];
    const layers = [
      '    layers',
      '      - name    consent',
      '        status  approved',
      '      - x',
      '    hints    []',
    ];
    expect(stdout).toContain([...audit, ...layers].join('\n'));
  });

  it('takes the beginning of an id that no other call has, and an exact id before any beginning', async () => {
    const state = await stateWith(
      ['call-1', 'call-10', 'call-11', 'other'].map((tool_call_id) => ({ tool_call_id })),
    );
    const shown = (call: string) =>
      [...allium(['show', call], state).stdout.matchAll(/^ {2}tool_call_id +(.*)$/gm)].map(
        ([, id]) => id,
      );

    expect([shown('oth'), shown('call-10'), shown('call-1')]).toEqual([
      ['other'],
      ['call-10'],
      ['call-1'],
    ]);
    expect(allium(['show', 'call'], state)).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'allium: several calls begin with "call": call-1, call-10, call-11. Write more of the one that is meant\n',
    });
    expect(allium(['show', ''], state)).toMatchObject({ status: 1, stdout: '' });
  });

  it('names ten of many calls that begin so', async () => {
    const state = await stateWith(
      Array.from({ length: 30 }, (_, nth) => ({ tool_call_id: `call-${nth + 10}` })),
    );

    expect(allium(['show', 'call'], state).stderr).toMatch(
      /call-10, (call-\d\d, ){8}call-19, and more\. Write/,
    );
  });

  it('takes the URI of a receipt, with or without its folder, also of one that was copied elsewhere', async () => {
    const { state, dir } = await stateWith(CALLS);
    const uri = `${pathToFileURL(receiptFiles(dir).find((file) => file.includes('two-')) ?? '').href}#seq=1`;
    const copy = join(state, 'copy');
    cpSync(dir, copy, { recursive: true });

    const short = basename(uri);
    for (const args of [[uri], [uri, copy], [short], [short, copy]])
      expect(allium(['show', ...args], { state })).toMatchObject({
        status: 0,
        stderr: '',
        stdout: expect.stringMatching(/^two-\w+\.jsonl:\d+\n[^]*tool_call_id +b\n/) as string,
      });
    expect(allium(['show', uri.replace(/1$/, '99')], { state })).toMatchObject({
      status: 1,
      stdout: '',
    });
  });

  it('lets nothing in a receipt act upon the terminal, however deep', async () => {
    const evil = '\u001b[2J\u009b31m\u202e';
    const deep = JSON.parse(
      `${'['.repeat(40)}"${JSON.stringify(evil).slice(1, -1)}"${']'.repeat(40)}`,
    ) as never;
    const state = await stateWith([
      { audit: { [evil]: { [evil]: [evil, { [evil]: evil }] }, deep } },
    ]);

    const { status, stdout } = allium(['show', 'call-1'], state);

    expect(status).toBe(0);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).toContain('… (--json shows it)');
  });

  it('says that there is no such call', async () => {
    expect(allium(['show', 'x\u001b[2J'], await stateWith(CALLS))).toEqual({
      status: 1,
      stdout: '',
      stderr: 'allium: there is no receipt of the call "x\\u{1b}[2J"\n',
    });
  });
});

describe('allium receipts match', () => {
  const ARGS = { path: 'notes/list.txt', lines: [1, 2] };
  const OTHER = { path: 'notes/other.txt', lines: [1, 2] };

  /** Receipts as a program with a key writes them. */
  async function stateToMatch(): Promise<State> {
    const folder = mkdtempSync(join(tmpdir(), 'allium-key-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const key = hashingKey(folder);
    const [these, others] = [hashCanonical(ARGS, { key }), hashCanonical(OTHER, { key })];
    const none = { approved_hash: null, executed_hash: null };
    const made = await stateWith([
      { tool_call_id: 'a', tool_name: 'read', requested_hash: these, args_hash: these, ...none },
      {
        tool_call_id: 'b',
        tool_name: 'write',
        requested_hash: others,
        args_hash: others,
        approved_hash: others,
        executed_hash: these,
      },
      { tool_call_id: 'c', tool_name: 'write', requested_hash: others, args_hash: others, ...none },
    ]);
    cpSync(folder, join(made.state, 'keys'), { recursive: true });
    return made;
  }

  const matched = (args: readonly string[], state: State) => {
    const { status, stdout, stderr } = allium(['match', '--json', ...args], state);
    const lines = stdout.split('\n').slice(0, -1);
    const found = lines.map(
      (line) => JSON.parse(line) as { as: readonly string[]; receipt: Receipt },
    );
    return {
      status,
      stderr,
      found: found.map(({ as, receipt }) => `${receipt.tool_call_id}: ${as.join(' ')}`),
    };
  };

  it('finds the calls of exactly these arguments, in whatever order they are written', async () => {
    const state = await stateToMatch();
    const args = ['--args', '{ "lines": [1, 2.0], "path": "notes\\/list.txt" }'];

    expect(matched(args, state)).toEqual({
      status: 0,
      stderr: '',
      found: ['a: requested', 'b: executed'],
    });
    expect(matched([...args, '--tool', 'write'], state).found).toEqual(['b: executed']);
    expect(allium(['match', ...args], state).stdout).toMatch(
      /^as +time +call [^]*\nrequested +\S+ \S+ +a [^]*\nexecuted +\S+ \S+ +b /,
    );
  });

  it.each([
    '{"path":"notes/list.txt"}',
    '{"path":"notes/list.txt","lines":[2,1]}',
    '{"path":"notes/list.txt","lines":["1",2]}',
    '{}',
  ])('ends with 1 for other arguments: %s', async (args) => {
    expect(matched(['--args', args], await stateToMatch())).toEqual({
      status: 1,
      stderr: 'allium: no receipt is of these arguments\n',
      found: [],
    });
  });

  it('says that the key is not there, and makes none', async () => {
    const state = await stateToMatch();
    rmSync(join(state.state, 'keys'), { recursive: true });

    const { status, stderr, found } = matched(['--args', JSON.stringify(ARGS)], state);

    expect({ status, found }).toEqual({ status: 2, found: [] });
    expect(stderr).toMatch(
      /^allium: 3 receipts were hashed with a key that is not in .*keys, so they could not be compared; /,
    );
    expect(existsSync(join(state.state, 'keys'))).toBe(false);
  });

  it('does not take the key of another folder for the one', async () => {
    const state = await stateToMatch();
    rmSync(join(state.state, 'keys', 'receipts-hmac.key'));
    hashingKey(join(state.state, 'keys'));

    expect(matched(['--args', JSON.stringify(ARGS)], state)).toMatchObject({
      status: 2,
      found: [],
    });
  });

  it('compares plain hashes without a key', async () => {
    const plain = hashCanonical(ARGS);
    const state = await stateWith(
      [{ requested_hash: plain, args_hash: plain, executed_hash: plain }, {}],
      { hasKey: false },
    );
    writeFileSync(join(state.state, 'args.json'), JSON.stringify(ARGS));

    expect(matched(['--args-file', 'args.json'], state)).toEqual({
      status: 0,
      stderr: '',
      found: ['call-1: requested executed'],
    });
  });
});

describe('allium receipts tail', () => {
  it('prints the last ones of all sessions', async () => {
    const { status, stdout } = allium(['tail', '-n', '2', '--json'], await stateWith(CALLS));

    expect({ status, ids: idsIn(stdout) }).toEqual({ status: 0, ids: 'dd' });
  });

  it('follow: goes on with what comes until Ctrl-C, and ends with 130', async () => {
    const { state, dir } = await stateWith(CALLS);
    const child = spawn(process.execPath, [MAIN, 'receipts', 'tail', '-f', '--json', '-n', '1'], {
      env: { ALLIUM_STATE_DIR: state },
    });
    const sink = localReceiptSink({ dir, key: false, signingKey });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const count = stdout.split('\n').length - 1;
      if (count < 4)
        void sink(makeReceipt({ session_id: `new-${count}`, tool_call_id: `n${count}` }));
      else child.kill('SIGINT');
    });

    expect(await new Promise((done) => child.once('close', done))).toBe(130);
    expect(idsIn(stdout)).toBe('dn1n2n3');
    await sink.close();
  });
});

describe('allium receipts verify', () => {
  it('says what was verified, and with which key', async () => {
    const { status, stdout, stderr } = allium(['verify'], await stateWith(CALLS));

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(
      /^receipts {2}5\nhead {6}sha256:[0-9a-f]{64}\nkey {7}known: .*\nindex {5}4:sha256:[0-9a-f]{64}\nproblems {2}nothing is wrong\n$/,
    );
  });

  it('finds an empty folder, and a session that is gone', async () => {
    const empty = await stateWith([]);
    const { state, dir } = await stateWith(CALLS);
    for (const file of readdirSync(dir).filter((name) => name.startsWith('two-')))
      rmSync(join(dir, file));

    expect(allium(['verify'], empty)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining(': empty: ') as string,
    });
    expect(allium(['verify'], { state })).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^two-\w+\.jsonl:1: session_missing: /) as string,
    });
  });

  it('--at-least: takes a number, and an earlier index line', async () => {
    const state = await stateWith(CALLS);
    const [, index = ''] = /^index +(.*)$/m.exec(allium(['verify'], state).stdout) ?? [];

    expect(allium(['verify', '--at-least', '5'], state).status).toBe(0);
    expect(allium(['verify', '--at-least', index], state).status).toBe(0);
    for (const more of [
      '6',
      `9${index}`,
      index.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ])
      expect(allium(['verify', '--at-least', more], state)).toMatchObject({
        status: 1,
        stdout: expect.stringContaining(': too_few: ') as string,
      });
    expect(allium(['verify', '--at-least', 'many'], state).status).toBe(2);
  });

  it('tells of receipts that are not signed, and of those that were found so', async () => {
    const { state, dir } = await stateWith([{}]);
    const [path = ''] = receiptFiles(dir);
    const sink = localReceiptSink({ dir, key: false, signingKey });
    await sink(makeReceipt({ tool_call_id: 'killed' }));
    rmSync(path.replace('.jsonl', '.lock'));

    expect(allium(['verify'], { state })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^unsigned +1 receipt behind/m) as string,
    });
    const next = localReceiptSink({ dir, key: false, signingKey });
    await next(makeReceipt());
    await next.close();
    expect(allium(['verify'], { state })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^found +1 receipt was unsigned/m) as string,
    });
  });

  it('does not take a key that somebody else may have put there', async () => {
    const { state } = await stateWith(CALLS);
    chmodSync(join(state, 'keys', 'receipts-ed25519.pub.pem'), 0o666);

    expect(allium(['verify'], { state })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(join(state, 'keys', 'receipts-ed25519.pub.pem')) as string,
    });
  });

  it('takes the key of the state folder that copied receipts lie in, and says that it came with them', async () => {
    const { state, dir } = await stateWith(CALLS);
    const elsewhere = mkdtempSync(join(tmpdir(), 'allium-evidence-'));
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
    const [file = ''] = receiptFiles(dir);

    for (const place of [dir, file])
      expect(allium(['verify', place], { state: elsewhere }).stdout).toContain(
        `key       known: signatures were checked, with ${join(state, 'keys', 'receipts-ed25519.pub.pem')}, which lay beside the receipts`,
      );
    expect(allium(['verify', dir, '--state', elsewhere], { state }).stdout).toMatch(/unknown/);
  });

  it('without a key: says what is then not proven', async () => {
    const { status, stdout } = allium(['verify'], await stateWith(CALLS, { hasKey: false }));

    expect(status).toBe(0);
    expect(stdout).toMatch(/key {7}unknown: [^]*not proven: that no whole file was written anew/);
  });

  it('tells of every changed line, and ends with 1', async () => {
    const { state, dir } = await stateWith(CALLS);
    const [one = '', two = ''] = receiptFiles(dir);
    for (const path of [one, two])
      writeFileSync(path, readFileSync(path, 'latin1').replace('_file', '_fiIe'));

    const { status, stdout } = allium(['verify'], { state });
    const json = allium(['verify', '--json'], { state });

    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^one-\w+\.jsonl:2: hash: the line was changed.*\ntwo-\w+\.jsonl:2: hash: .*\nreceipts/,
    );
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      count: 5,
      key: 'known',
      problems: [{ line: 2, kind: 'hash' }, { line: 2 }],
    });
  });

  it.runIf(hasPython)('shows a bar on a terminal, and takes it away', async () => {
    const { state } = await stateWith(CALLS);
    const script = `import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)`;
    const { stdout } = spawnSync(
      'python3',
      ['-c', script, process.execPath, MAIN, 'receipts', 'verify'],
      {
        ...{
          encoding: 'utf8',
          timeout: 60_000,
          env: { PATH: process.env.PATH, ALLIUM_STATE_DIR: state },
        },
      },
    );

    expect(stdout).toMatch(/\r█*░* ?\d+ %/);
    expect(stdout.lastIndexOf('\r\u001b[K')).toBeGreaterThan(stdout.lastIndexOf('%  '));
  });
});

describe('allium receipts prune', () => {
  /** Like `stateWith`, with the private key that a program leaves, too. */
  async function stateToPrune(receipts: readonly Partial<Receipt>[]): Promise<State> {
    const made = await stateWith(receipts);
    const pem = signingKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(join(made.state, 'keys', 'receipts-ed25519.pem'), pem, { mode: 0o600 });
    return made;
  }

  it('--session: removes one session, and verify does not miss it', async () => {
    const { state, dir } = await stateToPrune(CALLS);

    expect(allium(['prune', '--session', 'two'], { state })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^two-\w+: removed, 3 receipts\n$/) as string,
    });
    expect(readdirSync(dir).filter((file) => file.startsWith('two-'))).toEqual([]);
    expect(allium(['verify'], { state })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^receipts {2}2$/m) as string,
    });
  });

  it('--before: removes what was signed last before then, and --json tells', async () => {
    const state = await stateToPrune(CALLS);

    expect(allium(['prune', '--before', '1h'], state)).toMatchObject({
      status: 0,
      stdout: 'no session fits\n',
    });
    const { status, stdout } = allium(['prune', '--before', '2999-01-01', '--json'], state);
    expect({
      status,
      kept: stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { kept: unknown }).kept),
    }).toEqual({
      status: 0,
      kept: [null, null],
    });
    expect(allium(['verify'], state)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^receipts {2}0$/m) as string,
    });
  });

  it('leaves a session that is being written to, and one that was changed', async () => {
    const { state, dir } = await stateToPrune(CALLS);
    const [one = '', two = ''] = receiptFiles(dir);
    const sink = localReceiptSink({ dir, key: false, signingKey });
    await sink(makeReceipt({ session_id: 'one' }));
    writeFileSync(two, readFileSync(two, 'latin1').replace('_file', '_fiIe'));

    const { status, stdout } = allium(['prune', '--before', '2999-01-01'], { state });
    await sink.close();
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /one-\w+: left as it is: it is being written to\ntwo-\w+: left as it is: it is not as it was signed/,
    );
    expect([one, two].map((path) => existsSync(path))).toEqual([true, true]);
  });

  it('wants to be told what goes', async () => {
    expect(allium(['prune'], await stateToPrune(CALLS))).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('allium receipts stats', () => {
  it('counts by tool, status, session and layer, and says how long calls took', async () => {
    const state = await stateWith(CALLS);
    const { status, stdout } = allium(['stats'], state);
    const json = JSON.parse(allium(['stats', '--json'], state).stdout) as Record<string, unknown>;

    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^receipts {2}4, and 1 intents\nfirst {5}2026-01-01T00:00:01.000Z\nlast {6}2026-01-01T00:00:05.000Z\n/,
    );
    expect(stdout).toMatch(/count {2}blocked by\n {4}1 {2}consent\n/);
    expect(json).toMatchObject({
      receipts: 4,
      tool: { counts: [{ name: 'read_file', count: 2 }, { count: 1 }, { count: 1 }], others: 0 },
      status: {
        counts: [
          { name: 'ok', count: 3 },
          { name: 'consent_denied', count: 1 },
        ],
      },
      session: { counts: [{ count: 2 }, { count: 2 }] },
    });
  });

  it('does not let names from outside fill the memory', async () => {
    const state = await stateWith(
      Array.from({ length: 1200 }, (_, nth) => ({ tool_name: `tool-${nth}` })),
    );

    expect(JSON.parse(allium(['stats', '--json'], state).stdout)).toMatchObject({
      tool: { others: 200 },
    });
  });
});

describe('allium receipts export', () => {
  it.each(['json', 'csv'])(
    '%s: writes the same to a file as to stdout, and leaves nothing else',
    async (format) => {
      const { state } = await stateWith(CALLS);
      writeFileSync(join(state, 'out'), 'before');

      const direct = allium(['export', '--format', format, '--session', 'one'], { state });
      const { status, stdout } = allium(
        ['export', '--format', format, '--session', 'one', '--out', 'out'],
        { state },
      );

      expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
      expect(readFileSync(join(state, 'out'), 'utf8')).toBe(direct.stdout);
      expect(readdirSync(state).sort()).toEqual(['keys', 'out', 'receipts']);
      if (format === 'json')
        expect(
          (JSON.parse(direct.stdout) as Receipt[]).map((receipt) => receipt.tool_call_id),
        ).toEqual(['a', 'c']);
    },
  );

  it('leaves the old file alone when it is interrupted', async () => {
    const { state } = await stateWith(
      Array.from({ length: 30_000 }, (_, nth) => ({ tool_call_id: `c${nth}` })),
    );
    writeFileSync(join(state, 'out'), 'before');
    const child = spawn(
      process.execPath,
      [MAIN, 'receipts', 'export', '--format', 'csv', '--out', 'out'],
      {
        cwd: state,
        env: { ALLIUM_STATE_DIR: state },
      },
    );
    const isBegun = () => readdirSync(state).some((file) => file.endsWith('.part'));
    while (!isBegun() && child.exitCode === null) await new Promise(setImmediate);
    child.kill('SIGINT');

    expect(await new Promise((done) => child.once('close', done))).toBe(130);
    expect(readFileSync(join(state, 'out'), 'utf8')).toBe('before');
    expect(isBegun()).toBe(false);
    expect(existsSync(join(state, 'out'))).toBe(true);
  });
});
