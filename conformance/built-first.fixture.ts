/**
 * Before any test: processes and threads of tests run what was built, which must not be older than
 * the sources.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const FOLDERS = ['src', 'middleware', 'conformance', 'examples'];

const sources = (): readonly string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    ),
  ).filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));

export type TimeOf = (path: string) => number | null;

/** When a file was last changed, or `null` where there is none. */
const changedAt: TimeOf = (path) =>
  statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? null;

/** Sources that the build has not seen, or that have changed since. */
export function unbuilt(paths: readonly string[], timeOf: TimeOf): readonly string[] {
  return paths.filter((path) => {
    const built = timeOf(join('dist/programs', path.replace(/\.ts$/, '.js')));
    return built === null || built < (timeOf(path) ?? 0);
  });
}

export default function setup(): void {
  const [first, ...others] = unbuilt(sources(), changedAt);
  if (first === undefined) return;
  process.stderr.write(`building: ${first} and ${others.length} others are newer than dist/\n`);
  const { status } = spawnSync('npm run --silent build:js', {
    cwd: root,
    shell: true,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the build failed, and tests would run what was built before');
}
