/** `allium policy`: what there is to ask of policies. */

import { resolve } from 'node:path';
import { type AddCommand, type CliIo, UsageError, writeLine } from './io/io.ts';
import type {
  CaseResult,
  PolicyTestReport,
  Untested,
} from '../config/policy-tests/run-policy-tests.ts';
import { colourFor, paint } from './io/colour.ts';
import { lineOf } from './io/failure.ts';

const EXAMPLES = `
Examples:
  allium policy test policies/*.test.yaml
  allium policy test files.yaml --require-coverage
  allium policy test files.yaml --json | jq .untested

A file holds a policy and the cases it is held to:
  policy:
    policies:
      - rulesPolicy:
          rules:
            - { id: workspace, decision: allow, tool: 'fs_*', when: 'args.path.startsWith("/work/")' }
  cases:
    - { name: reads in the workspace, request: { tool: fs_read, args: { path: /work/a } }, expect: allow, code: workspace }
    - { name: says nothing elsewhere, request: { tool: fs_read, args: { path: /etc/passwd } }, expect: no_opinion }

Exit codes: 0 all cases passed, 1 some failed (or a rule is untested, with --require-coverage), 2 usage or a file that cannot be used.`;

/** Adds the command with its subcommand. */
export const addPolicy: AddCommand = (program, io, run) => {
  const group = program
    .command('policy')
    .description('hold policies to what they are meant to say')
    .helpCommand(false);
  group
    .command('test')
    .description(
      'ask a policy about cases, and say which come out otherwise and which rules no case is about',
    )
    .argument('<fixtures...>', 'YAML or JSON files with a policy and cases')
    .option('--require-coverage', 'a rule that decides no case is a finding')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', EXAMPLES)
    .action((files: readonly string[], flags: PolicyTestFlags) =>
      run(() => policyTest(files, flags, io)),
    );
};

/** As they come from the command line. */
interface PolicyTestFlags {
  readonly requireCoverage?: true;
  readonly json?: true;
}

interface FileReport extends PolicyTestReport {
  readonly file: string;
}

/**
 * Reads every file before the first case is asked: a mistake in the last one is not found behind a
 * page of results.
 */
async function policyTest(
  files: readonly string[],
  flags: PolicyTestFlags,
  io: CliIo,
): Promise<number> {
  const { readPolicyTests } = await import('../config/policy-tests/read-policy-tests.ts');
  const { runPolicyTests } = await import('../config/policy-tests/run-policy-tests.ts');
  const read = files.map((file) => ({
    file,
    tests: inFile(file, () => readPolicyTests(resolve(io.cwd, file), file)),
  }));
  const reports: FileReport[] = [];
  for (const { file, tests } of read)
    reports.push({ file, ...(await runPolicyTests(tests, io.signal)) });
  const failed = reports.flatMap(({ results }) => results).filter(({ ok }) => !ok).length;
  const untested = reports.flatMap((report) => report.untested);
  const isFine = failed === 0 && (flags.requireCoverage !== true || untested.length === 0);
  await (flags.json === true ? writeJson(reports, isFine, io) : writeText(reports, flags, io));
  return isFine ? 0 : 1;
}

/** A folder in the place of a file is a mistake in the call. */
function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOTFILE')
      throw new UsageError(`${file}: is no file`);
    throw thrown;
  }
}

async function writeJson(
  reports: readonly FileReport[],
  isFine: boolean,
  { stdout }: CliIo,
): Promise<void> {
  const results = reports.flatMap(({ file, results: each }) =>
    each.map((result) => ({ file, ...result })),
  );
  const untested = reports.flatMap(({ file, untested: each }) =>
    each.map((part) => ({ file, ...part })),
  );
  const passed = results.filter(({ ok }) => ok).length;
  const counts = { ok: isFine, total: results.length, passed, failed: results.length - passed };
  await writeLine(stdout, JSON.stringify({ ...counts, results, untested }, null, 2));
}

async function writeText(
  reports: readonly FileReport[],
  { requireCoverage }: PolicyTestFlags,
  io: CliIo,
): Promise<void> {
  const colour = colourFor(io.stdout, io.env);
  const write = (line: string) => writeLine(io.stdout, line);
  const wrong = (text: string) => paint(colour, 'red', text);
  for (const { file, results } of reports) {
    for (const result of results.filter(({ ok }) => !ok))
      for (const line of linesOf(file, result, wrong('✗'))) await write(line);
  }
  const mark = requireCoverage === true ? wrong('✗') : '·';
  for (const { file, untested } of reports)
    for (const part of untested)
      await write(`${mark} ${lineOf(`${file}: untested: ${nameOf(part)}`)}`);
  await write(totals(reports));
}

function linesOf(
  file: string,
  { name, expected, got }: CaseResult,
  mark: string,
): readonly string[] {
  const said = ({ verdict, code }: CaseResult['expected']): string =>
    code === undefined ? verdict : `${verdict} (${code})`;
  return [
    `${mark} ${lineOf(`${file}: ${name}`)}`,
    lineOf(`- expected ${said(expected)}`),
    lineOf(`+ got      ${said(got)}${got.by === undefined ? '' : ` from ${got.by}`}`),
    ...(got.reason === undefined ? [] : [lineOf(`reason: ${got.reason}`)]),
  ].map((line, index) => (index === 0 ? line : `    ${line}`));
}

const nameOf = ({ policy, rule }: Untested): string =>
  rule === undefined ? policy : `${policy} rule "${rule}"`;

function totals(reports: readonly FileReport[]): string {
  const results = reports.flatMap((report) => report.results);
  const failed = results.filter(({ ok }) => !ok).length;
  const parts = reports.reduce((sum, report) => sum + report.parts, 0);
  const untested = reports.reduce((sum, report) => sum + report.untested.length, 0);
  const cases = `${results.length} cases, ${results.length - failed} passed${failed === 0 ? '' : `, ${failed} failed`}`;
  return `${cases}; ${parts - untested} of ${parts} rules and policies tested`;
}
