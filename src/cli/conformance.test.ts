import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { record } from '../../middleware/index.ts';
import { hasPty } from '../consent/pty.fixture.ts';
import { defineTool, governTools } from '../index.ts';
import { allium, atTerminal, tempFolder } from './cli.fixture.ts';

const SCENARIO = `id: area.one
title: it is so
requirement: AB-1
source: here
layers: [{ rateLimit: { maxCalls: 1 } }]
steps:
  - { call: echo, args: { n: 1 }, expect: { result: { n: 1 } } }
  - { call: echo, args: { n: 2 }, expect: { status: rate_limited } }
`;

/** A layer that lets everything through. */
const OPEN = `export default { name: 'open', factories: { rateLimit: (): object => ({ name: 'rateLimit', caller: (call: unknown, next: Function) => next(call) }) } };`;

/** A folder with one scenario, and files beside it. */
function folderWith(files: Readonly<Record<string, string>> = {}): {
  folder: string;
  file: (name: string) => string;
} {
  const folder = tempFolder();
  for (const [name, text] of Object.entries({ 'one.yaml': SCENARIO, ...files }))
    writeFileSync(join(folder, name), text);
  return { folder, file: (name) => join(folder, name) };
}

describe('allium conformance', () => {
  it('runs the bundled suite when no folder is named, and ends with 0', () => {
    const { code, stdout, stderr } = allium('conformance', '--filter', 'rate-limit.');

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^allium: \d+ scenarios, \d+ passed\n$/);
  });

  it('raises no alarm about the tools of its own scenarios', () => {
    expect(allium('conformance', '--filter', 'definition-pin.')).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it('shows what differed, and ends with 1', () => {
    const { folder, file } = folderWith({ 'open.ts': OPEN });
    const { code, stdout } = allium('conformance', folder, '--subject', file('open.ts'));

    expect(code).toBe(1);
    expect(stdout).toContain('✗ area.one: it is so\n');
    expect(stdout).toContain(
      '  steps[1].status\n    - expected "rate_limited"\n    + got      "ok"\n',
    );
    expect(stdout).toContain('open: 1 scenario, 0 passed, 1 failed\n');
  });

  it('--subject: takes a module that imports the kit, in TypeScript', () => {
    const { folder, file } = folderWith({
      'mine.ts': `import { createSubject } from 'allium/conformance';\nimport { rateLimit } from 'allium/middleware';\nexport default createSubject({ name: 'mine' as string, factories: { rateLimit } });`,
    });

    expect(allium('conformance', folder, '--subject', file('mine.ts'))).toMatchObject({
      code: 0,
      stdout: 'mine: 1 scenario, 1 passed\n',
    });
  });

  it('--json: prints counts and each scenario', () => {
    const { folder } = folderWith();
    const { code, stdout } = allium('conformance', folder, '--json');

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      total: 1,
      passed: 1,
      failed: 0,
      results: [{ id: 'area.one', ok: true }],
    });
  });

  it.each([
    ['--junit', /^<\?xml .*<testcase classname="area" name="area\.one"/s],
    ['--tap', /^TAP version 14\n1\.\.1\nok 1 - area\.one: it is so\n$/],
  ])('%s: prints for other programs', (format, text) => {
    expect(allium('conformance', folderWith().folder, format).stdout).toMatch(text);
  });

  it('--command: judges another process', () => {
    const { folder, file } = folderWith({
      'refuses.mjs': `process.stdin.once('data', () => { process.stdout.write('{"id":1,"error":{"message":"not today"}}\\n'); });`,
    });
    const { code, stdout } = allium(
      'conformance',
      folder,
      '--command',
      `"${process.execPath}" "${file('refuses.mjs')}"`,
    );

    expect(code).toBe(1);
    expect(stdout).toContain('+ got      {"message":"not today"}');
  });

  it('--from: turns a recording into a scenario that passes, and fails once an answer has changed', async () => {
    const { folder, file } = folderWith();
    const tools = [
      defineTool({
        name: 'add',
        description: 'Adds.',
        inputSchema: { type: 'object' },
        execute: () => ({ sum: 3 }),
      }),
    ];
    const governed = governTools({ tools, layers: [record({ file: file('run.jsonl') })] });
    await governed.call({ name: 'add', arguments: { a: 1, b: 2 } });
    await governed.close();
    const { code, stdout } = allium(
      'conformance',
      '--from',
      file('run.jsonl'),
      '--title',
      'adding adds',
    );
    writeFileSync(join(folder, 'two.yaml'), stdout);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^id: "recorded\.run"\ntitle: "adding adds"\n/);
    expect(allium('conformance', file('two.yaml')).stdout).toBe('allium: 1 scenario, 1 passed\n');
    writeFileSync(join(folder, 'two.yaml'), stdout.replace('sum: 3', 'sum: 4'));
    expect(allium('conformance', file('two.yaml')).code).toBe(1);
  });

  it.each([
    ['a recording that is not there', () => ['--from', '/there/is/no/run.jsonl'], /run\.jsonl/],
    [
      'a name for a scenario that is not made',
      () => ['--id', 'a.b'],
      /--id and --title go with --from/,
    ],
    ['a folder that is not there', () => ['/there/is/no/such/folder'], /no such file or folder/],
    [
      'a scenario that is wrong',
      () => [folderWith({ 'two.yaml': 'id: area.two\n' }).folder],
      /two\.yaml:1:1: the scenario lacks "title"/,
    ],
    [
      'a filter that nothing passes',
      () => [folderWith().folder, '--filter', 'nothing'],
      /no scenario has "nothing"/,
    ],
    ['two formats', () => ['--json', '--tap'], /--json and --tap cannot both be printed/],
    [
      'two subjects',
      () => ['--subject', 'a.ts', '--command', 'b'],
      /--subject and --command cannot both be judged/,
    ],
    [
      'a subject that is not there',
      () => ['--subject', './no-such.ts'],
      /\.\/no-such\.ts cannot be loaded: /,
    ],
    [
      'a module that is no subject',
      () => ['--subject', folderWith({ 'no.ts': 'export default 1;' }).file('no.ts')],
      /the default export must be a subject/,
    ],
  ])('refuses %s in a line, and ends with 2', (_name, args, message) => {
    const { code, stdout, stderr } = allium('conformance', ...args());

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it.runIf(hasPty)('counts on a terminal while it runs, and clears the line', async () => {
    const { stdout } = await atTerminal(80, ['conformance', folderWith().folder]).ended();

    expect(stdout).toContain('\r1 of 1');
    expect(stdout).toContain('\r\u001b[K');
  });
});
