/** Projects in folders of their own, and files that are only text. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FoundFile } from './find-files.ts';
import { type FileContents, readArtifact } from './read-file.ts';

/** Writes the files into a new folder, which is gone after the test. */
export function projectWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-artifacts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const PATHS: Readonly<Record<FoundFile['role'], string>> = {
  tool: 'read_note.md',
  hook: 'guard.md',
  bundle: 'bundle.md',
  harness: 'harness.md',
};

/** What one file says. */
export const contentsOf = (
  role: FoundFile['role'],
  text: string | Buffer,
  lenient = false,
): FileContents =>
  readArtifact(
    typeof text === 'string' ? Buffer.from(text) : text,
    { path: PATHS[role], role },
    lenient,
  );

/** What is wrong with it: `line:column: message`. */
export const problemsIn = (
  role: FoundFile['role'],
  text: string | Buffer,
  lenient = false,
): readonly string[] =>
  contentsOf(role, text, lenient).problems.map(
    ({ line, column, message }) => `${line}:${column}: ${message}`,
  );

/** A file with these lines in its frontmatter: the first of them stands on line 2. */
export const fileOf = (...lines: readonly string[]): string =>
  ['---', ...lines, '---', '', 'What it does.', ''].join('\n');
