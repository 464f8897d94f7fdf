import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allium, projectWith, startAllium } from './run-command.fixture.ts';

const TOOL =
  '---\nparameters: { n: { type: number, required: true } }\nscript: |\n  def run(args):\n      return args["n"] * 2\n---\nDoubles.\n';
const GOOD = { '.allium/tools/get_double.md': TOOL };
const BAD = { '.allium/tools/get_double.md': TOOL.replace('script:', 'timeout_ms: -1\nscirpt:') };

function project(files: Readonly<Record<string, string>>): string {
  const folder = projectWith();
  for (const [name, text] of Object.entries(files)) put(folder, name, text);
  return folder;
}

function put(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

describe('allium validate', () => {
  it('says that all is well', () => {
    expect(allium(project(GOOD), ['validate'])).toEqual({
      code: 0,
      out: '1 tool and 0 hooks in 1 file: valid\n',
      err: '',
    });
  });

  it('has a line for every problem, with its place, and fails', () => {
    const { code, out, err } = allium(project(BAD), ['validate']);

    expect([code, err]).toEqual([1, '']);
    expect(out.split('\n')).toEqual([
      '.allium/tools/get_double.md:1:1: tool "get_double" has no script handler [warning: no-handler]',
      '.allium/tools/get_double.md:3:13: tool "get_double" timeout_ms must be >= 0 [error: format]',
      '.allium/tools/get_double.md:4:1: tool "get_double" has no "scirpt"; did you mean "script"? [error: unknown-key]',
      '1 tool and 0 hooks in 1 file: 2 errors, 1 warning',
      '',
    ]);
  });

  it('fails for warnings only where told, and knows what a program binds', () => {
    const folder = project({ '.allium/tools/get_double.md': '---\n---\nDoubles.\n' });

    expect(allium(folder, ['validate']).code).toBe(0);
    expect(allium(folder, ['validate', '--strict']).code).toBe(1);
    expect(allium(folder, ['validate', '--strict', '--handler', 'get_double']).code).toBe(0);
  });

  it('prints JSON, with places as an editor finds them', () => {
    const folder = project({
      ...Object.fromEntries(Object.entries(BAD).map(([name, text]) => [`agent/${name}`, text])),
    });
    const { code, out } = allium(folder, ['validate', 'agent', '--json']);

    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      dir: 'agent',
      files: 1,
      errors: 2,
      warnings: 1,
      problems: [{}, { file: 'agent/.allium/tools/get_double.md', line: 3, column: 13 }, {}],
    });
  });

  it('prints the schema that calls of a tool are held to', () => {
    const { out } = allium(project({ '.allium/tools/get_double.md': TOOL }), [
      'validate',
      '--json',
    ]);
    const { tools } = JSON.parse(out) as { readonly tools: readonly unknown[] };

    expect(tools).toEqual([
      {
        name: 'get_double',
        file: '.allium/tools/get_double.md',
        input_schema: expect.objectContaining({ type: 'object' }) as object,
      },
    ]);
    expect(tools[0]).toHaveProperty('input_schema.properties.n.type', 'number');
  });

  it('takes old files where told', () => {
    const folder = project({
      '.harness/tools/get_double.md': TOOL.replace('---\n', '---yaml\nverify: x\n'),
    });

    expect(allium(folder, ['validate']).code).toBe(1);
    expect(allium(folder, ['validate', '--lenient']).code).toBe(0);
  });

  it.each([
    ['a folder that is not there', ['validate', 'gone'], /gone: there is no such folder/],
    ['a folder without artifacts', ['validate'], /there are no artifacts here/],
    ['an option nobody knows', ['validate', '--lenent'], /unknown option/],
  ])('is a mistake for %s', (_what, args, message) => {
    const { code, out, err } = allium(projectWith(), args);

    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  it('checks again when a file changes, and ends with Ctrl-C', async () => {
    const folder = project(BAD);
    const running = startAllium(folder, ['validate', '--watch', '--json']);
    await running.shows('watching 3 folders');
    put(folder, '.allium/tools/get_double.md', TOOL);
    put(folder, '.allium/hooks/guard.md', 'x');
    await running.shows('watching 4 folders');
    running.interrupt();
    const { code, out } = await running.ended;
    const answers = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { errors: number });

    expect(code).toBe(130);
    expect(answers[0]?.errors).toBe(2);
    expect(answers.at(-1)?.errors).toBe(1);
  });
});

describe('a project without allium.yaml', () => {
  it('is called and explained, without anybody being asked', () => {
    const folder = project(GOOD);

    expect(allium(folder, ['call', 'get_double', '--args', '{"n":21}'])).toEqual({
      code: 0,
      out: '42\n',
      err: '',
    });
    expect(allium(folder, ['call', 'get_double', '--args', '{"m":21}']).code).toBe(1);
    const drawn = allium(folder, ['explain']).out;
    expect(drawn).toContain('get_double');
    expect(drawn.split('\n')[0]).toBe('. (no allium.yaml: its tool files and hooks)');
  });

  it('is refused with the lines of its files where they are wrong', () => {
    const { code, out, err } = allium(project(BAD), ['call', 'get_double']);

    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(
      '.allium/tools/get_double.md:3:13: tool "get_double" timeout_ms must be >= 0\n',
    );
  });
});
