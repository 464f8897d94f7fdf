import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { describe, expect, it, onTestFinished } from 'vitest';
import { built } from '../src/stores/built.fixture.ts';

const root = resolve(import.meta.dirname, '..');
const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly default?: string }>>;
};
const layers = readdirSync(join(root, 'middleware'), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);
/** The built file of every entry, by its name. */
const files = Object.fromEntries(
  Object.entries(doors).flatMap(([door, { default: file }]) => {
    if (file === undefined) return [];
    const path = (name: string) =>
      [door.replace('*', name), join(root, file.replaceAll('*', name))] as const;
    return door.includes('*') ? layers.map(({ name }) => path(name)) : [path('')];
  }),
);

function tempFolder(): string {
  // Inside the package, so that what is built there finds the same packages.
  const folder = mkdtempSync(join(root, 'dist/doors-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function run(args: readonly string[]): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

const differences = (given: Readonly<Record<string, string>>) =>
  run([built('conformance/doors.fixture.ts'), JSON.stringify(given)]);

describe('the doors of the built package', () => {
  it('have one of each thing, whichever of them it is taken from', () => {
    expect(differences(files)).toMatchObject({ doors: Object.keys(files).length, problems: [] });
    expect(Object.keys(files).length).toBeGreaterThan(30);
  });

  it('take calls, layers, tools and results that were made through one another', () => {
    const program = `
      import { composeToolCallers, defineLayer, ok, withResult } from 'allium';
      import { summary, timeout as listed } from 'allium/middleware';
      import { timeout } from 'allium/middleware/timeout';
      import { auditLog } from 'allium/middleware/audit-log';
      import { makeCall } from 'allium/conformance';
      const receipts = [];
      const mark = defineLayer({ name: 'mark', caller: async (call, next) => withResult(await next(call), { metadata: { marked: true } }) });
      const stack = composeToolCallers([auditLog((receipt) => void receipts.push(receipt.status)), summary(() => 'said'), mark, timeout({ maxMs: 1000 })]);
      const { status, metadata, audit } = await stack(makeCall(), async (call) => ok(call, 'x'));
      console.log(JSON.stringify({ status, metadata, summary: audit.summary, receipts, same: listed === timeout }));`;

    expect(run(['--input-type=module', '-e', program])).toEqual({
      status: 'ok',
      metadata: { marked: true },
      summary: 'said',
      receipts: ['ok'],
      same: true,
    });
  });

  it('would not, were each built by itself, and that is noticed', async () => {
    const copy = join(tempFolder(), 'copy.js');
    const bundle = await rolldown({
      input: join(root, 'src/index.ts'),
      platform: 'node',
      external: /^@opentelemetry|^re2js|^pino/,
    });
    await bundle.write({ file: copy, format: 'esm', codeSplitting: false });

    expect(differences({ ...files, './copy': copy })).toMatchObject({
      problems: expect.arrayContaining(['withResult of ./copy is not that of .']) as unknown,
    });
  });
});

describe('an error that nobody catches', () => {
  it('says in a pipe what is wrong, and prints no page of our source', () => {
    const program = `import { timeout } from 'allium/middleware'; timeout({ maxMS: 5 });`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: root,
      encoding: 'utf8',
    });

    expect(stderr).toContain('did you mean "maxMs"?');
    expect(stderr.length).toBeLessThan(4_000);
  });

  it('can print no long line: no statement that can throw stands on one', () => {
    const command = join(root, 'dist/src/cli/main.js');
    const loaded = loadedFrom([...Object.values(files), command]);
    const long = [...loaded].filter((file) => longestLine(file) > 2_000);

    expect(loaded.size).toBeGreaterThan(100);
    expect(long).toEqual([]);
  });
});

/** The built files that these import, at once or later. The folder may hold older chunks beside. */
function loadedFrom(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const follow = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
      /["'`](\.\.?\/[\w./-]+\.js)["'`]/g,
    )) {
      const next = resolve(file, '..', path);
      if (existsSync(next)) follow(next);
    }
  };
  entries.forEach(follow);
  return found;
}

/** The list of exports is one line, and nothing is thrown there. */
const longestLine = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^(?:import|export) \{/.test(line))
    .reduce((longest, line) => Math.max(longest, line.length), 0);
