import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { permissions } from '../../../middleware/index.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { governTools } from '../../dispatch/govern-tools.ts';
import type { Logger } from '../../tools/tool.ts';
import { fileOf, projectWith } from './files.fixture.ts';
import { type LoadArtifactsOptions, loadArtifacts } from './load-artifacts.ts';

const script = (...lines: readonly string[]) => [
  'script: |',
  '  def run(args):',
  ...lines.map((line) => `      ${line}`),
];
const tool = (...lines: readonly string[]) => ({ '.allium/tools/try_it.md': fileOf(...lines) });

async function load(files: Readonly<Record<string, string>>, options: LoadArtifactsOptions = {}) {
  const folder = projectWith(files);
  const loaded = await loadArtifacts(folder, options);
  onTestFinished(() => loaded.close());
  return { ...loaded, folder };
}

/** Keeps what was logged. */
function recording(): {
  readonly logger: Logger;
  readonly lines: (readonly [string, object, string])[];
} {
  const lines: (readonly [string, object, string])[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message]);
  return {
    lines,
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  };
}

async function call(
  files: Readonly<Record<string, string>>,
  args: object = {},
  options: LoadArtifactsOptions = {},
) {
  const { tools, folder } = await load(files, options);
  const { logger, lines } = recording();
  const result = await governTools({ tools, layers: [], logger }).call({
    name: 'try_it',
    arguments: args,
  });
  return { result, lines, folder };
}

describe('the workspace that a file names', () => {
  const at = (workspace: string, line: string) =>
    tool(`grants: { workspace: ${workspace} }`, ...script(line));
  async function linked(line: string) {
    const outside = projectWith({ 'secret.txt': 'SECRET' });
    const folder = projectWith(at('data', line));
    symlinkSync(outside, join(folder, 'data'));
    const loaded = await loadArtifacts(folder);
    onTestFinished(() => loaded.close());
    const result = await governTools({
      tools: loaded.tools,
      layers: [],
      logger: recording().logger,
    }).call({
      name: 'try_it',
      arguments: {},
    });
    return { result, outside };
  }

  it('is where paths begin', async () => {
    const files = {
      ...at(
        'data/notes',
        'return [fs.read("a"), fs.list()[0]["name"], exec.run("cat", ["a"])["stdout"]]',
      ),
      'data/notes/a': 'A',
    };

    expect((await call(files)).result).toMatchObject({ ok: true, result: ['A', 'a', 'A'] });
  });

  it.each([
    ['read', 'return fs.read("secret.txt")'],
    ['looked at', 'return fs.exists("secret.txt")'],
    ['listed', 'return fs.list()'],
    ['run in', 'return exec.run("cat", ["secret.txt"])'],
  ])('is no way out of the project: a link is not %s', async (_what, line) => {
    const { result } = await linked(line);

    expect(result).toMatchObject({
      ok: false,
      error: expect.stringContaining('links are not followed') as unknown,
    });
    expect(JSON.stringify(result)).not.toContain('SECRET');
  });

  it('is no way out of the project: a link is not written to', async () => {
    const { result, outside } = await linked('return fs.write("new.txt", "x")');

    expect(result).toMatchObject({ ok: false });
    expect(existsSync(join(outside, 'new.txt'))).toBe(false);
  });

  it.each([
    ['.allium', 'tools/evil.md'],
    ['.allium/tools', 'evil.md'],
    ['plugins', 'evil.md'],
  ])('does not make %s a place where %s can be written', async (workspace, path) => {
    const { result, folder } = await call({
      ...at(workspace, `return fs.write("${path}", "x")`),
      'plugins/readme.txt': '',
    });

    expect(result).toMatchObject({
      ok: false,
      error: expect.stringContaining('this path is protected') as unknown,
    });
    expect(existsSync(join(folder, workspace, path))).toBe(false);
  });
});

