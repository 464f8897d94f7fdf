import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyReceipts } from '../receipts/index.ts';
import { allium, projectWith, startAllium } from './run-command.fixture.ts';

/** A stack without files, for what is only about the command. */
const CONFIG = `version: 1
session: { id: shell }
layers:
  - consent: { rules: [{ tool: echo, decision: allow }, { tool: wait, decision: allow }], default: ask }
  - requiredReason: { onMissing: fill_blank }
tools: [{ module: ./tools.mjs }]
`;
const TOOLS = `import { setTimeout } from 'node:timers/promises';
const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };
export const echo = { name: 'echo', description: 'Says it again.', inputSchema, execute: ({ text }, { report }) => {
  report({ progress: 1, total: 2, message: 'half \\u001b[31mred' });
  return text ?? 'nothing';
} };
export const wipe = { name: 'wipe', description: 'Wipes.', inputSchema, execute: () => 'wiped' };
export const wait = { name: 'wait', description: 'Waits.', inputSchema, execute: async (_args, { report, signal }) => {
  report({ message: 'waiting' });
  await setTimeout(60_000, null, { signal });
} };
`;
const project = (config = CONFIG) => projectWith({ 'allium.yaml': config, 'tools.mjs': TOOLS });

describe('allium init', () => {
  it('writes files with which explain and call work at once', async () => {
    const folder = projectWith();
    const written = allium(folder, ['init']);
    const explained = allium(folder, ['explain']);
    const called = allium(folder, [
      'call',
      'add',
      '--args',
      '{"a":1,"b":2,"reason":"a first try"}',
    ]);

    expect(written).toMatchObject({ code: 0, out: 'wrote allium.yaml\nwrote tools.ts\n' });
    expect(written.err).toContain('allium explain');
    expect(explained.err).toBe('');
    expect(explained.out).toContain('requiredReason adds reason (required)');
    expect(called).toEqual({ code: 0, out: '{"sum":3}\n', err: '' });
    expect(await verifyReceipts(join(folder, '.allium/receipts'))).toMatchObject({
      ok: true,
      count: 1,
    });
  });

  it('replaces nothing without --force', () => {
    const folder = projectWith({ 'tools.ts': 'mine' });
    const refused = allium(folder, ['init']);

    expect(refused).toEqual({
      code: 2,
      out: '',
      err: 'allium: tools.ts in . would be replaced; --force does it\n',
    });
    expect(existsSync(join(folder, 'allium.yaml'))).toBe(false);
    expect(allium(folder, ['init', '--force']).code).toBe(0);
    expect(readFileSync(join(folder, 'tools.ts'), 'utf8')).toContain('defineTool');
  });

  it('makes the folder it is told', () => {
    const folder = projectWith();

    expect(allium(folder, ['init', '--dir', 'a/b']).out).toBe(
      'wrote a/b/allium.yaml\nwrote a/b/tools.ts\n',
    );
    expect(readdirSync(join(folder, 'a/b')).sort()).toEqual(['allium.yaml', 'tools.ts']);
  });
});

