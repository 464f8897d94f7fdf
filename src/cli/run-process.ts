/** The command line of this process: its streams, its signals and its exit code. */

import { failureCode } from './failure.ts';
import { type AddCommand, runCli } from './run-cli.ts';

/** Runs what the process was started with, and sets its exit code. Other commands than the real ones are for tests. */
export async function runProcess(commands?: readonly AddCommand[]): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const interrupted = new AbortController();
  // The first Ctrl-C asks; the second one is the system's own, which ends the process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(signal));
  // A reader that has seen enough (`| head`) is no error: the command ends as if it had been asked to.
  stdout.on('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EPIPE' ? interrupted.abort('EPIPE') : process.exit(1),
  );
  stderr.on('error', () => {});
  process.once('uncaughtException', (error) => process.exit(failureCode(error, { stderr, env })));

  const io = { stdin, stdout, stderr, env, cwd: process.cwd(), signal: interrupted.signal };
  process.exitCode = await runCli(process.argv.slice(2), io, commands);
}
