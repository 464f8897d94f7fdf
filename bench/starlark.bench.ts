/**
 * Our Starlark beside the native one, and a pooled script call beside one that starts its own
 * worker. The kernels are the same text for both interpreters, both compile it once, take turns in
 * every round and are charged with the processor time of their own process, garbage collection
 * included. Nothing is said about memory.
 */

import { strict as assert } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { distinct, loopOver, measure, type Measured } from './harness.ts';
import { loadInternal } from './load-internal.ts';
import type { BenchOptions } from './options.ts';
import { type Goal, renderRows, type Report, rowsOf, throughputGoal } from './report.ts';
import { type Kernel, KERNELS } from './starlark-kernels.ts';
import { pairedRatio, quantile } from './statistics.ts';

const OURS = 'allium';
const NATIVE = 'starlark-go';
const POOL_GROUP = 'one script call';
const POOLED = 'pooled';
const COLD = 'a worker of its own';
const MAX_RATIO = 1.3;
const MIN_POOL_GAIN = 20;
const WARM_UP_MS = 1500;
const SAMPLE_MS = 25;

export async function starlarkBench(options: BenchOptions): Promise<Report> {
  const kernels = KERNELS.filter(
    ({ name }) =>
      options.matches({ group: name, name: OURS }) ||
      options.matches({ group: name, name: NATIVE }),
  );
  const measured = [
    ...(kernels.length === 0 ? [] : await measureKernels(kernels, options)),
    ...(await measurePool(options)),
  ];
  const rows = [
    ...rowsOf(measured, NATIVE).filter(({ group }) => group !== POOL_GROUP),
    ...rowsOf(measured.filter(isPool), POOLED),
  ];
  const text = [
    renderRows(
      rows.filter((row) => row.group !== POOL_GROUP),
      NATIVE,
    ),
    ...(measured.some(isPool) ? [renderRows(rows.filter(isPool), POOLED)] : []),
  ].join('\n\n');
  return {
    bench: 'starlark',
    text,
    data: rows,
    goals: [
      kernelGoal(measured),
      throughputGoal(measured, POOL_GROUP, POOLED, COLD, MIN_POOL_GAIN),
    ],
  };
}

const isPool = ({ group }: { readonly group: string }): boolean => group === POOL_GROUP;

/** The middle one of the kernels, by the median ratio of each. It takes all of them. */
function kernelGoal(measured: readonly Measured[]): Goal {
  const ratios = KERNELS.flatMap(({ name }) => {
    const find = (wanted: string) =>
      measured.find((one) => one.group === name && one.name === wanted)?.samples;
    const [ours, native] = [find(OURS), find(NATIVE)];
    return ours === undefined || native === undefined ? [] : [pairedRatio(ours, native).median];
  });
  const value = ratios.length === KERNELS.length ? quantile(ratios, 0.5) : null;
  return {
    text: `${OURS} / ${NATIVE}, median over ${KERNELS.length} kernels`,
    value,
    relation: '<=',
    limit: MAX_RATIO,
  };
}

/** Runs a kernel so many times and says how much processor time that took. */
type Timed = (times: number) => Promise<number>;

interface Contest {
  readonly kernel: Kernel;
  readonly ours: Timed;
  readonly native: Timed;
}

async function measureKernels(
  kernels: readonly Kernel[],
  { rounds, onProgress }: BenchOptions,
): Promise<readonly Measured[]> {
  const native = await startNative();
  try {
    const contests: Contest[] = [];
    for (const kernel of kernels) contests.push(await contestOf(kernel, native));
    return await takeTurns(contests, rounds, onProgress);
  } finally {
    await native.close();
  }
}

async function takeTurns(
  contests: readonly Contest[],
  rounds: number,
  onProgress: (line: string) => void,
): Promise<readonly Measured[]> {
  onProgress(`starlark: warming up ${contests.length} kernels on both sides`);
  const entries = [];
  for (const contest of contests) {
    const sides = [];
    for (const [name, run] of [
      [OURS, contest.ours],
      [NATIVE, contest.native],
    ] as const) {
      sides.push({
        group: contest.kernel.name,
        name,
        run,
        times: await warmUp(run),
        samples: new Array<number>(),
      });
    }
    entries.push(sides);
  }
  onProgress(`starlark: measuring ${rounds} rounds`);
  for (let round = 0; round < rounds; round++) {
    for (const sides of entries) {
      for (const side of round % 2 === 0 ? sides : [...sides].reverse())
        side.samples.push((await side.run(side.times)) / side.times);
    }
  }
  return entries.flat().map(({ group, name, samples }) => ({ group, name, samples }));
}

async function warmUp(run: Timed): Promise<number> {
  let times = 1;
  let elapsed = 0;
  for (let total = 0; total < WARM_UP_MS * 1e6; total += elapsed) {
    elapsed = Math.max(1, await run(times));
    if (elapsed < (SAMPLE_MS * 1e6) / 2) times *= 2;
  }
  return Math.max(1, Math.round((times * SAMPLE_MS * 1e6) / elapsed));
}

async function contestOf(kernel: Kernel, native: Native): Promise<Contest> {
  const here = await prepare(kernel);
  const result = here.runOnce();
  assert.deepEqual(
    result,
    await native.proof(kernel),
    `${kernel.name}: both must come to the same figures`,
  );
  return {
    kernel,
    ours: async (times) => {
      const before = process.cpuUsage();
      here.run(times);
      const { user, system } = process.cpuUsage(before);
      return (user + system) * 1000;
    },
    native: (times) => native.time(kernel, times),
  };
}

