import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unbuilt } from '../conformance/built-first.fixture.ts';
import { printedBlocks } from '../docs/check-docs.ts';

const root = resolve(import.meta.dirname, '..');
const TIMEOUT_MS = 30_000;

const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
    join(folder, path),
  );
const allPrograms = filesIn('examples')
  .filter(
    (path) => /^examples\/[^/]+\/[^/]+\.ts$/.test(path) && !/\.(test|fixture)\.ts$/.test(path),
  )
  .map((path) => path.slice(0, -'.ts'.length));

/** Programs that start another one, which not every machine has. */
const NEEDS: Readonly<Record<string, string>> = { 'examples/host-bridge/host-bridge': 'python3' };
const isMissing = (command: string | undefined) =>
  command !== undefined && spawnSync(command, ['--version']).status !== 0;
const skipped = allPrograms.filter((program) => isMissing(NEEDS[program]));
const programs = allPrograms.filter((program) => !skipped.includes(program));
for (const program of skipped)
  console.warn(`NOT RUN: ${program} needs ${NEEDS[program] ?? ''}, which is not installed`);

interface Run {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

function run(file: string, args: readonly string[] = []): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  return { code: status, output: stdout, errors: stderr };
}

const runs = new Map<string, Run>();

/** What a built program did; each runs once. */
function runOf(program: string): Run {
  const known = runs.get(program) ?? run(join('dist/programs', `${program}.js`));
  runs.set(program, known);
  return known;
}

describe('the examples', () => {
  it('are found', () => {
    expect(programs).toContain('examples/governance-stack/governance-stack');
    expect(programs.length).toBeGreaterThan(5);
  });

  it.each(programs)('%s checks itself, says something, and ends well', (program) => {
    const { code, output, errors } = runOf(program);

    expect(code, errors).toBe(0);
    expect(output.trim()).not.toBe('');
  });

  it.skip.each(skipped)('%s is not run: what it starts is not installed', () => {});

  it('print what the docs say they print', () => {
    const pages = ['README.md', ...filesIn('docs').filter((path) => path.endsWith('.md'))].filter(
      (path) => existsSync(join(root, path)),
    );
    const blocks = pages.flatMap((page) =>
      printedBlocks(readFileSync(join(root, page), 'utf8')).map((block) => ({ ...block, page })),
    );

    expect(blocks.length).toBeGreaterThan(3);
    expect(
      blocks.filter(
        ({ program, text }) => !skipped.includes(program) && !runOf(program).output.includes(text),
      ),
    ).toEqual([]);
  });
});

describe('the check of examples', () => {
  it('notices a program that fails, and one that says nothing', () => {
    expect(run('-e', ['process.exit(3)'])).toMatchObject({ code: 3, output: '' });
    expect(run('-e', ['console.log("x"); throw new Error("y")'])).toMatchObject({
      code: 1,
      output: 'x\n',
    });
  });

  it('notices sources that are newer than what was built, and those that were never built', () => {
    const times = new Map([
      ['a.ts', 1],
      ['dist/programs/a.js', 2],
      ['b.ts', 3],
      ['dist/programs/b.js', 2],
      ['c.ts', 1],
    ]);

    expect(unbuilt(['a.ts', 'b.ts', 'c.ts'], (path) => times.get(path) ?? null)).toEqual([
      'b.ts',
      'c.ts',
    ]);
  });
});
