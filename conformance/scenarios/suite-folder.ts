/** Where the bundled scenarios are. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the bundled suite. The files are not compiled, so they are two levels up from here or three, by where this module runs. */
export function suiteFolder(): string {
  const beside = join(import.meta.dirname, '../suite');
  return existsSync(beside) ? beside : join(import.meta.dirname, '../../../conformance/suite');
}
