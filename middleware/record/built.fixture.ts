/** Builds what child processes of tests run. Tests do not depend on `dist/`, which may be older than the sources. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../..');
const OPTIONS = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  rewriteRelativeImportExtensions: true,
};

/** A module and all it reaches, ready to run, and what takes it away again. */
export function built(path: string): { readonly program: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'allium-built-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const transpile = (source: string): string => {
    const target = join(folder, source.replace(/\.ts$/, '.js'));
    if (existsSync(target)) return target;
    const { outputText } = ts.transpileModule(readFileSync(join(root, source), 'utf8'), {
      compilerOptions: OPTIONS,
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
    for (const [, to = ''] of outputText.matchAll(/from ["'](\.[^"']+)\.js["']/g))
      transpile(join(dirname(source), `${to}.ts`));
    return target;
  };
  return { program: transpile(path), remove: () => rmSync(folder, { recursive: true }) };
}