describe('a tool with a script', () => {
  it.each([
    ['a dict', 'return {"a": [1, 2.5, None, True]}', { a: [1, 2.5, null, true] }],
    ['a list', 'return [args["x"], len(args["x"])]', ['ä', 2]],
    ['a text', 'return "hello " + args["x"]', 'hello ä'],
    ['a number', 'return 6 * 7', 42],
    ['a bool', 'return 1 < 2', true],
    ['nothing', 'pass', null],
    ['a dict whose error is no text', 'return {"error": None, "a": 1}', { error: null, a: 1 }],
  ])('answers with %s', async (_what, line, expected) => {
    const { result } = await call(tool('parameters: { x: { type: string } }', ...script(line)), {
      x: 'ä',
    });

    expect(result).toMatchObject({ ok: true, status: 'ok', executed: 'yes', result: expected });
  });

  it.each([
    ['an error of its own', 'return {"error": "no such note", "path": "a"}', 'no such note'],
    ['fail()', 'fail("no such note")', 'no such note'],
  ])('fails with %s', async (_what, line, text) => {
    const { result } = await call(tool(...script(line)));

    expect(result).toMatchObject({
      ok: false,
      status: 'executor_error',
      errorCategory: 'tool_error',
      executed: 'yes',
      error: text,
    });
  });

  it('tells the model one line of what broke, and the log where, in the Markdown file', async () => {
    const { result, lines } = await call(
      tool('timeout_ms: 5000', ...script('x = [1]', 'return x[len(args) + 3]')),
    );
    const [level, fields, message] = lines[0] ?? [];

    expect(result).toMatchObject({
      ok: false,
      status: 'executor_error',
      errorCategory: 'script_eval',
      executed: 'unknown',
    });
    expect(result.error).toMatch(/^The script of try_it failed \(line 6\): .*index 3 out of range/);
    expect([level, message]).toEqual(['warn', expect.stringContaining('out of range') as string]);
    expect(fields).toMatchObject({
      tool: 'try_it',
      kind: 'eval',
      line: 6,
      column: 15,
      traceback: expect.arrayContaining([
        expect.objectContaining({ name: 'run', file: '.allium/tools/try_it.md', line: 6 }),
      ]) as object,
    });
    expect(result.renderedResult).not.toContain('.allium/tools');
  });

  it('prints into the log', async () => {
    const { result, lines } = await call(tool(...script('print("one", 2)', 'return 1')));

    expect([result.result, lines.map(([level, , text]) => [level, text])]).toEqual([
      1,
      [['info', 'one 2']],
    ]);
  });

  it('ends with its own time limit, and the next script runs', async () => {
    const { tools } = await load({
      '.allium/tools/try_it.md': fileOf(...script('return 1')),
      '.allium/tools/try_long.md': fileOf(
        'timeout_ms: 50',
        ...script('for i in range(19000000): pass'),
      ),
    });
    const governed = governTools({ tools, layers: [] });
    const quick = () => governed.call({ name: 'try_it', arguments: {} });
    // The thread is up before the limit counts.
    await quick();

    expect(await governed.call({ name: 'try_long', arguments: {} })).toMatchObject({
      status: 'timeout',
      executed: 'unknown',
    });
    expect(await quick()).toMatchObject({ status: 'ok', result: 1 });
  });

  it('registers with the host what it was granted to, and nothing without', async () => {
    const registered: unknown[] = [];
    const register = async (kind: string, definition: object) =>
      registered.push([kind, definition]);
    const files = tool(
      'grants: { meta: true }',
      ...script('return meta.tool_register({"name": "get_more", "script": "x"})'),
    );

    const without = await call(files, {}, { register });
    const granted = await call(files, {}, { register, grants: { meta: true } });

    expect(without.result).toMatchObject({ ok: false });
    expect(without.result.error).toContain('meta.tool_register: not granted');
    expect(granted.result).toMatchObject({ status: 'ok', result: 1 });
    expect(registered).toEqual([['tool', { name: 'get_more', script: 'x' }]]);
  });

  it('ends with its caller', async () => {
    const { tools } = await load(tool(...script('for i in range(1000000000): pass')));
    const leaving = new AbortController();
    const calling = governTools({ tools, layers: [] }).call(
      { name: 'try_it', arguments: {} },
      { signal: leaving.signal },
    );
    leaving.abort();

    expect(await calling).toMatchObject({ status: 'cancelled' });
  });

  it('fills in nothing and takes nothing that is not declared', async () => {
    const lines = [
      'parameters: { n: { type: number, default: 5 } }',
      ...script('return sorted(args.keys())'),
    ];

    expect((await call(tool(...lines), {})).result.result).toEqual([]);
    expect((await call(tool(...lines), { n: '5' })).result.status).toBe('schema_violation');
    expect((await call(tool(...lines), { m: 5 })).result).toMatchObject({
      status: 'schema_violation',
      executed: 'no',
    });
    expect((await call(tool(...lines, 'extra: pass'), { m: 5 })).result.result).toEqual(['m']);
  });
});

