/**
 * The last step of the build: of all declarations that the compiler wrote, those stay that an entry
 * of the package leads to. The build fails where one of them names a package that is not installed
 * with this one.
 */

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const IMPORT = /(?:from|import\()\s*['"](\.[^'"]+)\.[jt]s['"]/g;

/** Every declaration that these lead to, themselves included. */
export function reachedFrom(
  entries: readonly string[],
  textOf: (file: string) => string,
): ReadonlySet<string> {
  const reached = new Set(entries);
  // What is added while a set is walked through is walked through as well.
  for (const file of reached)
    for (const [, path = ''] of textOf(file).matchAll(IMPORT))
      reached.add(`${join(dirname(file), path)}.d.ts`);
  return reached;
}

const PACKAGE = /(?:\bfrom|import\()\s*['"]((?:@[^/'"]+\/)?[^./'"@][^/'"]*)/g;

/** The packages that a declaration names, without Node's own modules. */
export const packagesIn = (text: string): readonly string[] =>
  [...text.matchAll(PACKAGE)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'));

const root = resolve(import.meta.dirname, '../../../../..');
if (process.argv[1] === import.meta.filename) {
  const { exports: doors, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as {
    readonly exports: Readonly<Record<string, { readonly types?: string }>>;
    readonly dependencies: object;
  };
  // The page of `allium/otel` says to install it.
  const installed = new Set([...Object.keys(dependencies), '@opentelemetry/sdk-trace-node']);
  const layers = readdirSync(join(root, 'middleware'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const entries = Object.values(doors).flatMap(({ types }) => {
    if (types === undefined) return [];
    return types.includes('*')
      ? layers.map(({ name }) => join(root, types.replaceAll('*', name)))
      : [join(root, types)];
  });
  const reached = reachedFrom(entries, (file) => readFileSync(file, 'utf8'));
  const written = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.d.ts'),
  );
  for (const file of written.map((path) => join(root, 'dist', path)))
    if (!reached.has(file)) rmSync(file);
  for (const file of reached)
    for (const name of packagesIn(readFileSync(file, 'utf8')))
      if (!installed.has(name)) throw new Error(`${file} names ${name}, which is not installed`);
}
