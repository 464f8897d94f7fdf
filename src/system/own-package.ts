/**
 * Where this package is installed, and what it is. Its own name leads to it from the sources and
 * from what is built of them.
 */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

interface OwnPackage {
  readonly version: string;
  readonly bin: { readonly allium: string };
}

// A test reads the version through the command.
const ownPackage = (): OwnPackage => require('allium/package.json') as OwnPackage;

/** Which allium this is. */
export const ownVersion = (): string => ownPackage().version;

/** A file of this package, by its place in it. */
export const ownFile = (path: string): string =>
  join(dirname(require.resolve('allium/package.json')), path);

/** The file of the `allium` command. */
export const ownCommand = (): string => ownFile(ownPackage().bin.allium);
