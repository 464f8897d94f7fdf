/** Modules as processes of their own can run them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../..');
const OPTIONS = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  rewriteRelativeImportExtensions: true,
};

const PROGRAMS = join(root, 'dist/programs');
const asJavaScript = (path: string): string => path.replace(/\.ts$/, '.js');

/** A module as JavaScript, where the build has it; a fixture, which it leaves out, under `folder`, on what the build has. */
export function builtIn(folder: string, path: string): string {
  const built = join(PROGRAMS, asJavaScript(path));
  if (existsSync(built)) return built;
  const target = join(folder, asJavaScript(path));
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  if (!existsSync(join(folder, 'node_modules')))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const { outputText } = ts.transpileModule(readFileSync(join(root, path), 'utf8'), {
    compilerOptions: OPTIONS,
  });
  const text = outputText.replace(/(?<=from ["'])\.[^"']+(?=\.js["'])/g, (to) =>
    builtIn(folder, join(dirname(path), `${to}.ts`)).slice(0, -'.js'.length),
  );
  writeFileSync(target, text);
  return target;
}

/** A program in a process of its own. `said` waits for its first words, and rejects when it ends without any. */
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
