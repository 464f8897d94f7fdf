/**
 * The packed package in empty folders: what it weighs, what it stands beside, and where it runs.
 */

import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run-program.ts';

/** Packages that people have: of agents, and of OpenTelemetry in the versions they come with. */
export const BESIDE: readonly string[] = [
  ...[
    '@mastra/core@0.24',
    '@mastra/core',
    '@opentelemetry/sdk-node@0.57',
    '@opentelemetry/sdk-node',
  ],
  ...[
    '@opentelemetry/sdk-trace-node@1.30',
    '@opentelemetry/sdk-trace-node@2.5',
    '@opentelemetry/exporter-trace-otlp-http@0.203',
  ],
  ...[
    '@traceloop/node-server-sdk',
    '@arizeai/phoenix-otel',
    'genkit',
    '@azure/monitor-opentelemetry',
    '@opentelemetry/api@1.8.0',
  ],
  ...[
    '@sentry/node',
    '@vercel/otel',
    'langfuse',
    '@langfuse/otel',
    'dd-trace',
    '@google/adk',
    'fastmcp',
    'n8n-workflow',
    '@strands-agents/sdk',
  ],
];

/** A runtime that comes from npm. */
export interface Runtime {
  readonly name: string;
  readonly install: string;
  /** Its program, and what it is told before the file. */
  readonly command: readonly [string, ...string[]];
}

const node = (major: number): Runtime => ({
  name: `Node.js ${major}`,
  install: `node@${major}`,
  command: ['node_modules/node/bin/node'],
});

export const RUNTIMES: readonly Runtime[] = [
  ...[20, 22, 24, 26].map(node),
  { name: 'Bun 1.4', install: 'bun@1.4', command: ['node_modules/.bin/bun'] },
  { name: 'Deno 2.9', install: 'deno@2.9', command: ['node_modules/.bin/deno', 'run', '-A'] },
];

/** An empty project with these packages in it. */
async function projectWith(
  parent: string,
  packages: readonly string[],
  flags: readonly string[] = [],
  env?: NodeJS.ProcessEnv,
) {
  const folder = mkdtempSync(join(parent, 'project-'));
  writeFileSync(
    join(folder, 'package.json'),
    '{ "name": "project", "version": "1.0.0", "private": true, "type": "module" }',
  );
  return {
    folder,
    ...(await run(
      'npm',
      ['install', '--no-audit', '--no-fund', ...flags, ...packages],
      folder,
      env,
    )),
  };
}

async function installed(parent: string, packages: readonly string[]): Promise<string> {
  const { folder, code, errors } = await projectWith(parent, packages);
  if (code !== 0) throw new Error(`npm install ${packages.join(' ')}: ${errors}`);
  return folder;
}

/**
 * How many packages come with it, itself included, and what they take on a disk with blocks of 4
 * KiB, as `du` counts it.
 */
export async function weightOf(
  tarball: string,
  parent: string,
): Promise<{ readonly packages: number; readonly megabytes: number }> {
  const folder = await installed(parent, [tarball]);
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: object;
  };
  const entries = await readdir(join(folder, 'node_modules'), {
    recursive: true,
    withFileTypes: true,
  });
  const blocks = entries.map((entry) =>
    entry.isFile() ? Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 4096) : 1,
  );
  return {
    packages: Object.keys(packages).length - 1,
    megabytes: (blocks.reduce((sum, count) => sum + count, 0) * 4096) / 1024 ** 2,
  };
}

/**
 * What TypeScript has against the declarations of every entry, or nothing. OpenTelemetry is there
 * for the entry that is about it.
 */
export async function typesOf(
  tarball: string,
  parent: string,
  packageJson: string,
): Promise<string> {
  const { exports: doors, devDependencies: versions } = JSON.parse(packageJson) as {
    readonly exports: Readonly<Record<string, string | object>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const needed = ['typescript', '@types/node', '@opentelemetry/sdk-trace-node'].map(
    (name) => `${name}@${versions[name] ?? ''}`,
  );
  const folder = await installed(parent, [tarball, ...needed]);
  const entries = Object.keys(doors).filter(
    (door) => typeof doors[door] === 'object' && !door.includes('*'),
  );
  const imports = entries.map(
    (door, index) => `import * as door${index} from 'allium${door.slice(1)}';\nvoid door${index};`,
  );
  writeFileSync(join(folder, 'doors.ts'), `${imports.join('\n')}\n`);
  const flags = [
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    'doors.ts',
  ];
  const { code, output } = await run(
    process.execPath,
    [join(folder, 'node_modules/typescript/bin/tsc'), ...flags],
    folder,
  );
  return code === 0 ? '' : output;
}

/** The environment in which npm runs on Node.js 24: it gets other versions of many packages. */
export async function envOfNode24(parent: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(await installed(parent, ['node@24']), 'node_modules/node/bin');
  return { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` };
}

/**
 * Why npm does not install it beside that package, or `null`. A package that does not install alone
 * says nothing about this one.
 */
export async function installsBeside(
  tarball: string,
  name: string,
  parent: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const flags = ['--package-lock-only'];
  const beside = await projectWith(parent, [tarball, name], flags, env);
  if (beside.code === 0) return null;
  const alone = await projectWith(parent, [name], flags, env);
  return alone.code === 0 ? beside.errors.trim() : null;
}

/** How many scenarios of the suite pass on it, as the README says it. */
export async function scenariosOn(
  tarball: string,
  { install, command }: Runtime,
  parent: string,
): Promise<string> {
  const folder = await installed(parent, [tarball, install]);
  const [program, ...before] = command;
  const main = join(folder, 'node_modules/allium/dist/src/cli/main.js');
  const { output } = await run(
    join(folder, program),
    [...before, main, 'conformance', '--json'],
    folder,
  );
  const report = JSON.parse(output) as { readonly passed: number; readonly failed: number };
  const all = report.passed + report.failed;
  return report.failed === 0
    ? `all ${all} scenarios of the conformance suite pass`
    : `${report.passed} of ${all} pass`;
}