describe('allium explain', () => {
  it('says which policies are asked, and what happens where none has an opinion', () => {
    const checkers = '[{ pathPolicy: { roots: [.] } }, { rulesPolicy: { rules: [] } }]';
    const { code, out } = allium(
      project(
        `version: 1\nlayers:\n  - permissions: { checkers: ${checkers}, fallback: ask, shadow: true }\n`,
      ),
      ['explain'],
    );

    expect(code).toBe(0);
    expect(out).toContain(
      'permissions  asks pathPolicy, rulesPolicy, otherwise ask; shadow: refuses nothing',
    );
  });

  it('gives the same as JSON, for one tool', () => {
    const { code, out } = allium(project(), ['explain', '--json', '--tool', 'wipe']);
    const told = JSON.parse(out) as {
      layers: { name: string }[];
      tools: { name: string; changes: { adds: { name: string }[] }[] }[];
    };

    expect(code).toBe(0);
    expect(told.layers.map(({ name }) => name)).toEqual(['consent', 'requiredReason']);
    expect(told.tools.map(({ name, changes }) => [name, changes[0]?.adds[0]?.name])).toEqual([
      ['wipe', 'reason'],
    ]);
  });

  it('advises about the order, and fails for a harmful one', () => {
    const advice = allium(project('version: 1\nlayers:\n  - dryRun\n  - consent: {}\n'), [
      'explain',
    ]);
    const harm = allium(
      project('version: 1\nlayers:\n  - timeout: { maxMs: 1 }\n  - consent: {}\n'),
      ['explain'],
    );

    expect(advice).toMatchObject({
      code: 0,
      out: expect.stringContaining('! "dryRun" should stand inside "consent"') as string,
    });
    expect(harm).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^allium: allium\.yaml:3:5: "timeout" must stand inside/,
      ) as string,
    });
  });

  it('says what is wrong and where, for everything, without a stack', () => {
    const { code, err } = allium(project('version: 2\nlayers:\n  - dryRnu\n'), ['explain']);

    expect(code).toBe(2);
    expect(err).toBe(
      'allium: allium.yaml:1:10: "version" must be 1\nallium.yaml:3:5: there is no layer "dryRnu"; did you mean "dryRun"?\n',
    );
  });

  it('names init where there is no file, and a tool that was meant', () => {
    expect(allium(projectWith(), ['explain'])).toEqual({
      code: 2,
      out: '',
      err: 'allium: .: there is no allium.yaml here; "allium init" writes one\n',
    });
    expect(allium(project(), ['explain', '--tool', 'wip']).err).toBe(
      'allium: there is no tool "wip"; did you mean "wipe"?\n',
    );
  });

  it.each(['init', 'explain', 'call'])('has help with examples: %s', (command) => {
    expect(allium(projectWith(), [command, '--help'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('Examples:') as string,
    });
  });
});

describe('allium call', () => {
  it('prints what the model reads, and progress beside it', () => {
    expect(allium(project(), ['call', 'echo', '--args', '{"text":"hello"}'])).toEqual({
      code: 0,
      out: 'hello\n',
      err: '… 1/2 half  [31mred\n',
    });
  });

  it('takes arguments from a file and from standard input', () => {
    const folder = project();
    writeFileSync(join(folder, 'a.json'), '{"text":"from a file"}');

    expect(allium(folder, ['call', 'echo', '--args-file', 'a.json']).out).toBe('from a file\n');
    expect(allium(folder, ['call', 'echo', '-'], { input: '{"text":"piped"}' }).out).toBe(
      'piped\n',
    );
  });

  it('ends as approval_required where nobody can be asked', () => {
    const { code, out } = allium(project(), ['call', 'wipe', '--json'], { input: 'y\n' });

    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ status: 'approval_required', executed: 'no' });
  });

  it('cannot be approved unseen: whoever types the command may be the agent', () => {
    expect(allium(project(), ['call', 'wipe', '--yes'])).toMatchObject({ code: 2, out: '' });
  });

  it('fails with 1 for an unknown tool and for wrong arguments, also where a host would throw', () => {
    const folder = project(`${CONFIG}onUnknownTool: throw\nonInvalidArgs: throw\n`);

    expect(allium(folder, ['call', 'ecko'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('There is no tool "ecko"') as string,
    });
    expect(allium(folder, ['call', 'echo', '--args', '{"text":5}'])).toMatchObject({
      code: 1,
      err: '',
    });
  });

  it.each([
    ['arguments that are no JSON', ['--args', '{"key": hunter2']],
    ['arguments that are no object', ['--args', '["hunter2"]']],
    ['two sources', ['--args', '{}', '--args-file', 'a.json']],
    ['a file that is not there', ['--args-file', 'gone.json']],
    ['a word nobody knows', ['hunter2']],
    ['an option nobody knows', ['--arg', '{}']],
    ['a config that is not there', ['--config', 'gone.yaml']],
  ])('is refused for %s, in a line that repeats no argument', (_what, args) => {
    const { code, out, err } = allium(project(), ['call', 'echo', ...args]);

    expect([code, out]).toEqual([2, '']);
    expect(err).not.toMatch(/hunter2|\n\s+at /);
    expect(err.trim().split('\n').length).toBeLessThanOrEqual(3);
  });

  it('is cancelled by an interrupt, and its receipt is kept', async () => {
    const folder = project(
      CONFIG.replace('layers:\n', 'state: { dir: .allium }\nlayers:\n  - auditLog: local\n'),
    );
    const running = startAllium(folder, ['call', 'wait', '--json']);
    await running.shows('waiting');
    running.interrupt();
    const { code, out } = await running.ended;

    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ status: 'cancelled' });
    expect(await verifyReceipts(join(folder, '.allium/receipts'))).toMatchObject({
      ok: true,
      count: 1,
    });
  });
});
