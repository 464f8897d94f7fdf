/** Runs the official conformance suite on a server and reads what it found. */

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * What became of a check: the suite tells several times of one that it makes several times, and
 * then the worst counts.
 */
export type CheckStatus = 'FAILURE' | 'WARNING' | 'SUCCESS' | 'SKIPPED' | 'INFO';

/** Scenario → check → status. */
export type SuiteReport = Readonly<Record<string, Readonly<Record<string, CheckStatus>>>>;

const WORST_FIRST: readonly CheckStatus[] = ['FAILURE', 'WARNING', 'SUCCESS', 'SKIPPED', 'INFO'];

/** Longer than the whole suite takes on a slow machine. */
const SUITE_MS = 180_000;

/** Every server scenario, or those that are named. */
export async function runOfficialSuite(
  url: string,
  scenarios?: readonly string[],
): Promise<SuiteReport> {
  const out = await mkdtemp(join(tmpdir(), 'mcp-suite-'));
  try {
    if (scenarios === undefined) await runSuite(['--suite', 'all', '--url', url, '-o', out]);
    for (const scenario of scenarios ?? [])
      await runSuite(['--scenario', scenario, '--url', url, '-o', out]);
    return await readReport(out);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/**
 * The suite fails as a process where a check failed. That is a finding, and is in the files that it
 * wrote.
 */
const runSuite = (args: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    const main = join(
      dirname(
        createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'),
      ),
      'dist/index.js',
    );
    execFile(
      process.execPath,
      [main, 'server', ...args],
      { timeout: SUITE_MS, maxBuffer: 64 * 1024 * 1024 },
      () => resolve(),
    );
  });

async function readReport(out: string): Promise<SuiteReport> {
  const report: Record<string, Record<string, CheckStatus>> = {};
  for (const folder of (await readdir(out)).sort()) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder) ?? [];
    if (scenario === undefined) continue;
    // The suite's own file: its shape is fixed by its version.
    const checks = JSON.parse(
      await readFile(join(out, folder, 'checks.json'), 'utf8'),
    ) as readonly { name: string; status: CheckStatus }[];
    const found: Record<string, CheckStatus> = {};
    for (const { name, status } of checks) {
      const before = found[name];
      if (before === undefined || WORST_FIRST.indexOf(status) < WORST_FIRST.indexOf(before))
        found[name] = status;
    }
    report[scenario] = found;
  }
  return report;
}

/**
 * A line for every scenario: what was found in each of the reports, and whether that is the same.
 */
export function compareReports(reports: Readonly<Record<string, SuiteReport>>): {
  readonly table: string;
  readonly differing: readonly string[];
} {
  const names = Object.keys(reports);
  const scenarios = [
    ...new Set(Object.values(reports).flatMap((report) => Object.keys(report))),
  ].sort();
  const shown = (report: SuiteReport | undefined, scenario: string): string =>
    Object.entries(report?.[scenario] ?? {})
      .sort()
      .map(([name, status]) => `${name}: ${status}`)
      .join(', ');
  const rows = scenarios.map((scenario) => {
    const found = names.map((name) => shown(reports[name], scenario));
    return { scenario, found, isSame: new Set(found).size === 1 };
  });
  const lines = rows.map(({ scenario, found, isSame }) =>
    isSame
      ? `= ${scenario}  ${found[0] ?? ''}`
      : `≠ ${scenario}\n${found.map((each, index) => `    ${names[index] ?? ''}  ${each}`).join('\n')}`,
  );
  return {
    table: lines.join('\n'),
    differing: rows.filter(({ isSame }) => !isSame).map(({ scenario }) => scenario),
  };
}
