/**
 * The command: runs benchmarks one after another and says whether they meet their goals. `--help`
 * has the rest.
 */

import {
  type BenchName,
  type BenchOptions,
  type CommandLine,
  HELP,
  readCommandLine,
} from './options.ts';
import { renderReport, type Report, verdictOn } from './report.ts';

/**
 * Loaded when asked for: what one benchmark compares with must not sit on the heap another one
 * weighs.
 */
const RUNNERS: Readonly<Record<BenchName, (options: BenchOptions) => Promise<Report>>> = {
  compose: async (options) => (await import('./compose.bench.ts')).composeBench(options),
  registry: async (options) => (await import('./registry.bench.ts')).registryBench(options),
  stack: async (options) => (await import('./stack.bench.ts')).stackBench(options),
  durable: async (options) => (await import('./durable.bench.ts')).durableBench(options),
  receipts: async (options) => (await import('./receipts.bench.ts')).receiptsBench(options),
  memory: async (options) => (await import('./memory.bench.ts')).memoryBench(options),
  proxy: async (options) => (await import('./proxy.bench.ts')).proxyBench(options),
  startup: async (options) => (await import('./startup.bench.ts')).startupBench(options),
  starlark: async (options) => (await import('./starlark.bench.ts')).starlarkBench(options),
};

const EXIT_MISSED = 1;
const EXIT_USAGE = 2;

async function main(): Promise<number> {
  const commandLine = readCommandLine(process.argv.slice(2));
  if ('usageError' in commandLine) {
    process.stderr.write(
      `${commandLine.usageError}\nnpm run bench -- --help shows what there is\n`,
    );
    return EXIT_USAGE;
  }
  if (commandLine.help) {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }
  return run(commandLine);
}

async function run(commandLine: CommandLine): Promise<number> {
  const reports: Report[] = [];
  for (const bench of commandLine.benches) {
    const report = await RUNNERS[bench](commandLine);
    reports.push(report);
    if (!commandLine.json) process.stdout.write(`\n${renderReport(report)}\n`);
  }
  if (commandLine.json)
    process.stdout.write(`${JSON.stringify({ node: process.version, reports }, null, 2)}\n`);
  const missed = reports.flatMap(({ goals }) => goals).some((goal) => verdictOn(goal) === false);
  return commandLine.check && missed ? EXIT_MISSED : 0;
}

process.exitCode = await main();