describe('the built-ins of a script', () => {
  const reading = (path: string, ...more: readonly string[]) =>
    tool(...more, ...script(`return fs.read("${path}")`));

  it('work in the project, and every use is on record', async () => {
    const { result } = await call({ 'note.txt': 'hello', ...reading('note.txt') });

    expect(result.result).toBe('hello');
    expect(result.audit?.builtins).toEqual([
      { builtin: 'fs.read', outcome: 'ok', durationMs: expect.any(Number) as number },
    ]);
  });

  it('work in the folder that the file names, and nowhere else', async () => {
    const files = { 'data/note.txt': 'inside', 'note.txt': 'outside' };

    expect(
      (await call({ ...files, ...reading('note.txt', 'grants: { workspace: data }') })).result
        .result,
    ).toBe('inside');
    expect(
      (await call({ ...files, ...reading('../note.txt', 'grants: { workspace: data }') })).result
        .ok,
    ).toBe(false);
  });

  it('are held to the rules of the stack', async () => {
    const { tools } = await load({ 'note.txt': 'hello', ...reading('note.txt') });
    const deny = permissions({
      checkers: [
        ({ kind }) =>
          kind === 'filesystem.read' ? { decision: 'deny', reason: 'reads are off' } : 'no_opinion',
      ],
    });
    const result = await governTools({ tools, layers: [deny] }).call({
      name: 'try_it',
      arguments: {},
    });

    expect(result).toMatchObject({
      ok: false,
      status: 'executor_error',
      error: expect.stringContaining('reads are off') as string,
    });
    expect(result.audit?.builtins).toMatchObject([{ builtin: 'fs.read', outcome: 'refused' }]);
  });

  it('see no variable that the file does not name, and none that the host withholds', async () => {
    const asking = tool(
      'grants: { env: [HOME, SHELL] }',
      ...script('return [env.get(n) != None for n in ["HOME"]]'),
    );
    const environment = { HOME: '/h', SHELL: '/s' };

    expect((await call(asking, {}, { grants: { environment } })).result.result).toEqual([true]);
    expect(
      (await call(asking, {}, { grants: { environment, env: ['SHELL'] } })).result.result,
    ).not.toEqual([true]);
  });
});

describe('a tool that runs in the background', () => {
  it('answers with a task at once, and brings along the tools that ask after it', async () => {
    const { tools } = await load(tool('async: true', ...script('return 6 * 7')));
    const governed = governTools({ tools, layers: [] });
    const started = await governed.call({ name: 'try_it', arguments: {} });
    const { task_id: taskId } = started.result as { readonly task_id: string };
    const ended = await governed.call({ name: 'task_await', arguments: { task_id: taskId } });

    expect(tools.names).toEqual(['try_it', 'task_poll', 'task_await', 'task_cancel']);
    expect(started).toMatchObject({ ok: true, result: { status: 'running' } });
    expect(ended.renderedResult).toContain('42');
  });
});