interface Here {
  readonly run: (times: number) => void;
  /** The kernel's figures, as the language writes them. */
  readonly runOnce: () => string;
}

async function prepare({ name, source }: Kernel): Promise<Here> {
  const load = (file: string, wanted: string): Promise<unknown> =>
    loadInternal('allium', `../programs/src/starlark/${file}.js`, wanted);
  // The package's own functions, by the names its sources export them under; the first run proves
  // them.
  const compileStarlark = (await load('index', 'compileStarlark')) as (
    source: string,
    options: object,
  ) => unknown;
  const newThread = (await load('index', 'newThread')) as () => unknown;
  const runProgram = (await load('index', 'runProgram')) as (
    program: unknown,
    options: object,
  ) => ReadonlyMap<string, unknown>;
  const callValue = (await load('index', 'callValue')) as (
    thread: unknown,
    callee: unknown,
    args: readonly unknown[],
    kwargs: null,
  ) => unknown;
  const repr = (await load('repr', 'repr')) as (thread: unknown, value: unknown) => string;
  const program = compileStarlark(source, { file: `${name}.star`, predeclared: [] });
  const thread = newThread();
  const callee = runProgram(program, { predeclared: new Map(), thread }).get('run');
  // One loop for all kernels: every tool of a process shares the interpreter's code too.
  const run = (times: number): void => {
    for (let i = 0; i < times; i++) callValue(thread, callee, [], null);
  };
  return {
    run,
    runOnce: () =>
      Buffer.from(repr(thread, callValue(thread, callee, [], null)), 'latin1').toString('utf8'),
  };
}

interface Native {
  readonly proof: (kernel: Kernel) => Promise<string>;
  readonly time: (kernel: Kernel, times: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

interface NativeAnswer {
  readonly ok: boolean;
  readonly globals?: Readonly<Record<string, string>>;
  readonly nanoseconds?: number;
  readonly error?: { readonly text: string };
}

async function startNative(): Promise<Native> {
  const oracleProblem = (await loadInternal(
    'allium',
    '../programs/conformance/benches/starlark/oracle.js',
    'oracleProblem',
  )) as () => string | null;
  const startOracle = (await loadInternal(
    'allium',
    '../programs/conformance/benches/starlark/oracle.js',
    'startOracle',
  )) as (root: string) => Promise<{
    ask(requests: readonly object[]): Promise<readonly NativeAnswer[]>;
    close(): Promise<void>;
  }>;
  const problem = oracleProblem();
  if (problem !== null) throw new Error(`the native interpreter cannot be built: ${problem}`);
  const oracle = await startOracle(fileURLToPath(new URL('../../', import.meta.resolve('allium'))));
  const ask = async ({ name, source }: Kernel, times: number): Promise<NativeAnswer> => {
    const [answer] = await oracle.ask([
      { id: name, file: `${name}.star`, source, call: 'run', times },
    ]);
    if (answer?.ok !== true) throw new Error(`${name}: ${answer?.error?.text ?? 'no answer'}`);
    return answer;
  };
  return {
    proof: async (kernel) =>
      Buffer.from((await ask(kernel, 1)).globals?.$value ?? '', 'latin1').toString('utf8'),
    time: async (kernel, times) => (await ask(kernel, times)).nanoseconds ?? Number.NaN,
    close: () => oracle.close(),
  };
}

const SCRIPT =
  'def run(name, times):\n    return {"greeting": "Hello, " + name, "total": len([i for i in range(times)])}\n';

interface Pool {
  run(request: object): Promise<{ readonly value: unknown }>;
  close(): Promise<void>;
}

async function measurePool(options: BenchOptions): Promise<readonly Measured[]> {
  const createScriptPool = await poolMaker();
  const wanted = [POOLED, COLD].filter((name) => options.matches({ group: POOL_GROUP, name }));
  if (createScriptPool === null || wanted.length === 0) return [];
  const pool = createScriptPool({ size: 1 });
  const request = { source: SCRIPT, file: 'greet.md', entry: { call: 'run', args: ['Ada', 20] } };
  assert.deepEqual((await pool.run(request)).value, { greeting: 'Hello, Ada', total: 20 });
  const cold = async (asked: object): Promise<unknown> => {
    const own = createScriptPool({ size: 1 });
    try {
      return await own.run(asked);
    } finally {
      await own.close();
    }
  };
  const cases = [
    {
      name: POOLED,
      group: POOL_GROUP,
      run: loopOver(distinct<(asked: object) => unknown>('(asked) => pool.run(asked)', { pool }), [
        request,
      ]),
    },
    { name: COLD, group: POOL_GROUP, run: loopOver(cold, [request]) },
  ];
  const measured = await measure(cases.filter(options.matches), {
    ...options,
    rounds: Math.min(options.rounds, 20),
  });
  await pool.close();
  return measured;
}

/** The maker of pools, or nothing where the package has none. */
async function poolMaker(): Promise<((options: { readonly size: number }) => Pool) | null> {
  try {
    return (await loadInternal(
      'allium',
      '../programs/src/artifacts/sandbox/script-pool.js',
      'createScriptPool',
    )) as (options: { readonly size: number }) => Pool; // Proved by its first run.
  } catch {
    return null;
  }
}
