/** How this command was started, for configurations that start it again. */

import { extname, join } from 'node:path';
import type { Started } from '../proxy/client-config/index.ts';
import type { CliIo } from './io.ts';
import { versionOf } from './version.ts';

export const startedFrom = ({ env }: CliIo): Started => ({
  node: process.execPath,
  script: join(import.meta.dirname, `main${extname(import.meta.filename)}`),
  version: versionOf(),
  path: env.PATH,
});
