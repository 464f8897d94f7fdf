/** Which allium this is. */

import { createRequire } from 'node:module';

/** The package's own name leads to its package.json from the sources and from what is built of them. */
export function versionOf(): string {
  const { version } = createRequire(import.meta.url)('allium/package.json') as { readonly version: string };
  return version;
}
