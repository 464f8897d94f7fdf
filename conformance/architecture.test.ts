import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const isSource = (file: string) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file);
const sources = ['src', 'middleware', 'conformance']
  .flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(top, file),
    ),
  )
  .filter(isSource);

interface Import {
  readonly to: string;
  readonly typeOnly: boolean;
}

/** The import and re-export lines of a module: relative ones as paths from the root. */
function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?from\s+)?'([^']+)';/gm)].map(
    ([, type, to = '']) => ({
      to: to.startsWith('.') ? relative(root, resolve(root, dirname(file), to)) : to,
      typeOnly: type !== undefined,
    }),
  );
}

/** Lower may not know higher. */
const RANK: Readonly<Record<string, number>> = {
  core: 0,
  system: 0.5,
  tools: 1,
  policy: 2,
  stores: 2,
  receipts: 2,
  redaction: 2,
  executors: 3,
  dispatch: 4,
  index: 5,
  artifacts: 5,
  otel: 5,
  middleware: 6,
  config: 7,
  conformance: 7,
  proxy: 7,
  viewer: 8,
  adapters: 8,
  mcp: 8,
  cli: 9,
};

function areaOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : top;
}

describe('the architecture', () => {
  it('reads every module: a pattern that matches nothing would prove nothing', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.filter((file) => importsOf(file).length > 0).length).toBeGreaterThan(
      sources.length * 0.8,
    );
  });

  it('has imports that go one way', () => {
    const wrong = sources.flatMap((file) =>
      importsOf(file)
        .filter(
          ({ to }) =>
            to.endsWith('.ts') &&
            (RANK[areaOf(to)] ?? Number.NaN) > (RANK[areaOf(file)] ?? Number.NaN),
        )
        .map(({ to }) => `${file} → ${to}`),
    );

    expect(wrong).toEqual([]);
    expect(sources.filter((file) => RANK[areaOf(file)] === undefined)).toEqual([]);
  });

  it('has no cycles of values', () => {
    const graph = new Map(
      sources.map((file) => [
        file,
        importsOf(file)
          .filter(({ to, typeOnly }) => to.endsWith('.ts') && !typeOnly)
          .map(({ to }) => to),
      ]),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file))
        return void cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file)) return;
      for (const to of graph.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of sources) visit(file, []);

    expect(cycles).toEqual([]);
  });

  it('gives bundled layers no privileges: they import what the package exports, its dependencies, and their own folder', () => {
    const entries = [
      'src/index.ts',
      'src/receipts/index.ts',
      'src/artifacts/index.ts',
      'src/redaction/index.ts',
    ];
    const isPackage = (to: string) => !to.endsWith('.ts');
    const wrong = sources
      .filter((file) => file.startsWith('middleware/') && file !== 'middleware/index.ts')
      .flatMap((file) =>
        importsOf(file)
          .filter(
            ({ to }) =>
              !entries.includes(to) && !isPackage(to) && !to.startsWith(`${dirname(file)}/`),
          )
          .map(({ to }) => `${file} → ${to}`),
      );

    expect(wrong).toEqual([]);
  });

  it('keeps the conformance kit free of a test runner', () => {
    expect(
      sources
        .filter((file) => file.startsWith('conformance/'))
        .flatMap((file) => importsOf(file).filter(({ to }) => to.startsWith('vitest'))),
    ).toEqual([]);
  });

  it('loads nothing heavy with the main entry', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      if (file.endsWith('.ts'))
        for (const { to, typeOnly } of importsOf(file)) if (!typeOnly) visit(to);
    };
    visit('src/index.ts');
    const packages = [...reached]
      .filter((file) => !file.endsWith('.ts') && !file.startsWith('node:'))
      .map((name) => name.split('/')[0]);

    expect([...new Set(packages)].sort()).toEqual([
      'ajv',
      'ajv-formats',
      'lru-cache',
      'ts-pattern',
    ]);
  });

  it('loads no script engine with the layers: only the first script needs one', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      if (file.endsWith('.ts'))
        for (const { to, typeOnly } of importsOf(file)) if (!typeOnly) visit(to);
    };
    visit('middleware/index.ts');

    expect(reached.has('middleware/hooks/hooks.ts')).toBe(true);
    expect(
      [...reached].filter(
        (file) =>
          file.startsWith('src/artifacts/') || file === 'yaml' || file === 'node:worker_threads',
      ),
    ).toEqual([]);
  });

  it('has small files', () => {
    const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length;
    const layers = sources
      .filter((file) => /^middleware\/.+\//.test(file))
      .map(lines)
      .sort((a, b) => a - b);

    expect(
      sources.filter((file) => lines(file) > 250).map((file) => `${file}: ${lines(file)}`),
    ).toEqual([]);
    expect(layers.at(-1)).toBeLessThanOrEqual(200);
    expect(layers[Math.floor(layers.length / 2)]).toBeLessThanOrEqual(90);
    expect(lines('src/core/compose.ts')).toBeLessThanOrEqual(130);
  });
});
