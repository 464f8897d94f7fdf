/** A program that is run to its end. */

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/**
 * Its exit code, and what it wrote to standard output and standard error. No shell reads the words.
 */
export async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, output, errors };
}
