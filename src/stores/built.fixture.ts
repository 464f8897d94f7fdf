/** Modules as processes of their own can run them, without a build. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../..');
const OPTIONS = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, rewriteRelativeImportExtensions: true };

/** A module and all it reaches as JavaScript under `folder`; answers where it is. */
export function builtIn(folder: string, path: string): string {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  }
  const target = join(folder, path.replace(/\.ts$/, '.js'));
  if (existsSync(target)) return target;
  const { outputText } = ts.transpileModule(readFileSync(join(root, path), 'utf8'), { compilerOptions: OPTIONS });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, outputText);
  for (const [, to = ''] of outputText.matchAll(/from ["'](\.[^"']+)\.js["']/g)) builtIn(folder, join(dirname(path), `${to}.ts`));
  return target;
}

/** A program in a process of its own. `said` waits for its first words, and rejects when it ends without any. */
export function started(program: string, args: readonly string[] = []) {
  const child: ChildProcess = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
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
