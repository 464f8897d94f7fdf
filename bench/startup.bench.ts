/**
 * What it costs to begin: importing the package beside importing its own packages as one file, the
 * command beside a bare Node, and the first answer of a server behind the proxy. Every sample is a
 * process of its own, timed by the wall clock from its start to its end or its answer, and the
 * cases take turns.
 */

import { strict as assert } from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { Measured } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { ratioGoal, renderRows, type Report, rowsOf } from './report.ts';
import { SERVER_ARGS } from './proxy-topologies.ts';

const IMPORT = 'import';
const COMMAND = 'command';
const PROXY = 'first answer';
const PACKAGES = 'its packages as one file';
const NODE = 'node -e 0';
const DIRECT = 'direct, and node -e 0';
const BASELINES: Readonly<Record<string, string>> = {
  [IMPORT]: PACKAGES,
  [COMMAND]: NODE,
  [PROXY]: DIRECT,
};

/** What `allium` itself imports. */
const OWN_PACKAGES = `import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { LRUCache } from 'lru-cache';
import * as api from '@opentelemetry/api';
import { match } from 'ts-pattern';
globalThis.kept = [Ajv2020, fullFormats, LRUCache, api, match];
`;
const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  },
})}\n`;

interface Side {
  readonly group: string;
  readonly name: string;
  /** Answers with nanoseconds. */
  readonly run: () => Promise<number> | number;
}

export async function startupBench(options: BenchOptions): Promise<Report> {
  // Inside the package, so that what is written there finds the same packages.
  const parent = fileURLToPath(new URL('./startup', import.meta.url));
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'run-'));
  try {
    const sides = (await sidesIn(folder)).filter((side) => options.matches(side));
    const measured = await measureSides(sides, options);
    const groups = Object.keys(BASELINES).map((group) =>
      rowsOf(
        measured.filter((one) => one.group === group),
        BASELINES[group] ?? '',
      ),
    );
    return {
      bench: 'startup',
      text: groups
        .map((rows) => renderRows(rows, BASELINES[rows[0]?.group ?? ''] ?? ''))
        .join('\n\n'),
      data: groups.flat(),
      goals: [
        ratioGoal(measured, IMPORT, 'allium', PACKAGES, 1.5),
        ratioGoal(measured, COMMAND, 'allium --version', NODE, 2),
        ratioGoal(measured, PROXY, 'allium proxy', DIRECT, 1.5),
      ],
    };
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

async function sidesIn(folder: string): Promise<readonly Side[]> {
  const packages = join(folder, 'packages.js');
  writeFileSync(join(folder, 'source.js'), OWN_PACKAGES);
  const bundle = await rolldown({ input: join(folder, 'source.js'), platform: 'node' });
  await bundle.write({ file: packages, format: 'esm' });
  const importOf = (door: string): readonly string[] => {
    const file = join(folder, `import-${door.replaceAll('/', '-')}.js`);
    writeFileSync(file, `import ${JSON.stringify(door)};\n`);
    return [file];
  };
  const cli = fileURLToPath(
    new URL('dist/src/cli/main.js', import.meta.resolve('allium/package.json')),
  );
  const ending = (group: string, name: string, args: readonly string[]): Side => ({
    group,
    name,
    run: () => endOf(args),
  });
  return [
    ending(IMPORT, PACKAGES, [packages]),
    ...['allium', 'allium/middleware', 'allium/middleware/timeout', 'allium/mcp'].map((door) =>
      ending(IMPORT, door, importOf(door)),
    ),
    ending(COMMAND, NODE, ['-e', '0']),
    ending(COMMAND, 'allium --version', [cli, '--version']),
    {
      group: PROXY,
      name: DIRECT,
      run: async () => endOf(['-e', '0']) + (await firstAnswer(SERVER_ARGS, folder)),
    },
    {
      group: PROXY,
      name: 'allium proxy',
      run: () => firstAnswer([cli, 'proxy', '--', process.execPath, ...SERVER_ARGS], folder),
    },
  ];
}

async function measureSides(
  sides: readonly Side[],
  { rounds, onProgress }: BenchOptions,
): Promise<readonly Measured[]> {
  const samples = sides.map((): number[] => []);
  // The first round reads files that the others find in memory.
  for (let round = -1; round < rounds; round += 1) {
    onProgress(`round ${round + 1} of ${rounds}`);
    for (const [index, { run }] of sides.entries()) {
      const took = await run();
      if (round >= 0) samples[index]?.push(took);
    }
  }
  return sides.map(({ group, name }, index) => ({ group, name, samples: samples[index] ?? [] }));
}

const since = (from: bigint): number => Number(process.hrtime.bigint() - from);

/** Until the process has ended. */
function endOf(args: readonly string[]): number {
  const from = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return since(from);
}

/** Until the server has answered its first request. */
async function firstAnswer(args: readonly string[], folder: string): Promise<number> {
  const from = process.hrtime.bigint();
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.stdin.write(INITIALIZE);
  const answered = new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  const answer = await Promise.race([answered, closed.then(() => 'none')]);
  const took = since(from);
  child.stdin.end();
  await closed;
  assert.match(answer, /"serverInfo"/);
  return took;
}
