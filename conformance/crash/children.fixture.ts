/** Builds what child processes of tests run. Tests do not depend on `dist/`, which may be older than the sources. */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../..');
const FOLDERS = ['src/core', 'src/system', 'src/receipts', 'conformance/crash'];

/** The built `crash-writer.js` of the sources as they are, and what takes it away again. */
export function buildWriter(): { readonly writerFile: string; readonly remove: () => void } {
  const out = mkdtempSync(join(tmpdir(), 'allium-children-'));
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder)).map((file) => join(folder, file)),
  );
  for (const file of files.filter(
    (path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path),
  )) {
    const { outputText } = ts.transpileModule(readFileSync(join(root, file), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
      },
    });
    const target = join(out, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  writeFileSync(join(out, 'package.json'), '{"type":"module"}');
  symlinkSync(join(root, 'node_modules'), join(out, 'node_modules'));
  return {
    writerFile: join(out, 'conformance/crash/crash-writer.js'),
    remove: () => rmSync(out, { recursive: true }),
  };
}