describe('loadArtifacts', () => {
  it('offers the bodies of its tools as context', async () => {
    const files = {
      '.allium/tools/a.md': '---\n---\nReads.\n\n```sh\nrm -rf /\n```\n',
      '.allium/tools/b.md': '---\n---\n',
      '.allium/tools/c.md': '---\n---\nWrites.',
    };

    expect((await load(files)).context).toBe(
      '## a\n\nReads.\n\n```sh\nrm -rf /\n```\n\n## c\n\nWrites.\n',
    );
  });

  it('binds tools without a script, and says so where nobody does', async () => {
    const files = tool('parameters: { a: { type: number } }');
    const bound = await call(
      files,
      { a: 2 },
      {
        handlers: {
          try_it: ({ a }, { callId }) => ({ twice: Number(a) * 2, known: callId !== '' }),
        },
      },
    );
    const unbound = await call(files);

    expect(bound.result).toMatchObject({ ok: true, result: { twice: 4, known: true } });
    expect(unbound.result).toMatchObject({
      status: 'executor_error',
      executed: 'no',
      error: 'tool "try_it" has no script handler',
    });
  });

  it.each([
    [
      'nothing is called so',
      { tri_it: () => 1 },
      'loadArtifacts: "handlers": no tool is called "tri_it"; did you mean "try_it"?',
    ],
    [
      'there is a script',
      { try_it: () => 1 },
      'loadArtifacts: "handlers": tool "try_it" has a script already',
    ],
  ])('refuses a handler where %s', async (_what, handlers, message) => {
    await expect(
      loadArtifacts(projectWith(tool(...script('return 1'))), { handlers }),
    ).rejects.toThrow(message);
  });

  it('throws everything that is wrong as one error, and loads nothing', async () => {
    const folder = projectWith({
      ...tool('async: 1', 'timeout_ms: -1'),
      '.allium/hooks/g.md': fileOf('event: tool.pre', 'script: "def handle(event):"'),
    });
    const thrown: unknown = await loadArtifacts(folder).catch((error: unknown) => error);

    expect(isAlliumError(thrown, 'ERR_INVALID_ARTIFACT')).toBe(true);
    expect((thrown as Error).message.split('\n')).toEqual([
      '.allium/tools/try_it.md:2:8: tool "try_it" async must be true or false',
      '.allium/tools/try_it.md:3:13: tool "try_it" timeout_ms must be >= 0',
      expect.stringMatching(/^\.allium\/hooks\/g\.md:3:\d+: got/) as string,
    ]);
    expect(isAlliumError(thrown) && thrown.details.problems).toHaveLength(3);
  });

  it('gives hooks as they are, and warnings', async () => {
    const folder = projectWith({
      '.allium/hooks/g.md': fileOf(
        'event: tool.pre',
        'script: |',
        '  def handle(event, payload):',
        '    return allow()',
      ),
    });
    mkdirSync(join(folder, '.allium/tool'));
    writeFileSync(join(folder, '.allium/tool/x.md'), '');
    const { hooks, problems, tools } = await loadArtifacts(folder);

    expect([hooks.map(({ name }) => name), tools.names]).toEqual([['g'], []]);
    expect(problems).toMatchObject([
      { severity: 'warning', rule: 'not-read', file: '.allium/tool' },
    ]);
  });

  it.each([
    ['a key of a tool', tool('parametrs: {}')],
    ['a key of a parameter', tool('parameters: { a: { type: string, requird: true } }')],
    ['a grant', tool('grants: { workspce: data }')],
    [
      'a key of a hook',
      {
        '.allium/hooks/guard.md': fileOf(
          'event: tool.pre',
          'wen: "False"',
          'script: |',
          '  def handle(event, payload): return allow()',
        ),
      },
    ],
    ['a key of the tools policy', { 'harness.md': fileOf('tools_policy: { denny: [a] }') }],
  ])('loads nothing where %s is unknown, unless it is told to be lenient', async (_what, files) => {
    await expect(load(files)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARTIFACT',
      message: expect.stringContaining('did you mean') as unknown,
    });
    expect((await load(files, { lenient: true })).problems).toMatchObject([
      { severity: 'warning', rule: 'unknown-key' },
    ]);
  });

  it('refuses options that it does not have', async () => {
    await expect(loadArtifacts('.', { lenent: true } as LoadArtifactsOptions)).rejects.toThrow(
      'did you mean "lenient"?',
    );
    await expect(loadArtifacts('')).rejects.toThrow('"dir" must be a non-empty string');
  });
});
