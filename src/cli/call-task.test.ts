import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allium, projectWith } from './run-command.fixture.ts';

const tool = (...lines: readonly string[]): string =>
  [
    '---',
    'async: true',
    'script: |',
    '  def run(args):',
    ...lines.map((line) => `      ${line}`),
    '---',
    'Works.',
    '',
  ].join('\n');

function project(text: string): string {
  const folder = projectWith();
  mkdirSync(join(folder, '.allium/tools'), { recursive: true });
  writeFileSync(join(folder, '.allium/tools/do_work.md'), text);
  return folder;
}

describe('allium call of a tool that runs in the background', () => {
  it('waits for it and prints what it came to', () => {
    const { code, out, err } = allium(project(tool('return {"total": 3}')), [
      'call',
      'do_work',
      '--args',
      '{}',
    ]);

    expect([code, out]).toEqual([0, '{"total":3}\n']);
    expect(err).toMatch(/^… task_[\w-]+ runs in the background; waiting for it\n$/);
  });

  it('fails with it, and has both in JSON', () => {
    const { code, out } = allium(project(tool('return {"error": "no work"}')), [
      'call',
      'do_work',
      '--args',
      '{}',
      '--json',
    ]);

    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      result: { status: 'running' },
      task: { status: 'failed', content: 'no work' },
    });
  });
});
