/** Modules as processes of their own can run them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * What the build made of a source or a fixture. Whoever starts the tests sees to it that it is not
 * older.
 */
export const built = (path: string): string =>
  resolve(import.meta.dirname, '../../dist/programs', path.replace(/\.ts$/, '.js'));

/**
 * A program in a process of its own. `said` waits for its first words, and rejects when it ends
 * without any.
 */
export function started(program: string, args: readonly string[] = []) {
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  const ended = new Promise<string>((done) => child.on('close', () => done(output)));
  const said = new Promise<void>((done, fail) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      done();
    });
    void ended.then(() => fail(new Error('ended without a word')));
  });
  said.catch(() => {});
  return { child, said, ended };
}
