import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as allium from '../src/index.ts';

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

/** The names that a door gives, types included. `export *` would give names that nobody wrote. */
function namesOf(door: string): readonly string[] {
  const text = readFileSync(join(root, door), 'utf8');
  if (/^export (?!(?:type )?\{)/m.test(text)) throw new Error(`${door} does more than list names`);
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').flatMap((name) => name.trim().split(/\s/).at(-1) || []),
  );
}

/** The packages that importing a module loads. */
function packagesOf(door: string): readonly string[] {
  const names = [...reachedFrom(door)].filter(
    (file) => !file.endsWith('.ts') && !file.startsWith('node:'),
  );
  return [...new Set(names.map((name) => name.split('/')[0] ?? name))].sort();
}

/** Every module and package that importing a module loads. */
function reachedFrom(door: string): ReadonlySet<string> {
  const reached = new Set([door]);
  // What is added while a set is walked through is walked through as well.
  for (const file of reached)
    if (file.endsWith('.ts'))
      for (const { to, typeOnly } of importsOf(file)) if (!typeOnly) reached.add(to);
  return reached;
}

/**
 * Lower may not know higher. Executors stand below the dispatcher, which brings two of them along
 * as defaults. `starlark` is a library of its own, which `core` does not know of.
 */
const RANK: Readonly<Record<string, number>> = {
  core: 0,
  starlark: 0.5,
  system: 1,
  tools: 2,
  policy: 3,
  permissions: 3,
  approvals: 3,
  pins: 3,
  jail: 3,
  stores: 3,
  receipts: 3,
  redaction: 3,
  telemetry: 3,
  consent: 3,
  handoff: 3,
  executors: 3.5,
  dispatch: 4,
  mcp: 5,
  artifacts: 5,
  hooks: 5,
  layer: 5.5,
  index: 5.5,
  idempotency: 5.7,
  limits: 5.7,
  outputs: 5.7,
  recording: 5.7,
  middleware: 6,
  config: 7,
  conformance: 7,
  adapters: 8,
  console: 8,
  cli: 9,
};

function areaOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : top;
}

/** Groups of modules that all reach each other. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const reached = new Map<string, ReadonlySet<string>>();
  for (const start of graph.keys()) {
    const seen = new Set<string>();
    const open = [...(graph.get(start) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(graph.get(next) ?? []));
    }
    reached.set(start, seen);
  }
  const inCycles = [...graph.keys()].filter((file) => reached.get(file)?.has(file)).sort();
  const groups = inCycles.map((file) =>
    inCycles.filter((other) => reached.get(file)?.has(other) && reached.get(other)?.has(file)),
  );
  return groups.filter((group, index) => group[0] === inCycles[index]);
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

  it('keeps the script engine to itself', () => {
    const wrong = sources
      .filter((file) => file.startsWith('src/starlark/'))
      .flatMap((file) => importsOf(file).map(({ to }) => to))
      .filter((to) => to.endsWith('.ts') && !/^src\/(?:starlark|core\/json|system)\//.test(to));

    expect(wrong).toEqual([]);
  });

  it('has no cycles, of types neither', () => {
    const graph = new Map(
      sources.map((file) => [
        file,
        importsOf(file).flatMap(({ to }) => (isSource(to) ? [to] : [])),
      ]),
    );

    expect(cyclesIn(graph)).toEqual([]);
  });

  it('notices a cycle', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['b']],
      ['d', []],
    ]);

    expect(cyclesIn(graph)).toEqual([['b', 'c']]);
  });

  it('gives bundled layers no privileges: they import what the package exports, its dependencies, and their own folder', () => {
    const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, { readonly default?: string }>>;
    };
    const entries = Object.values(doors).flatMap(({ default: built }) =>
      built?.startsWith('./dist/src/') === true
        ? [built.replace('./dist/', '').replace(/\.js$/, '.ts')]
        : [],
    );
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

  it('has a main door of 110 names at most, types included', () => {
    const names = namesOf('src/index.ts');

    expect(names).toEqual(expect.arrayContaining([...Object.keys(allium), 'ToolCall', 'Tool']));
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeLessThanOrEqual(110);
  });

  it.each([
    ['src/index.ts', ['ajv', 'ajv-formats', 'lru-cache', 'ts-pattern']],
    ['src/layer.ts', ['lru-cache', 'ts-pattern']],
    ['src/stores/index.ts', []],
    ['middleware/index.ts', ['@opentelemetry', 'ajv', 'ajv-formats', 'lru-cache', 'ts-pattern']],
  ])('loads nothing heavy with %s', (door, packages) => {
    expect(packagesOf(door)).toEqual(packages);
  });

  it('loads no script engine with the layers: only the first script needs one', () => {
    const reached = [...reachedFrom('middleware/index.ts')];

    expect(reached).toContain('middleware/hooks/hooks.ts');
    expect(
      reached.filter((file) => file.startsWith('src/artifacts/') || file === 'node:worker_threads'),
    ).toEqual([]);
  });

  it('has small files', () => {
    const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length;
    const layers = sources.filter((file) => /^middleware\/.+\//.test(file));
    const sizes = layers.map(lines).sort((a, b) => a - b);
    const folders = new Map<string, number>();
    for (const file of layers)
      folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + lines(file));

    expect(
      sources.filter((file) => lines(file) > 400).map((file) => `${file}: ${lines(file)}`),
    ).toEqual([]);
    expect(sizes.at(-1)).toBeLessThanOrEqual(260);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(150);
    expect([...folders].flatMap(([folder, size]) => (size > 400 ? [folder] : []))).toEqual([]);
  });
});
