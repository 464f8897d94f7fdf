/** Runs a part of the benchmark in a process of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Report } from './report.ts';

/**
 * Starts this program again with other arguments and takes the one report it writes. Its progress
 * goes where ours goes.
 */
export async function reportFromChild(
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<Report> {
  const [, program = ''] = process.argv;
  const child = spawn(process.execPath, [...nodeFlags, program, ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null]; // The event's documented first argument.
  if (code !== 0)
    throw new Error(
      `the benchmark process for "${args.join(' ')}" ended with code ${String(code)}`,
    );
  const { reports } = JSON.parse(output) as { reports: [Report] }; // Written by this very program.
  return reports[0];
}
